// Micro-chunks and panels: every form and size of an affine recurrence equals the plain order.
// SPDX-License-Identifier: MIT
#include "wane/run/panels/run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/affine_memory.hpp"
#include "support/nearness.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/run.hpp"

namespace {

using support::arrangement;
using support::erases;
using support::forgets;
using support::index;
using support::memory;
using support::tensor;
using wane::direction;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float reset = -std::numeric_limits<float>::infinity();

// The same memory in float and in double.
struct memories {
  memory<float> single;
  memory<double> exact;

  template <class... Sizes>
  explicit memories(Sizes... sizes) : single(sizes...), exact(sizes...) {}
};

// The distance of outputs and states by panels from those of `exact` token by token.
template <class Op, class Exact>
double error_of_run(Op const& op, Exact const& exact, direction way = direction::forward,
                    std::vector<index> const& starts = {}) {
  using T = wane::accumulate_type<Op>;
  wane::recurrence_shape const s = op.shape();
  tensor<T> fast(s.batch, s.time, s.heads, s.columns);
  tensor<double> plain(s.batch, s.time, s.heads, s.columns);
  wane::packed_sequences const packed{starts};
  index const sequences = wane::impl::sequences_of(s, packed);
  wane::recurrent_state<T> initial(op, sequences), final = initial;
  wane::recurrent_state<double> initial_exact(exact, sequences), final_exact = initial_exact;
  support::random_values random(3);
  for (std::size_t i = 0; i < initial.values().size(); ++i) {
    auto const x = static_cast<float>(random.uniform(-1, 1));
    initial.values()[i] = x, initial_exact.values()[i] = x;
  }
  wane::sequence_view<T> const y = fast.view();
  wane::sequence_view<double> const y_exact = plain.view();
  wane::impl::run_panels(
      op, y,
      wane::run_options<T>{.initial = initial, .final = final, .packed = packed, .direction = way});
  wane::impl::run_in_order(
      exact, y_exact,
      wane::run_options<double>{
          .initial = initial_exact, .final = final_exact, .packed = packed, .direction = way});
  support::nearness near;
  fast.for_each([&](index b, index t, index h, index j) {
    near.add(static_cast<double>(fast(b, t, h, j)), plain(b, t, h, j));
  });
  for (std::size_t i = 0; i < final.values().size(); ++i)
    near.add(static_cast<double>(final.values()[i]), final_exact.values()[i]);
  EXPECT_TRUE(fast.margins_untouched());
  return near.both();
}
// The same for an operator made from either memory.
template <class Make>
double error_of_run(memories const& m, Make const& make, direction way = direction::forward,
                    std::vector<index> const& starts = {}) {
  return error_of_run(make(m.single), make(m.exact), way, starts);
}

template <forgets Decay, erases Erase>
constexpr auto keyed = [](auto const& m) { return m.template keyed<Decay, Erase>(); };
constexpr auto gla = [](auto const& m) { return wane::gla(m.in(), m.decay.view()); };
constexpr auto gated_delta_net = [](auto const& m) {
  return wane::gated_delta_net(m.delta_in(), m.gate());
};
constexpr auto rwkv7 = [](auto const& m) {
  return wane::rwkv7(
      {.query = m.query, .key = m.key, .value = m.value, .removal = m.read, .rate = m.write},
      m.decay.view());
};

// Sums over some tens of rows err by some roundings.
template <class T>
constexpr double bound = sizeof(T) == 4 ? 1e-6 : 2e-15;

template <forgets Decay, erases Erase>
void expect_every_size() {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {3, 2}, {16, 16}, {17, 33}, {64, 65}})
    for (index time : {1, 3, 4, 5, 33, 70}) {
      memories const m(2, time, 3, rows, columns);
      EXPECT_LE(error_of_run(m, keyed<Decay, Erase>), bound<float>)
          << rows << " x " << columns << ", " << time << " tokens";
    }
}

