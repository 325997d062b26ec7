// Micro-chunks backward: every form and size equals the adjoint of one token after the other.
// SPDX-License-Identifier: MIT
#include "wane/run/panels/adjoint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/affine_gradients.hpp"
#include "support/strictly_causal.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"

namespace {

using support::apart;
using support::arrangement;
using support::erases;
using support::forgets;
using support::index;
using support::memory;
using support::tensor;
using wane::direction;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float reset = -std::numeric_limits<float>::infinity();

constexpr auto as_it_is = [](auto const& op) { return op; };
constexpr auto reads_first = [](auto const& op) { return support::strictly(op); };
constexpr auto reads_old = [](auto const& op) { return support::reads_old(op); };

template <forgets Decay, erases Erase, class Made = decltype(as_it_is)>
void expect_every_size(Made const& made = {}) {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {3, 2}, {16, 16}, {17, 33}, {64, 65}})
    for (index time : {1, 3, 4, 5, 70, 130}) {
      memory<float> const m(2, time, 3, rows, columns);
      memory<double> const exact(2, time, 3, rows, columns);
      EXPECT_LE(apart(made(m.keyed<Decay, Erase>()), made(exact.keyed<Decay, Erase>())), 2e-6)
          << rows << " x " << columns << ", " << time << " tokens";
    }
}

TEST(AffineAdjoint, MemoriesThatDoNotErase) {
  expect_every_size<forgets::never, erases::no>();
  expect_every_size<forgets::by_head, erases::no>();
  expect_every_size<forgets::by_row, erases::no>();
}
TEST(AffineAdjoint, MemoriesThatErase) {
  expect_every_size<forgets::never, erases::yes>();
  expect_every_size<forgets::by_head, erases::yes>();
  expect_every_size<forgets::by_row, erases::yes>();
}

TEST(AffineAdjoint, TokensThatReadBeforeTheyWrite) {
  expect_every_size<forgets::never, erases::no>(reads_first);
  expect_every_size<forgets::by_head, erases::yes>(reads_first);
  expect_every_size<forgets::by_row, erases::no>(reads_first);
}
TEST(AffineAdjoint, TokensThatReadBeforeTheirDecay) {
  expect_every_size<forgets::by_head, erases::yes>(reads_old);
  expect_every_size<forgets::by_row, erases::no>(reads_old);
}

// The delta rule with a direct term and plain factors, among them negative ones, zero and one.
struct corrects {
  static constexpr double factors[] = {1, 0.5, 0, -0.75, 1 - 1e-7, 0.93};
  memory<double> const& m;
  wane::recurrence_shape shape() const { return {m.batch, m.time, m.heads, m.rows, m.columns}; }
  struct token {
    memory<double> const& m;
    wane::place<> where;
    double decay(index i) const { return factors[(i + where.time) % 6]; }
    double key(index i) const { return m.key.view().read(where, i); }
    double query(index i) const { return m.query.view().read(where, i); }
    double erase_read(index i) const { return m.read.view().read(where, i); }
    double value(index j) const { return m.value.view().read(where, j); }
    double direct() const { return 0.3; }
  };
  token at(wane::place<> where) const { return {m, where}; }
};
TEST(AffineAdjoint, PlainFactorsUnderTheDeltaRule) {
  memory<double> const m(1, 50, 2, 21, 10);
  EXPECT_LE(apart(corrects{m}, corrects{m}), 1e-14);
}

TEST(AffineAdjoint, BackwardInTimeAndPacked) {
  memory<float> const m(1, 150, 3, 9, 20);
  memory<double> const exact(1, 150, 3, 9, 20);
  auto const op = m.keyed<forgets::by_row, erases::yes>();
  auto const op_exact = exact.keyed<forgets::by_row, erases::yes>();
  std::vector<index> const starts{0, 0, 1, 5, 80, 150};
  EXPECT_LE(apart(op, op_exact, {.way = direction::reverse}), 2e-6);
  EXPECT_LE(apart(op, op_exact, {.starts = starts}), 2e-6);
  EXPECT_LE(apart(op, op_exact, {.way = direction::reverse, .starts = starts}), 2e-6);
}

