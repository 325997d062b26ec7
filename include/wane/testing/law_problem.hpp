// law_problem: a problem behind virtual functions, so that the laws are compiled once.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "wane/run/effects.hpp"
#include "wane/run/run.hpp"
#include "wane/testing/compare.hpp"
#include "wane/testing/problem.hpp"

namespace wane::testing {

// The runner the laws are about, unless another is named; one is called as wane::run is, and says
// whether it takes run_options::lengths.
struct cpu_runner {
  static constexpr bool takes_lengths = true;
  template <class Op, class Out, class State>
  void operator()(Op const& op, sequence_view<Out> output,
                  run_options<State> const& options) const {
    run(op, output, options);
  }
};

}  // namespace wane::testing

namespace wane::testing::impl {

// Calls over the tokens [begin, end) of a problem; T is the type of states, Y of outputs.
template <class T, class Y>
class law_problem {
 public:
  virtual ~law_problem() = default;

  virtual index time() const = 0;
  // The shapes of the state and of the outputs of all tokens.
  virtual recurrence_shape shape() const = 0;
  virtual recurrence_shape output_shape() const = 0;
  virtual bool takes_lengths() const = 0;
  virtual bool has_effects() const = 0;
  // Makes the states that runs begin with.
  virtual void begin(recurrent_state<T>& states, std::mt19937_64& bits) const = 0;
  virtual void run(index begin, index end, sequence_view<Y> output,
                   run_options<T> const& options) const = 0;
  virtual void run_in_order(sequence_view<Y> output, run_options<T> const& options) const = 0;
  virtual void step(index begin, index end, sequence_view<Y> output, state_view<T> state) const = 0;
  // The states after the effects of all tokens on `before`; for problems that have effects.
  virtual void apply_effects(recurrent_state<T> const& before, std::span<T> after) const = 0;
};

template <problem P, class Runner>
class law_problem_of final
    : public law_problem<accumulate_type<operator_of<P>>, output_type<operator_of<P>>> {
 public:
  using Op = operator_of<P>;
  using T = accumulate_type<Op>;
  using Y = output_type<Op>;

  law_problem_of(P const& p, Runner const& runner) : problem_(p), run_(runner) {}

  index time() const override { return problem_.time(); }
  recurrence_shape shape() const override { return all().shape(); }
  recurrence_shape output_shape() const override { return output_shape_of(all()); }
  bool takes_lengths() const override { return Runner::takes_lengths; }
  bool has_effects() const override { return scannable<Op>; }
  void begin(recurrent_state<T>& states, std::mt19937_64& bits) const override {
    begin_states(problem_, states, bits);
  }
  void run(index begin, index end, sequence_view<Y> output,
           run_options<T> const& options) const override {
    run_(problem_.make(begin, end), output, options);
  }
  void run_in_order(sequence_view<Y> output, run_options<T> const& options) const override {
    wane::impl::run_in_order(all(), output, options);
  }
  void step(index begin, index end, sequence_view<Y> output, state_view<T> state) const override {
    wane::step(problem_.make(begin, end), output, state);
  }
  void apply_effects([[maybe_unused]] recurrent_state<T> const& before,
                     [[maybe_unused]] std::span<T> after) const override {
    if constexpr (scannable<Op>) {
      recurrence_shape const s = shape();
      std::vector<segment_effect<Op>> found(after.size());
      wane::effects(all(), {found.data(), s.batch, s.heads, s.rows, s.columns},
                    before.positions().data());
      for (std::size_t i = 0; i < found.size(); ++i)
        after[i] = wane::apply(found[i], before.values()[i]);
    }
  }

 private:
  Op all() const { return problem_.make(0, problem_.time()); }

  P const& problem_;
  Runner run_;
};

}  // namespace wane::testing::impl