TEST(Affine, MemoriesThatDoNotErase) {
  expect_every_size<forgets::never, erases::no>();
  expect_every_size<forgets::by_head, erases::no>();
  expect_every_size<forgets::by_row, erases::no>();
}
TEST(Affine, MemoriesThatErase) {
  expect_every_size<forgets::never, erases::yes>();
  expect_every_size<forgets::by_head, erases::yes>();
  expect_every_size<forgets::by_row, erases::yes>();
}
TEST(Affine, InDouble) {
  memory<double> const m(2, 70, 2, 17, 33);
  auto const op = m.keyed<forgets::by_row, erases::yes>();
  EXPECT_LE(error_of_run(op, op), bound<double>);
}

// Operators whose rows are read in lanes, in tensors of any strides.
TEST(Affine, RowsInLanes) {
  for (arrangement how : support::all_arrangements)
    for (index rows : {7, 16, 37}) {
      memories const m(1, 41, 2, rows, 35, how);
      EXPECT_LE(error_of_run(m, gla), bound<float>);
      EXPECT_LE(error_of_run(m, gated_delta_net), bound<float>);
      EXPECT_LE(error_of_run(m, rwkv7), bound<float>);
    }
}

// Each column of each head is in one share. No thread has more than its part and one piece of a
// head.
TEST(Affine, SharesHeadsEvenlyAmongThreads) {
  constexpr index columns = 64, strip = 8;
  for (index heads : {8, 9, 11, 13, 20})
    for (int threads : {1, 2, 3, 5, 8}) {
      std::vector<index> had(static_cast<std::size_t>(heads * columns)),
          busy(static_cast<std::size_t>(threads));
      wane::impl::panel_shares const shares({0, 1, 0, heads, 0, columns}, threads, strip);
      for (index n = 0; n < shares.count(); ++n) {
        auto const share = shares[n];
        for (index h = share.head; h < share.head + share.heads; ++h)
          for (index j = share.first; j < share.last; ++j)
            ++had[static_cast<std::size_t>(h * columns + j)];
        // The share goes to the thread that is free first.
        *std::min_element(busy.begin(), busy.end()) += share.heads * (share.last - share.first);
      }
      EXPECT_EQ(std::count(had.begin(), had.end(), 1), heads * columns);
      index const most = *std::max_element(busy.begin(), busy.end());
      index const piece = (columns / threads + strip - 1) / strip * strip;
      EXPECT_LE(most, heads * columns / threads + piece) << heads << " heads, " << threads;
    }
}

TEST(Affine, BackwardInTimeAndPacked) {
  std::vector<index> const starts{0, 0, 1, 5, 38, 70};
  memories const m(1, 70, 3, 9, 20);
  constexpr auto make = keyed<forgets::by_row, erases::yes>;
  EXPECT_LE(error_of_run(m, make, direction::reverse), bound<float>);
  EXPECT_LE(error_of_run(m, make, direction::forward, starts), bound<float>);
  EXPECT_LE(error_of_run(m, make, direction::reverse, starts), bound<float>);
}

// Plain factors, among them negative ones, zero and one.
struct plain_factors {
  static constexpr double factors[] = {1, 0.5, 0, -0.75, 1 - 1e-7, 0.93};
  memory<double> const& m;
  wane::recurrence_shape shape() const { return {m.batch, m.time, m.heads, m.rows, m.columns}; }
  struct token {
    memory<double> const& m;
    wane::place<> where;
    double decay(index i) const { return factors[(i + where.time) % 6]; }
    double key(index i) const { return m.key.view().read(where, i); }
    double query(index i) const { return m.query.view().read(where, i); }
    double value(index j) const { return m.value.view().read(where, j); }
  };
  token at(wane::place<> where) const { return {m, where}; }
};
TEST(Affine, PlainFactors) {
  memory<double> const m(1, 50, 2, 21, 10);
  EXPECT_LE(error_of_run(plain_factors{m}, plain_factors{m}), bound<double>);
}

