// The adjoint of rwkv4: its laws, keys of any size, sums over sequences, tensors of any layout.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/rwkv4_problem.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace {

using wane::index, wane::rwkv4;
using wane::testing::rwkv4_problem;

static_assert(wane::retreating_recurrence<rwkv4<float>, rwkv4<float>::gradients>);

TEST(Rwkv4Adjoint, KeepsItsLaws) {
  for (auto [batch, time, heads, columns] :
       {std::array<index, 4>{1, 40, 1, 1}, {2, 66, 2, 5}, {1, 1, 2, 3}, {1, 50, 3, 16}}) {
    rwkv4_problem<double> problem(batch, time, heads, columns);
    support::expect_to_hold(wane::testing::check_adjoint_laws(problem), "adjoint, ");
  }
}

// Gradients of large keys and of closed ones are finite, and those of a closed key are 0.
TEST(Rwkv4Adjoint, HasFiniteGradientsForKeysOfAnySize) {
  float const key[] = {-HUGE_VALF, 200, -200, -HUGE_VALF, 199, 0}, value[] = {1, 2, 3, 4, 5, 6},
              g = -0.5f, u = 1;
  rwkv4<float> const memory({.key = {key, 1, 6, 1, 1},
                             .value = {value, 1, 6, 1, 1},
                             .log_decay = {&g, 1, 1},
                             .bonus = {&u, 1, 1}});
  std::vector<float> dy(6, 1), dk(6, NAN), dv(6, NAN);
  wane::recurrent_state<float> by_final(memory), by_initial = by_final;
  by_final.values() = {1, 2, 3};
  float dg = NAN, du = NAN;
  wane::adjoint(memory, {dy.data(), 1, 6, 1, 1},
                {.key = {dk.data(), 1, 6, 1, 1},
                 .value = {dv.data(), 1, 6, 1, 1},
                 .log_decay = {&dg, 1, 1},
                 .bonus = {&du, 1, 1}},
                {.final_gradient = by_final, .initial_gradient = by_initial});
  for (auto const* all : {&dk, &dv})
    for (float each : *all) EXPECT_TRUE(std::isfinite(each));
  EXPECT_TRUE(std::isfinite(dg) && std::isfinite(du));
  EXPECT_EQ(dk[0], 0);
  EXPECT_EQ(dk[3], 0);
  for (float each : by_initial.values()) EXPECT_EQ(each, 0);
}
// Gradients in float over many tokens are those in double.
TEST(Rwkv4Adjoint, HasExactGradientsInFloat) {
  rwkv4_problem<float> p(1, 1000, 1, 19);
  rwkv4_problem<double> exact(1, 1000, 1, 19);
  auto const to = exact.inputs();
  for (std::size_t n = 0; n < to.size(); ++n) std::ranges::copy(p.inputs()[n], to[n].begin());
  std::vector<float> const dy = p.value.values;
  std::vector<double> const wide(dy.begin(), dy.end());
  wane::adjoint(p.make(0, 1000), {dy.data(), 1, 1000, 1, 19}, p.gradients());
  wane::adjoint(exact.make(0, 1000), {wide.data(), 1, 1000, 1, 19}, exact.gradients());
  for (std::size_t n = 0; n < to.size(); ++n) {
    support::nearness near;
    for (std::size_t i = 0; i < p.input_gradients()[n].size(); ++i)
      near.add(static_cast<double>(p.input_gradients()[n][i]), exact.input_gradients()[n][i]);
    EXPECT_LE(near.both(), 1e-6) << n;
  }
}

// Channels that lie apart give the same gradients.
TEST(Rwkv4Adjoint, TakesGradientsOfAnyLayout) {
  constexpr index T = 9, V = 35;
  rwkv4_problem<double> p(1, T, 1, V), q = p;
  for (auto [from, to] :
       {std::pair{&p.key.values, &q.key.values}, {&p.value.values, &q.value.values}})
    for (std::size_t i = 0; i < from->size(); ++i) (*to)[i % V * T + i / V] = (*from)[i];
  auto const turned = [](auto* x) {
    return wane::sequence_view<std::remove_pointer_t<decltype(x)>>(x, {1, T, 1, V}, {0, 1, 0, T});
  };
  rwkv4<double> const memory({.key = turned(std::as_const(q.key.values).data()),
                              .value = turned(std::as_const(q.value.values).data()),
                              .log_decay = {q.log_decay.values.data(), 1, V},
                              .bonus = {q.bonus.values.data(), 1, V}});
  std::vector<double> const dy(T * V, 1);
  auto to = q.gradients();
  to.key = turned(q.key.gradient.data()), to.value = turned(q.value.gradient.data());
  wane::adjoint(memory, wane::sequence_view<double const>(dy.data(), 1, T, 1, V), to);
  wane::adjoint(p.make(0, T), wane::sequence_view<double const>(dy.data(), 1, T, 1, V),
                p.gradients());
  support::nearness near;
  auto const compare = [&](auto const& is, auto const& should_be, auto const& place) {
    for (std::size_t i = 0; i < should_be.size(); ++i) near.add(is[place(i)], should_be[i]);
  };
  auto const same = [](std::size_t i) { return i; };
  auto const across = [](std::size_t i) { return i % V * T + i / V; };
  compare(q.log_decay.gradient, p.log_decay.gradient, same);
  compare(q.bonus.gradient, p.bonus.gradient, same);
  compare(q.key.gradient, p.key.gradient, across);
  compare(q.value.gradient, p.value.gradient, across);
  EXPECT_LE(near.both(), 1e-14);  // the compiler contracts products of numbers and of lanes apart
}
// Gradients of parameters are sums over packed sequences, one of which is empty.
TEST(Rwkv4Adjoint, SumsOverPackedSequences) {
  constexpr index T = 30, V = 17;
  rwkv4_problem<double> p(1, T, 2, V), q = p;
  std::vector<double> const dy(p.value.values.rbegin(), p.value.values.rend());
  wane::sequence_view<double const> const of_y(dy.data(), 1, T, 2, V);
  std::vector<index> const starts{0, 11, 11, T};
  for (wane::direction way : {wane::direction::forward, wane::direction::reverse}) {
    wane::adjoint(p.make(0, T), of_y, p.gradients(), {.packed = {starts}, .direction = way});
    std::vector<double> decay(2 * V), bonus(2 * V);
    for (std::size_t n = 0; n < 3; ++n) {
      index const begin = starts[n], end = starts[n + 1];
      wane::adjoint(q.make(begin, end), of_y.tokens(begin, end), q.gradients(begin, end),
                    {.direction = way});
      for (std::size_t i = 0; i < decay.size(); ++i)
        decay[i] += q.log_decay.gradient[i], bonus[i] += q.bonus.gradient[i];
    }
    EXPECT_EQ(p.key.gradient, q.key.gradient);
    EXPECT_EQ(p.value.gradient, q.value.gradient);
    EXPECT_EQ(p.log_decay.gradient, decay);
    EXPECT_EQ(p.bonus.gradient, bonus);
  }
}

}  // namespace