// Log decays go from -205 to 0, and some rows are reset while others are not.
TEST(AffineAdjoint, StrongDecaysAndResets) {
  memory<float> m(1, 67, 2, 18, 33);
  memory<double> exact(1, 67, 2, 18, 33);
  auto const log_decay = [](index, index t, index, index i) {
    float const logs[] = {0, -1e-9f, -205, -87, reset, -20, -0.5f};
    return logs[(3 * t + i) % 7];
  };
  m.decay.fill(log_decay), exact.decay.fill(log_decay);
  EXPECT_LE(
      apart(m.keyed<forgets::by_row, erases::no>(), exact.keyed<forgets::by_row, erases::no>()),
      2e-6);
  EXPECT_LE(
      apart(m.keyed<forgets::by_row, erases::yes>(), exact.keyed<forgets::by_row, erases::yes>()),
      2e-6);
}

// A NaN or infinity in the state, a value or a key before a reset, or in a gradient after it,
// reaches the same gradients as in the adjoint token by token.
template <class Make>
void expect_resets(Make const& make) {
  for (index at : {1, 6, 7, 8, 65, 68})
    for (index bad : {0, 1, 6, 7, 8, 64, 66, 69}) {
      memory<double> m(1, 70, 1, 20, 36);
      m.decay.fill([&](index, index t, index, index) { return t == at ? reset : -0.1f; });
      EXPECT_LE(apart(make(m), make(m), {.output = nan, .final = HUGE_VALF, .bad_token = bad}),
                1e-14)
          << at << ' ' << bad;
      if (bad > at) {
        memory<double> asked(1, 70, 1, 20, 36);
        asked.decay.fill([&](index, index t, index, index) { return t == at ? reset : -0.1f; });
        asked.query(0, bad, 0, 3) = nan;
        EXPECT_LE(apart(make(asked), make(asked)), 1e-14) << at << ' ' << bad;
      }
      if (bad >= at) continue;
      m.key(0, bad, 0, 3) = nan;
      m.value(0, bad, 0, 7) = HUGE_VALF;
      EXPECT_LE(apart(make(m), make(m), {.initial = nan}), 1e-14) << at << ' ' << bad;
    }
}
TEST(AffineAdjoint, WhatIsNoNumberPassesNoReset) {
  expect_resets([](memory<double> const& m) { return m.keyed<forgets::by_head, erases::no>(); });
  expect_resets([](memory<double> const& m) { return m.keyed<forgets::by_row, erases::yes>(); });
  expect_resets(
      [](memory<double> const& m) { return wane::gated_delta_net(m.delta_in(), m.gate()); });
}

// Tensors of any strides, in lanes or not, and any number of threads.
TEST(AffineAdjoint, SameBitsForAnyThreadsAndNearForAnyStrides) {
  auto const gradients = [](arrangement how, int threads) {
    memory<float> const m(1, 70, 5, 19, 37, how);
    wane::gla const op(m.in(), m.decay.view());
    tensor<float> dy(1, 70, 5, 37, how), value(1, 70, 5, 37, how);
    tensor<float> key(1, 70, 5, 19, how), query(1, 70, 5, 19, how), decay(1, 70, 5, 19, how);
    support::random_values random(3);
    dy.fill([&](auto...) { return static_cast<float>(random.uniform(-1, 1)); });
    wane::adjoint(op, dy.view(), {.query = query, .key = key, .value = value, .log_decay = decay},
                  wane::adjoint_options<float>{.threads = threads});
    EXPECT_TRUE(value.margins_untouched() && key.margins_untouched() && query.margins_untouched() &&
                decay.margins_untouched());
    std::vector<float> all;
    for (auto const* x : {&value, &key, &query, &decay})
      x->for_each([&](index b, index t, index h, index i) { all.push_back((*x)(b, t, h, i)); });
    return all;
  };
  auto const plain = gradients(arrangement::plain, 1);
  for (int threads : {2, 3, 8}) EXPECT_EQ(gradients(arrangement::plain, threads), plain);
  for (arrangement how : support::all_arrangements) {
    auto const other = gradients(how, 2);
    support::nearness near;
    for (std::size_t n = 0; n < plain.size(); ++n) near.add(other[n], plain[n]);
    EXPECT_LE(near.both(), 1e-6);
  }
}

}  // namespace
