// delta_product is S <- diag(e^g) S, n times S <- S + beta k (v - k^T S)^T, then y = scale S^T q.
// SPDX-License-Identifier: MIT
#include "wane/operators/delta_product.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/memory_laws.hpp"
#include "support/naive_memories.hpp"
#include "support/nearness.hpp"
#include "support/substep_problems.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"

namespace {

using support::index;
using wane::delta_product;

static_assert(wane::has_substeps<delta_product<float>>);

// One head of one sequence in double, written from the paper.
template <int Steps, class Problem>
std::vector<double> naive(Problem& p, bool fades) {
  auto const K = static_cast<std::size_t>(p.size.rows),
             V = static_cast<std::size_t>(p.size.columns);
  support::naive_state<double> s{K, V};
  std::vector<double> all;
  auto const row = [](auto const& x, index t) {
    support::numbers<double> found;
    for (index i = 0; i < x.extent[3]; ++i) found.push_back(static_cast<double>(x(0, t, 0, i)));
    return found;
  };
  for (index t = 0; t < p.size.time; ++t) {
    if (fades) s.fade(support::numbers<double>(K, row(p.gate.values.view(), t)[0]));
    for (index j = t * Steps; j < (t + 1) * Steps; ++j) {
      auto const k = row(p.step_key.input.view(), j);
      s.write(support::times(row(p.strength.view(), j)[0], k),
              support::difference(row(p.step_value.view(), j), s.read(k)));
    }
    for (double y : s.read(support::times(1 / std::sqrt(double(K)), row(p.query.input.view(), t))))
      all.push_back(y);
  }
  return all;
}

template <class T, int Steps, class Gate>
void expect_formula() {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {5, 7}, {17, 8}, {64, 33}}) {
    wane::testing::delta_product_problem<T, Steps, Gate> p({1, 41, 1, rows, columns});
    auto const exact = naive<Steps>(p, !std::is_same_v<Gate, wane::no_gate>);
    std::vector<T> y(exact.size());
    wane::run(p.make(0, 41), {y.data(), 1, 41, 1, columns});
    support::nearness near;
    for (std::size_t i = 0; i < y.size(); ++i) near.add(static_cast<double>(y[i]), exact[i]);
    EXPECT_LE(near.both(), sizeof(T) == 4 ? 1e-6 : 1e-14) << rows << " x " << columns;
  }
}
TEST(DeltaProduct, IsItsFormula) {
  expect_formula<float, 2, wane::no_gate>();
  expect_formula<float, 3, wane::token_view<float const>>();
  expect_formula<double, 2, wane::token_view<double const>>();
}

// Of one substep a token it is delta_net, to the bit.
TEST(DeltaProduct, OfOneSubstepIsDeltaNet) {
  wane::testing::delta_product_problem<float, 1> p({2, 30, 2, 5, 7});
  std::vector<float> y(2 * 30 * 2 * 7), other = y;
  wane::run(p.make(0, 30), {y.data(), 2, 30, 2, 7});
  wane::run(wane::delta_net<float>({.query = p.query.part(0, 30),
                                    .key = p.step_key.part(0, 30),
                                    .value = p.step_value.view(),
                                    .strength = p.by_token(p.strength, 0, 30)}),
            {other.data(), 2, 30, 2, 7});
  EXPECT_EQ(y, other);
}

template <class T>
using two_steps = wane::testing::delta_product_problem<T, 2>;
template <class T>
using three_gated_steps = wane::testing::delta_product_problem<T, 3, wane::sequence_view<T const>>;
TEST(DeltaProductLaws, Hold) {
  support::expect_memory_laws<two_steps>();
  support::expect_memory_laws<three_gated_steps>();
}
TEST(DeltaProductLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<two_steps>();
  support::expect_memory_adjoint_laws<three_gated_steps>();
}

TEST(DeltaProduct, HasItsValuesChecked) {
  wane::testing::delta_product_problem<float, 2> p({1, 6, 1, 3, 5});
  wane::check_values(p.make(0, 6));
  p.step_value.values[5 * 7] = NAN;
  support::expect_error({"value at batch 0, time 7"}, [&] { wane::check_values(p.make(0, 6)); });
}

TEST(DeltaProduct, RefusesKeysThatAreNoMultipleOfTokens) {
  std::vector<float> x(100);
  support::expect_error({"key has time 5; it must be a multiple of that of query, 2"}, [&] {
    delta_product<float>({.query = {x.data(), 1, 2, 1, 3},
                          .key = {x.data(), 1, 5, 1, 3},
                          .value = {x.data(), 1, 5, 1, 4},
                          .strength = {x.data(), 1, 5, 1}});
  });
}

TEST(DeltaProduct, RefusesTokensWithoutSteps) {
  std::vector<float> x(100);
  support::expect_error({"key has time 0; it must be a multiple of that of query, 2"}, [&] {
    delta_product<float>({.query = {x.data(), 1, 2, 1, 3},
                          .key = {x.data(), 1, 0, 1, 3},
                          .value = {x.data(), 1, 0, 1, 4},
                          .strength = {x.data(), 1, 0, 1}});
  });
}

// A swap of two things is a reflection, one step of strength 2 along e_a - e_b. With two steps a
// letter is any product of two swaps, which one step is not: it has two eigenvalues that are not 1.
// So the state follows every word of such letters: those of S3 have all its permutations.
template <int N, int Steps>
void expect_words() {
  constexpr index T = 200;
  std::vector<double> key(T * Steps * N), value(T * Steps * N), strength(T * Steps), query(T * N),
      y(T * N);
  std::vector<int> place(N);
  for (int i = 0; i < N; ++i) place[static_cast<std::size_t>(i)] = i;
  std::mt19937_64 bits(1);
  std::vector<double> places;
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t j = Steps * t; j < Steps * (t + 1); ++j) {
      int const a = static_cast<int>(bits() % N), b = static_cast<int>(bits() % N);
      if (a == b) continue;  // no swap
      key[j * N + static_cast<std::size_t>(a)] = std::sqrt(0.5);
      key[j * N + static_cast<std::size_t>(b)] = -std::sqrt(0.5);
      strength[j] = 2;
      for (int& p : place) p = p == a ? b : p == b ? a : p;
    }
    places.insert(places.end(), place.begin(), place.end());
    for (std::size_t i = 0; i < N; ++i) query[t * N + i] = static_cast<double>(i);
  }
  delta_product<double> const words({.query = {query.data(), 1, T, 1, N},
                                     .key = {key.data(), 1, Steps * T, 1, N},
                                     .value = {value.data(), 1, Steps * T, 1, N},
                                     .strength = {strength.data(), 1, Steps * T, 1}},
                                    {.scale = 1});
  wane::recurrent_state<double> state(words);
  for (std::size_t i = 0; i < N; ++i) state.values()[(N + 1) * i] = 1;  // each in its place
  wane::run(words, {y.data(), 1, T, 1, N}, wane::run_options<double>{.initial = state});
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], places[i], 1e-12);
}
TEST(DeltaProduct, FollowsWordsOfSwaps) {
  expect_words<2, 1>();  // parity
  expect_words<2, 2>();
  expect_words<3, 2>();
  expect_words<5, 2>();
}

}  // namespace
