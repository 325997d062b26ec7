// Runs over ranks of which one lacks memory: no rank waits for ever, and the next call is right.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/failing_calls.hpp"
#include "support/memory_problems.hpp"
#include "wane/ranks.hpp"
#include "wane/testing/problem.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

// Throws what the first rank threw that is not the news of another. The others must have ended well
// or have thrown that news, whatever lacks memory.
void throw_first(std::vector<std::exception_ptr> const& thrown) {
  std::exception_ptr news;
  for (auto const& each : thrown) try {
      if (each) std::rethrow_exception(each);
    } catch (rank_failure const&) {
      news = each;
    }
  if (news) std::rethrow_exception(news);
}

// Three ranks with 7 tokens each.
template <class P>
class over_ranks {
 public:
  using T = accumulate_type<operator_of<P>>;
  using outcome = result<T>;
  static constexpr int size = 3;

  over_ranks(P const& problem, exchange way)
      : pristine_(problem), way_(way), initial_(problem.make(0, 21)), to_(blank()) {
    std::mt19937_64 bits(3);
    impl::begin_states(problem, initial_, bits);
    output_gradient_ = random_numbers<T>(to_.output.size(), bits);
  }

  support::fallible_call run() {
    return {[&] { to_ = blank(); },
            [&] {
              throw_first(outcomes_on_ranks(size, [&](thread_rank const& ranks) {
                index const begin = 7 * ranks.rank();
                recurrent_state<T> own = std::as_const(initial_);
                run_options<T> options{.initial = std::as_const(initial_), .final = own};
                options.threads = 1;
                sharded_run(ranks, pristine_.make(begin, begin + 7),
                            to_.view().tokens(begin, begin + 7), options, {.exchange = way_});
                if (ranks.rank() == size - 1) to_.state = own;
              }));
            },
            [&] {
              return support::bytes_of(to_.output) + support::bytes_of(to_.state.values()) +
                     support::bytes_of(to_.state.positions());
            },
            [&] { return support::bytes_of(initial_.values()); }};
  }
  support::fallible_call adjoint() {
    return {[&] { parts_.assign(size, pristine_); },
            [&] {
              throw_first(outcomes_on_ranks(size, [&](thread_rank const& ranks) {
                index const begin = 7 * ranks.rank();
                P& part = parts_[static_cast<std::size_t>(ranks.rank())];
                auto dy = to_.view();
                dy.data = output_gradient_.data();
                adjoint_options<T> options{.initial = std::as_const(initial_)};
                options.threads = 1;
                sharded_adjoint(ranks, part.make(begin, begin + 7), dy.tokens(begin, begin + 7),
                                part.gradients(begin, begin + 7), options, {.exchange = way_});
              }));
            },
            [&] {
              std::string all;
              for (P& part : parts_)
                for (auto const& gradient : part.input_gradients())
                  all += support::bytes_of(gradient);
              return all;
            },
            [&] { return support::bytes_of(output_gradient_); }};
  }

 private:
  outcome blank() const {
    auto const op = pristine_.make(0, 21);
    return {output_shape_of(op), recurrent_state<T>(op)};
  }

  P const pristine_;
  exchange way_;
  recurrent_state<T> initial_;
  outcome to_;
  std::vector<T> output_gradient_;
  std::vector<P> parts_;
};

template <class P>
void expect_ranks_to_survive(P const& problem, exchange way) {
  over_ranks<P> calls(problem, way);
  EXPECT_GT(support::expect_to_survive_failures(calls.run()).requests, 10);
  EXPECT_GT(support::expect_to_survive_failures(calls.adjoint()).requests, 10);
}

TEST(RanksWithoutMemory, HandOnStates) {
  expect_ranks_to_survive(gla_problem<float>({1, 21, 2, 3, 4}), exchange::states);
}
TEST(RanksWithoutMemory, HandOnEffects) {
  expect_ranks_to_survive(gla_problem<float>({1, 21, 2, 3, 4}), exchange::effects);
}

}  // namespace
}  // namespace wane::testing
