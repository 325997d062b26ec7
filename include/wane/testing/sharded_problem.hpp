// sharded_problem: a problem cut over ranks, behind virtual functions, for sharded laws.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/ranks/adjoint.hpp"
#include "wane/testing/problem.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {

// What these laws need of a problem for adjoints: gradients(begin, end), the sink of the tokens
// begin <= t < end. A problem is copied for every rank.
template <class P>
concept sharded_differentiable_problem = differentiable_problem<P> && std::copyable<P> &&
    requires(P& p, index t) {
  p.gradients(t, t);
};

}  // namespace wane::testing

namespace wane::testing::impl {

// What the laws call, behind virtual functions, so that they are compiled once for each type of
// numbers: T of states, Y of outputs, Input of inputs.
template <class T, class Y, class Input>
class sharded_problem {
 public:
  virtual ~sharded_problem() = default;
  virtual recurrence_shape shape() const = 0;
  virtual recurrence_shape output_shape() const = 0;
  virtual void begin(recurrent_state<T>& states, std::mt19937_64& bits) const = 0;
  virtual void run(index begin, index end, sequence_view<Y> output,
                   run_options<T> const& options) const = 0;
  virtual void sharded_run(thread_rank const& ranks, index begin, index end,
                           sequence_view<Y> output, run_options<T> const& options,
                           sharding<T> const& shard) const = 0;
  virtual bool has_effects() const = 0;
  virtual bool has_adjoint() const = 0;
  // These add the gradients by all inputs to `sums`.
  virtual void adjoint(sequence_view<Y> dy, adjoint_options<T> const& options,
                       std::vector<Input>& sums) const = 0;
  virtual void sharded_adjoint(thread_rank const& ranks, index begin, index end,
                               sequence_view<Y> dy, adjoint_options<T> const& options,
                               sharding<T> const& shard, std::vector<Input>& sums) const = 0;
};

template <class P>
struct input_type_of {
  using type = accumulate_type<operator_of<P>>;
};
template <sharded_differentiable_problem P>
struct input_type_of<P> {
  using type = input_of<P>;
};

template <problem P>
class sharded_problem_of final
    : public sharded_problem<accumulate_type<operator_of<P>>, output_type<operator_of<P>>,
                             typename input_type_of<P>::type> {
 public:
  using Op = operator_of<P>;
  using T = accumulate_type<Op>;
  using Y = output_type<Op>;
  using Input = typename input_type_of<P>::type;
  static constexpr bool differentiable = sharded_differentiable_problem<P>;

  explicit sharded_problem_of(P const& p) : problem_(p) {}

  recurrence_shape shape() const override { return all().shape(); }
  recurrence_shape output_shape() const override { return output_shape_of(all()); }
  void begin(recurrent_state<T>& states, std::mt19937_64& bits) const override {
    begin_states(problem_, states, bits);
  }
  void run(index begin, index end, sequence_view<Y> output,
           run_options<T> const& options) const override {
    wane::run(problem_.make(begin, end), output, options);
  }
  void sharded_run(thread_rank const& ranks, index begin, index end, sequence_view<Y> output,
                   run_options<T> const& options, sharding<T> const& shard) const override {
    wane::sharded_run(ranks, problem_.make(begin, end), output, options, shard);
  }
  bool has_effects() const override { return wane::impl::has_effects<Op, T>; }
  bool has_adjoint() const override { return differentiable; }
  void adjoint(sequence_view<Y> dy, adjoint_options<T> const& options,
               std::vector<Input>& sums) const override {
    into_copy(0, problem_.time(), sums,
              [&](Op const& op, auto const& to) { wane::adjoint(op, dy, to, options); });
  }
  void sharded_adjoint(thread_rank const& ranks, index begin, index end, sequence_view<Y> dy,
                       adjoint_options<T> const& options, sharding<T> const& shard,
                       std::vector<Input>& sums) const override {
    into_copy(begin, end, sums, [&](Op const& op, auto const& to) {
      wane::sharded_adjoint(ranks, op, dy, to, options, shard);
    });
  }

 private:
  Op all() const { return problem_.make(0, problem_.time()); }
  // Calls find(op, gradients) on a copy of the problem, and adds the gradients found.
  template <class Find>
  void into_copy([[maybe_unused]] index begin, [[maybe_unused]] index end,
                 [[maybe_unused]] std::vector<Input>& sums,
                 [[maybe_unused]] Find const& find) const {
    if constexpr (differentiable) {
      P copy = problem_;
      for (auto gradient : copy.input_gradients())
        std::fill(gradient.begin(), gradient.end(), Input(0));
      auto const to = copy.gradients(begin, end);
      find(copy.make(begin, end), to);
      std::size_t next = 0;
      for (auto gradient : copy.input_gradients())
        for (Input const& g : gradient) {
          if (next == sums.size()) sums.push_back(Input(0));
          sums[next++] += g;
        }
    }
  }

  P const& problem_;
};

}  // namespace wane::testing::impl
