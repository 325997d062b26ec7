// Gradients that ranks find from their first tokens: those of the whole, NaN and shared memory.
// SPDX-License-Identifier: MIT
#include "wane/ranks/early_gradients.hpp"

#include <gtest/gtest.h>

#include "support/memory_problems.hpp"
#include "wane/ranks.hpp"
#include "wane/testing/problem.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

constexpr index tokens = 3000, ranks_used = 3;

// gla whose states fade within 70 tokens, and the gradients by its outputs.
struct fading_problem : gla_problem<float> {
  std::vector<float> dy = std::vector<float>(tokens * 2 * 5);
  fading_problem() : gla_problem<float>({1, tokens, 2, 4, 5}) {
    std::ranges::fill(this->gate.values.values, -1.f);
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = std::sin(static_cast<float>(i));
  }
  sequence_view<float const> gradient_of_outputs(index begin, index end) const {
    return sequence_view<float const>(dy.data(), 1, tokens, 2, 5).tokens(begin, end);
  }
};

struct gradients_found {
  std::vector<float> inputs;
  recurrent_state<float> initial;
};
gradients_found whole(fading_problem p, recurrent_state<float> const& by_final) {
  gradients_found to{{}, recurrent_state<float>(1, 2, 4, 5)};
  adjoint(p.make(0, tokens), p.gradient_of_outputs(0, tokens), p.gradients(0, tokens),
          adjoint_options<float>{.final_gradient = by_final, .initial_gradient = to.initial});
  for (auto g : p.input_gradients()) to.inputs.insert(to.inputs.end(), g.begin(), g.end());
  return to;
}
// shared: the gradient by the final states lies where that by the initial states goes.
gradients_found over_ranks(fading_problem p, recurrent_state<float> const& by_final, bool shared) {
  gradients_found to{{}, recurrent_state<float>(1, 2, 4, 5)};
  on_ranks(ranks_used, [&](thread_rank const& ranks) {
    index const begin = ranks.rank() * 1000, end = begin + 1000;
    auto const op = p.make(begin, end);
    recurrent_state<float> start(op), after = by_final, before(op);
    std::vector<float> y(1000 * 2 * 5);
    sharding<float> const shard{.start = start};
    sharded_run(ranks, op, {y.data(), 1, 1000, 2, 5}, run_options<float>{}, shard);
    adjoint_options<float> options{.final_gradient = after, .initial_gradient = before};
    if (shared) options.initial_gradient = after;
    sharded_adjoint(ranks, op, p.gradient_of_outputs(begin, end), p.gradients(begin, end), options,
                    shard);
    if (ranks.rank() == 0) to.initial = shared ? after : before;
  });
  for (auto g : p.input_gradients()) to.inputs.insert(to.inputs.end(), g.begin(), g.end());
  return to;
}
void expect_near(std::vector<float> const& is, std::vector<float> const& must_be) {
  ASSERT_EQ(is.size(), must_be.size());
  distance apart;
  apart.see(is, must_be);
  EXPECT_LE(apart.relative(), 1e-6);
}

TEST(GradientsFoundEarly, AreThoseOfAllTokens) {
  fading_problem const p;
  auto const op = p.make(0, 1000);
  recurrent_state<float> initial(op), after(op), before(op);
  std::ranges::fill(after.values(), 1.f);
  wane::impl::shard_link const link{0, 0, 1};
  adjoint_options<float> const options{.initial = initial, .final_gradient = after};
  auto const dy = p.gradient_of_outputs(0, 1000);
  wane::impl::early_gradients<gla<float>, float, float> found(op, dy, options, link, 1);
  ASSERT_TRUE(found({.sequences = 1, .heads = 2, .columns = 5}));
  adjoint(op, dy, gla<float>::gradients{},
          adjoint_options<float>{
              .initial = initial, .final_gradient = after, .initial_gradient = before});
  EXPECT_TRUE(found.hold(state_view<float>(before).values));
  before.values()[3] += 1e-4f;
  EXPECT_FALSE(found.hold(state_view<float>(before).values));

  fading_problem slow;
  std::ranges::fill(slow.gate.values.values, -.1f);
  wane::impl::early_gradients<gla<float>, float, float> none(slow.make(0, 1000), dy, options, link,
                                                             1);
  EXPECT_FALSE(none({.sequences = 1, .heads = 2, .columns = 5}));
}

TEST(GradientsFoundEarly, AreThoseOfTheWhole) {
  fading_problem const p;
  recurrent_state<float> by_final(1, 2, 4, 5);
  std::ranges::fill(by_final.values(), 2.f);
  gradients_found const must_be = whole(p, by_final);
  for (bool shared : {false, true}) {
    gradients_found const is = over_ranks(p, by_final, shared);
    expect_near(is.inputs, must_be.inputs);
    expect_near({is.initial.values().begin(), is.initial.values().end()},
                {must_be.initial.values().begin(), must_be.initial.values().end()});
  }
}

// What 2^-100 cannot forget is seen afterwards, and all ranks go back again in their order.
TEST(GradientsFoundEarly, DoNotForgetNaN) {
  fading_problem const p;
  recurrent_state<float> by_final(1, 2, 4, 5);
  by_final.values()[7] = NAN;
  gradients_found const must_be = whole(p, by_final);
  for (bool shared : {false, true}) {
    gradients_found const is = over_ranks(p, by_final, shared);
    index count = 0;
    for (std::size_t i = 0; i < is.inputs.size(); ++i) {
      count += std::isnan(must_be.inputs[i]);
      ASSERT_EQ(std::isnan(is.inputs[i]), std::isnan(must_be.inputs[i])) << i;
    }
    EXPECT_GT(count, tokens);
    EXPECT_TRUE(std::isnan(is.initial.values()[7]));
  }
}

}  // namespace
}  // namespace wane::testing
