// The lattice of recurrences, and the terms that are found in a token.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/recurrence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <utility>

#include "support/user_operators.hpp"
#include "wane/core/numbers/storage.hpp"
#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/recurrence/terms.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/linear_recurrence.hpp"

namespace {

using wane::decay_as;
using linear = wane::linear_recurrence<decay_as::log, float>;
using factors = wane::linear_recurrence<decay_as::factor, wane::bfloat16>;
using bank = wane::exponential_bank<double>;
using oscillators = wane::exponential_bank<std::complex<float>>;
using support::erases;
using support::forgets;
using delta = support::keyed_memory<double, forgets::by_head, erases::yes>;
using attention = support::keyed_memory<double, forgets::never, erases::no>;

static_assert(wane::channelwise<linear> && wane::channelwise<factors>);
static_assert(wane::scannable<linear> && !wane::time_invariant<linear>);
static_assert(wane::time_invariant<bank> && wane::time_invariant<oscillators>);
static_assert(!wane::channelwise<bank>);
static_assert(wane::affine_recurrence<delta> && !wane::scannable<delta>);
static_assert(wane::scannable<attention> && !wane::time_invariant<attention>);
static_assert(wane::stepwise_recurrence<support::tanh_cell>);
static_assert(!wane::affine_recurrence<support::tanh_cell>);
static_assert(!wane::diagonal_recurrence<int> && !wane::has_shape<int>);

static_assert(wane::reads_lanes<linear> && wane::reads_lanes<factors> && wane::reads_lanes<bank>);
static_assert(!wane::reads_lanes<oscillators> && !wane::reads_lanes<attention>);

static_assert(std::is_same_v<wane::accumulate_type<factors>, float>);
static_assert(std::is_same_v<wane::accumulate_type<bank>, double>);
static_assert(std::is_same_v<wane::accumulate_type<oscillators>, std::complex<float>>);
static_assert(std::is_same_v<wane::accumulate_type<delta>, double>);

static_assert(wane::decays_in_logs<wane::token_of<linear>>);
static_assert(!wane::decays_in_logs<wane::token_of<factors>>);
static_assert(wane::has_log_decay<wane::token_of<delta>>);
static_assert(!wane::has_row_log_decay<wane::token_of<delta>>);
static_assert(!wane::decays_in_logs<wane::token_of<attention>>);

TEST(Shape, OfAnOperatorIsThatOfItsTensors) {
  std::vector<double> x(2 * 3 * 4 * 5);
  wane::sequence_view<double const> const values(x.data(), 2, 3, 4, 5);
  wane::view<double const, 2> const node(x.data(), 4, 7);
  EXPECT_EQ(bank({.value = values, .log_decay = node, .key = node, .query = node}).shape(),
            (wane::recurrence_shape{2, 3, 4, 7, 5}));
  EXPECT_EQ(
      (wane::linear_recurrence<decay_as::log, double>({.decay = values, .drive = values}).shape()),
      (wane::recurrence_shape{2, 3, 4, 1, 5}));
}

TEST(OnlyFades, IsAskedOfTheRowsOfEachHeadAndOfNoOthers) {
  double const values[2 * 3 * 2] = {}, growth = 0.1;
  double log_decays[] = {-1, 0, -59.9, -2, -3, -4, growth};  // [2 heads, 3 rows], and one behind
  auto const fades_over = [&](wane::index tokens) {
    wane::view<double const, 2> const node(log_decays, 2, 3);
    return wane::only_fades(
        bank({.value = {values, 2, tokens, 2, 1}, .log_decay = node, .key = node, .query = node}));
  };
  EXPECT_TRUE(fades_over(3));
  EXPECT_FALSE(fades_over(0));
  for (int row = 0; row < 6; ++row)
    for (double other : {growth, -60., -HUGE_VAL, double(NAN)}) {
      double const before = std::exchange(log_decays[row], other);
      EXPECT_FALSE(fades_over(3)) << row << " " << other;
      log_decays[row] = before;
    }
}

}  // namespace