// Log decays go from -205 to 0, and some rows are reset while others are not.
TEST(Affine, StrongDecaysAndResets) {
  memories m(1, 67, 2, 18, 33);
  auto const log_decay = [](index, index t, index, index i) {
    float const logs[] = {0, -1e-9f, -205, -87, reset, -20, -0.5f};
    return logs[(3 * t + i) % 7];
  };
  m.single.decay.fill(log_decay), m.exact.decay.fill(log_decay);
  EXPECT_LE(error_of_run(m, gla), bound<float>);
  EXPECT_LE(error_of_run(m, gated_delta_net), bound<float>);
  EXPECT_LE(error_of_run(m, keyed<forgets::by_row, erases::yes>), bound<float>);
}

// A NaN in the state or a key, or an infinite value, does not pass a reset.
TEST(Affine, NothingPassesAReset) {
  for (index bad : {0, 1, 2, 3, 4, 17})
    for (index at : {5, 6, 7, 8, 18}) {
      if (bad >= at) continue;
      memory<float> m(1, 24, 1, 20, 40);
      m.decay.fill([&](index, index t, index, index) { return t == at ? reset : -0.1f; });
      m.key(0, bad, 0, 3) = nan;
      m.value(0, bad, 0, 7) = HUGE_VALF;
      wane::gla const op(m.in(), m.decay.view());
      tensor<float> y(1, 24, 1, 40);
      wane::recurrent_state<float> initial(op), final(op);
      initial.values()[5] = nan;
      wane::run(op, y.view(), wane::run_options<float>{.initial = initial, .final = final});
      y.for_each([&](index, index t, index, index j) {
        if (t >= bad) {
          EXPECT_EQ(std::isfinite(y(0, t, 0, j)), t >= at) << bad << ' ' << at << ' ' << t;
        }
      });
      for (float s : final.values()) EXPECT_TRUE(std::isfinite(s));
    }
}

// A NaN does not reach earlier tokens.
TEST(Affine, NanReachesNoEarlierToken) {
  memory<float> m(1, 12, 1, 20, 40);
  m.key(0, 6, 0, 3) = nan;
  tensor<float> y(1, 12, 1, 40);
  wane::run(m.keyed<forgets::by_row, erases::yes>(), y.view());
  y.for_each(
      [&](index, index t, index, index j) { EXPECT_EQ(std::isfinite(y(0, t, 0, j)), t < 6) << t; });
}

// A NaN in one row of a key reaches no other row of the state, also if tokens do not fill a chunk.
TEST(Affine, NanOfAKeyStaysInItsRow) {
  for (index time : {1, 6, 8}) {
    memory<float> m(1, time, 1, 20, 40);
    m.key(0, time - 1, 0, 3) = nan;
    auto const expect_row = [&](auto const& op) {
      tensor<float> y(1, time, 1, 40);
      wane::recurrent_state<float> final(op);
      wane::run(op, y.view(), wane::run_options<float>{.final = final});
      for (std::size_t i = 0; i < final.values().size(); ++i)
        ASSERT_EQ(std::isnan(final.values()[i]), i / 40 == 3) << time << " tokens, row " << i / 40;
    };
    expect_row(m.keyed<forgets::by_row, erases::no>());
    expect_row(m.keyed<forgets::by_row, erases::yes>());
  }
}

// Threads share the columns of a single head without changing a bit.
TEST(Affine, ThreadsShareColumns) {
  memory<float> const m(1, 50, 1, 16, 150);
  auto const op = m.keyed<forgets::by_row, erases::yes>();
  tensor<float> one(1, 50, 1, 150), many(1, 50, 1, 150);
  wane::run(op, one.view(), wane::run_options<float>{.threads = 1});
  for (int threads : {2, 3, 8}) {
    wane::run(op, many.view(), wane::run_options<float>{.threads = threads});
    one.for_each([&](index b, index t, index h, index j) {
      ASSERT_EQ(one(b, t, h, j), many(b, t, h, j)) << threads << " threads";
    });
  }
}

}  // namespace
