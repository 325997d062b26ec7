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

TEST(DeltaProduct, RefusesKeysThatAreNoMultipleOfTokens) {
  std::vector<float> x(100);
  support::expect_error({"key has time 5; it must be a multiple of that of query, 2"}, [&] {
    delta_product<float>({.query = {x.data(), 1, 2, 1, 3},
                          .key = {x.data(), 1, 5, 1, 3},
                          .value = {x.data(), 1, 5, 1, 4},
                          .strength = {x.data(), 1, 5, 1}});
  });
}

// Two steps with strengths of 2 make a rotation, one a reflection alone: a permutation of three
// things is a product of two reflections of the plane, so the state follows every word of the
// group S3 to the bit of its rounding, and that of parity as a reflection.
TEST(DeltaProduct, FollowsWordsOfTheSymmetricGroup) {
  constexpr index T = 200;
  // A swap of axes a and b is a reflection along (e_a - e_b) / sqrt 2, beta = 2. A cycle of three
  // is two swaps; the third kind of letter does nothing.
  std::vector<double> key(T * 2 * 3), value(T * 2 * 3), strength(T * 2), query(T * 3), y(T * 3);
  std::vector<int> place{0, 1, 2};
  std::mt19937_64 bits(1);
  std::vector<std::vector<int>> places;
  double const r = std::sqrt(0.5);
  for (index t = 0; t < T; ++t) {
    for (index j = 2 * t; j < 2 * t + 2; ++j) {
      auto const letter = bits() % 4;  // no swap, or one of three
      if (letter == 0) continue;
      auto const a = letter - 1, b = letter % 3;
      auto const at = static_cast<std::size_t>(j);
      key[at * 3 + a] = r, key[at * 3 + b] = -r, strength[at] = 2;
      for (int& p : place) p = p == int(a) ? int(b) : p == int(b) ? int(a) : p;
    }
    places.push_back(place);
    for (index i = 0; i < 3; ++i) query[static_cast<std::size_t>(t * 3 + i)] = double(i);
  }
  delta_product<double> const words({.query = {query.data(), 1, T, 1, 3},
                                     .key = {key.data(), 1, 2 * T, 1, 3},
                                     .value = {value.data(), 1, 2 * T, 1, 3},
                                     .strength = {strength.data(), 1, 2 * T, 1}},
                                    {.scale = 1});
  wane::recurrent_state<double> state(words);
  for (int i : {0, 1, 2}) state.values()[static_cast<std::size_t>(4 * i)] = 1;  // each in its place
  wane::run(words, {y.data(), 1, T, 1, 3}, wane::run_options<double>{.initial = state});
  for (index t = 0; t < T; ++t)
    for (index j = 0; j < 3; ++j)
      EXPECT_NEAR(y[static_cast<std::size_t>(t * 3 + j)],
                  places[static_cast<std::size_t>(t)][static_cast<std::size_t>(j)], 1e-12);
}

}  // namespace
