// mesa_net is S and H <- e^g S + beta k (v, k)^T, then y = S^T (H + diag(lambda))^-1 scale q.
// SPDX-License-Identifier: MIT
#include "wane/operators/mesa_net.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/golden.hpp"
#include "support/memory_laws.hpp"
#include "support/mesa_problem.hpp"
#include "support/naive_memories.hpp"
#include "support/tensor.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index, support::numbers;
using wane::mesa_net;

static_assert(wane::led_memory<mesa_net<float>>);

// Gaussian elimination with pivots, of A x = b.
numbers<double> solved(numbers<double> a, numbers<double> b) {
  std::size_t const n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[best * n + j]);
    std::swap(b[k], b[best]);
    for (std::size_t i = k + 1; i < n; ++i) {
      double const f = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
  return b;
}

template <class T>
void expect_formula(index rows, index columns, index time) {
  wane::testing::mesa_problem<T> p({1, time, 1, rows, columns});
  auto const K = static_cast<std::size_t>(rows), V = static_cast<std::size_t>(columns);
  support::naive_state<double> s{K, V}, h{K, K};
  std::vector<T> y(static_cast<std::size_t>(time * columns));
  wane::run(p.make(0, time), {y.data(), 1, time, 1, columns});
  support::nearness near;
  auto const row = [](auto const& x, index t) {
    numbers<double> found;
    for (index i = 0; i < x.extent[3]; ++i) found.push_back(static_cast<double>(x(0, t, 0, i)));
    return found;
  };
  for (index t = 0; t < time; ++t) {
    double const g = row(p.gate.values.view(), t)[0], beta = row(p.strength.view(), t)[0];
    auto const k = row(p.key.input.view(), t);
    s.fade(numbers<double>(K, g)), h.fade(numbers<double>(K, g));
    s.write(support::times(beta, k), row(p.value.view(), t)), h.write(support::times(beta, k), k);
    auto a = h.s;
    for (std::size_t i = 0; i < K; ++i) a[i * K + i] += static_cast<double>(p.lambda.values[i]);
    auto const exact = s.read(solved(a, row(p.query.input.view(), t)));
    for (std::size_t j = 0; j < V; ++j)
      near.add(static_cast<double>(y[static_cast<std::size_t>(t) * V + j]), exact[j]);
  }
  EXPECT_LE(near.both(), sizeof(T) == 4 ? 1e-6 : 1e-14) << rows << " x " << columns;
}
TEST(MesaNet, IsItsFormula) {
  for (auto [rows, columns] :
       {std::pair<index, index>{1, 1}, {5, 7}, {17, 8}, {64, 33}, {130, 3}}) {
    expect_formula<float>(rows, columns, 41);
    expect_formula<double>(rows, columns, 41);
  }
}

TEST(MesaNetLaws, Hold) { support::expect_memory_laws<wane::testing::mesa_problem>(); }
TEST(MesaNetLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<wane::testing::mesa_problem>();
}

// flash-linear-attention solves in float, too; its states are S and H of the token before.
TEST(MesaNet, EqualsFlashLinearAttention) {
  constexpr index T = 17, H = 2, K = 5, V = 5;
  auto const in = support::read_golden("inputs.csv"),
             more = support::read_golden("family_inputs.csv"),
             out = support::read_golden("family_outputs.csv");
  mesa_net<float> const memory({.query = {in.at("query").data(), 1, T, H, K},
                                .key = {in.at("key").data(), 1, T, H, K},
                                .value = {more.at("mesa_value").data(), 1, T, H, V},
                                .strength = {in.at("strength").data(), 1, T, H},
                                .lambda = {more.at("mesa_lambda").data(), H, K}},
                               wane::token_view<float const>(in.at("head_decay").data(), 1, T, H));
  wane::recurrent_state<float> state(memory);
  auto const part = [&](wane::state_view<float> const& of, std::vector<float>& values, bool load) {
    for (index h = 0, n = 0; h < H; ++h)
      for (index i = 0; i < K; ++i)
        for (index j = 0; j < K; ++j, ++n) {
          float& x = values[static_cast<std::size_t>(n)];
          (load ? of.values(0, h, i, j) : x) = load ? x : of.values(0, h, i, j);
        }
  };
  wane::state_view<float> const all(state);
  auto kv = more.at("mesa_initial_kv"), kk = more.at("mesa_initial_kk");
  part(memory.state_of_first(all), kv, true), part(memory.state_of_second(all), kk, true);
  std::vector<float> y(T * H * V);
  wane::run(memory, {y.data(), 1, T, H, V}, {.initial = state, .final = state});
  part(memory.state_of_first(all), kv, false), part(memory.state_of_second(all), kk, false);
  support::expect_near_golden(y, out.at("mesa_exact"));
  support::expect_near_golden(kv, out.at("mesa_exact kv"));
  auto should_be = out.at("mesa_exact kk");
  for (std::size_t n = 0; n < should_be.size(); ++n)  // the upper triangle
    if (n / K % K > n % K) should_be[n] = 0;
  support::expect_near_golden(kk, should_be);
}

TEST(MesaNet, RefusesALambdaThatIsNotPositive) {
  wane::testing::mesa_problem<float> p({1, 4, 2, 3, 5});
  std::vector<float> y(4 * 2 * 5);
  p.lambda.values[4] = 0;
  support::expect_error({"lambda of head 1 and row 1 is 0; it must be positive and finite"}, [&] {
    wane::run(p.make(0, 4), {y.data(), 1, 4, 2, 5});
  });
}

}  // namespace
