// preconditioned_delta_net is S <- D S + beta (M o k) (v - k^T D S)^T with M of A, y = scale S^T q.
// SPDX-License-Identifier: MIT
#include "wane/operators/preconditioned_delta_net.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/golden.hpp"
#include "support/memory_laws.hpp"
#include "support/naive_memories.hpp"
#include "support/preconditioned_problem.hpp"
#include "support/tensor.hpp"
#include "wane/run/check_values.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index, support::numbers;
using wane::preconditioned_delta_net;

static_assert(wane::led_memory<preconditioned_delta_net<float>>);

template <class T, class Gate>
void expect_formula(index rows, index columns) {
  index const time = 60;
  wane::testing::preconditioned_problem<T, Gate> p({1, time, 1, rows, columns});
  auto const K = static_cast<std::size_t>(rows), V = static_cast<std::size_t>(columns);
  support::naive_state<double> s{K, V}, a{K, 1};
  std::vector<T> y(static_cast<std::size_t>(time) * V);
  wane::run(p.make(0, time), {y.data(), 1, time, 1, columns});
  support::nearness near;
  auto const row = [](auto const& x, index t) {
    numbers<double> found;
    for (index i = 0; i < x.extent[3]; ++i) found.push_back(static_cast<double>(x(0, t, 0, i)));
    return found;
  };
  for (index t = 0; t < time; ++t) {
    auto const k = row(p.key.input.view(), t);
    a.fade(numbers<double>(K, row(p.curvature_log_decay.values.view(), t)[0]));
    a.write(support::product(k, k), {row(p.curvature_strength.view(), t)[0]});
    auto write = support::times(row(p.strength.view(), t)[0], k);
    for (std::size_t i = 0; i < K; ++i) {
      double const r = std::log(a.s[i] + 0.01) + 0.2;
      write[i] *= std::pow(1.5, -r / (1 + std::abs(r)));
    }
    auto g = row(p.gate.values.view(), t);
    if (g.size() == 1) g.assign(K, g[0]);
    s.fade(g);
    s.write(write, support::difference(row(p.value.view(), t), s.read(k)));
    auto const exact =
        s.read(support::times(1 / std::sqrt(double(K)), row(p.query.input.view(), t)));
    for (std::size_t j = 0; j < V; ++j)
      near.add(static_cast<double>(y[static_cast<std::size_t>(t) * V + j]), exact[j]);
  }
  EXPECT_LE(near.both(), sizeof(T) == 4 ? 1e-6 : 1e-14) << rows << " x " << columns;
}
TEST(PreconditionedDeltaNet, IsItsFormula) {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {5, 7}, {17, 8}, {64, 33}}) {
    expect_formula<float, wane::token_view<float const>>(rows, columns);
    expect_formula<double, wane::sequence_view<double const>>(rows, columns);
  }
}

template <class T>
using of_heads = wane::testing::preconditioned_problem<T>;
template <class T>
using of_rows = wane::testing::preconditioned_problem<T, wane::sequence_view<T const>>;
TEST(PreconditionedDeltaNetLaws, Hold) { support::expect_memory_laws<of_heads>(); }
TEST(PreconditionedDeltaNetLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<of_heads>();
  support::expect_memory_adjoint_laws<of_rows>();
}

// flash-linear-attention normalises without an epsilon.
TEST(PreconditionedDeltaNet, EqualsFlashLinearAttention) {
  constexpr index T = 17, H = 2, K = 5, V = 4;
  auto const in = support::read_golden("inputs.csv"),
             more = support::read_golden("family_inputs.csv"),
             out = support::read_golden("family_outputs.csv");
  auto const numbers_of = [&](float const* x) { return wane::token_view<float const>(x, 1, T, H); };
  preconditioned_delta_net<float> const memory(
      {.query = {in.at("query").data(), 1, T, H, K},
       .key = {in.at("key").data(), 1, T, H, K},
       .value = {in.at("value").data(), 1, T, H, V},
       .strength = numbers_of(in.at("strength").data()),
       .curvature_strength = numbers_of(more.at("precond_strength").data()),
       .curvature_log_decay = numbers_of(more.at("precond_decay").data())},
      numbers_of(in.at("head_decay").data()), {.keys = {.normalise = true, .epsilon = 0}});
  wane::recurrent_state<float> state(memory);
  wane::state_view<float> const all(state);
  auto const S = memory.state_of_first(all).values, A = memory.state_of_second(all).values;
  std::size_t n = 0, m = 0;
  for (index h = 0; h < H; ++h)
    for (index i = 0; i < K; ++i) {
      for (index j = 0; j < V; ++j) S(0, h, i, j) = in.at("initial")[n++];
      A(0, h, 0, i) = more.at("precond_initial")[m++];
    }
  std::vector<float> y(T * H * V), last, curvature;
  wane::run(memory, {y.data(), 1, T, H, V}, {.initial = state, .final = state});
  for (index h = 0; h < H; ++h)
    for (index i = 0; i < K; ++i) {
      for (index j = 0; j < V; ++j) last.push_back(S(0, h, i, j));
      curvature.push_back(A(0, h, 0, i));
    }
  support::expect_near_golden(y, out.at("precond_gated_delta_rule"));
  support::expect_near_golden(last, out.at("precond_gated_delta_rule state"));
  support::expect_near_golden(curvature, out.at("precond_gated_delta_rule A"));
}

TEST(PreconditionedDeltaNet, HasItsValuesChecked) {
  wane::testing::preconditioned_problem<float> p({1, 4, 2, 3, 5});
  p.curvature_log_decay.values.values[0] = -HUGE_VALF;
  wane::check_values(p.make(0, 4));
  p.curvature_log_decay.values.values[1] = 1;
  support::expect_error({"curvature_log_decay at batch 0, time 0, head 1"},
                        [&] { wane::check_values(p.make(0, 4)); });
}

TEST(PreconditionedDeltaNet, RefusesOptionsOutOfRange) {
  wane::testing::preconditioned_problem<float> p({1, 4, 2, 3, 5});
  auto const with = [&](wane::preconditioned_options const& options) {
    auto const in = p.in(0, 4);
    return preconditioned_delta_net<float>(
        {.query = in.query,
         .key = in.key,
         .value = in.value,
         .strength = p.by_token(p.strength, 0, 4),
         .curvature_strength = p.by_token(p.curvature_strength, 0, 4),
         .curvature_log_decay = p.curvature_log_decay.part(0, 4)},
        p.gate.part(0, 4), options);
  };
  support::expect_error({"most is 0.5; it must be 1 or more"}, [&] { with({.most = 0.5}); });
  support::expect_error({"epsilon is 0; it must be 1e-30 or more"}, [&] { with({.epsilon = 0}); });
}

}  // namespace
