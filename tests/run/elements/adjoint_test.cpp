// Strips backward: every form, size and layout equals the adjoint of one token after the other.
// SPDX-License-Identifier: MIT
#include "wane/run/elements/adjoint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/element_memory.hpp"
#include "support/nearness.hpp"
#include "support/strictly_causal.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using support::arrangement;
using support::element_gradients;
using support::element_inputs;
using support::element_memory;
using support::fades;
using support::index;
using support::receives_elements;
using support::tensor;
using wane::direction;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct arranged {
  direction way = direction::forward;
  std::vector<index> starts = {};
  arrangement how = arrangement::plain;
  int threads = 1;
  float initial = 0, output = 0, final = 0;  // each replaces one number, unless 0
  index bad_token = 0;
};

// The gradients of all terms and of the initial state.
template <class T>
struct found {
  element_gradients<T> terms;
  wane::recurrent_state<T> initial;

  found(element_inputs<T> const& in, arranged const& how)
      : terms(shape_of(in), sequences_of(in, how), how.how),
        initial(element_memory<T, fades::by_log, true>{in}, sequences_of(in, how)) {}
  static wane::recurrence_shape shape_of(element_inputs<T> const& in) {
    return {in.batch, in.time, in.heads, in.rows, in.columns};
  }
  static index sequences_of(element_inputs<T> const& in, arranged const& how) {
    return wane::impl::sequences_of(shape_of(in), {how.starts});
  }
};

// in_order: one token after the other; otherwise wane::adjoint chooses.
template <fades Decay, bool Bare, bool ReadsFirst = false, class T>
void find(found<T>& result, element_inputs<T> const& in, arranged const& how, bool in_order) {
  using Plain = element_memory<T, Decay, Bare>;
  using Op = std::conditional_t<ReadsFirst, support::strictly<Plain>, Plain>;
  static_assert(wane::impl::has_element_adjoint<Op>);
  using Received = receives_elements<T, Decay == fades::by_rate>;
  Op const op(Plain{in});
  wane::recurrence_shape const s = op.shape();
  wane::packed_sequences const packed{how.starts};
  index const sequences = wane::impl::sequences_of(s, packed);
  tensor<T> dy(s.batch, s.time, s.heads, s.columns, how.how);
  wane::recurrent_state<T> initial(op, sequences), last = initial;
  support::random_values random(3);
  for (std::size_t i = 0; i < initial.values().size(); ++i) {
    initial.values()[i] = static_cast<float>(random.uniform(-1, 1));
    last.values()[i] = static_cast<float>(random.uniform(-1, 1));
  }
  dy.fill([&](auto...) { return static_cast<float>(random.uniform(-1, 1)); });
  if (how.initial != 0) initial.values()[2] = how.initial;
  if (how.final != 0) last.values()[2] = how.final;
  if (how.output != 0) dy(0, how.bad_token, 0, 2) = how.output;

  Received const received{&result.terms};
  wane::adjoint_options<T> const options{.initial = initial,
                                         .final_gradient = last,
                                         .initial_gradient = result.initial,
                                         .packed = packed,
                                         .direction = how.way,
                                         .threads = how.threads};
  if (in_order)
    wane::impl::adjoint_in_order(op, wane::sequence_view<T const>(dy.view()), received, options);
  else
    wane::adjoint(op, dy.view(), received, options);
}

// The largest distance of any gradient from its value in `exact`, found token by token.
template <fades Decay, bool Bare, bool ReadsFirst = false, class T>
double apart(element_inputs<T> const& in, element_inputs<double> const& exact,
             arranged const& how = {}) {
  arranged plainly = how;
  plainly.how = arrangement::spread;  // number by number
  found<T> is(in, how);
  found<double> should_be(exact, plainly);
  find<Decay, Bare, ReadsFirst>(is, in, how, false);
  find<Decay, Bare, ReadsFirst>(should_be, exact, plainly, true);
  double worst = 0;
  auto const compare = [&](auto const& x, auto const& y) {
    EXPECT_TRUE(x.margins_untouched());
    support::nearness near;
    y.for_each([&](index b, index t, index h, index i) {
      near.add(static_cast<double>(x(b, t, h, i)), static_cast<double>(y(b, t, h, i)));
    });
    worst = std::max(worst, near.both());
  };
  auto const& x = is.terms;
  auto const& y = should_be.terms;
  compare(x.value, y.value), compare(x.decay, y.decay), compare(x.key, y.key);
  compare(x.query, y.query), compare(x.direct, y.direct), compare(x.skip, y.skip);
  compare(x.step, y.step), compare(x.rate, y.rate);
  support::nearness near;
  for (std::size_t i = 0; i < is.initial.values().size(); ++i)
    near.add(static_cast<double>(is.initial.values()[i]), should_be.initial.values()[i]);
  return std::max(worst, near.both());
}

// Columns: whole strips, single vectors, and less than a vector. Time: whole blocks and parts.
// Rows: up to the most of a strip, and more.
template <fades Decay, bool Bare, bool ReadsFirst = false>
void expect_every_size() {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {3, 5}, {16, 64}, {7, 151}, {65, 9}})
    for (index time : {1, 31, 32, 33, 100}) {
      element_inputs<float> const in(2, time, 2, rows, columns);
      element_inputs<double> const exact(2, time, 2, rows, columns);
      EXPECT_LE((apart<Decay, Bare, ReadsFirst>(in, exact)), 1e-6)
          << rows << " x " << columns << ", " << time;
      EXPECT_LE((apart<Decay, Bare, ReadsFirst>(exact, exact)), 1e-14)
          << rows << " x " << columns << ", " << time;
    }
}
TEST(ElementAdjoint, DecaysInRates) { expect_every_size<fades::by_rate, false>(); }
TEST(ElementAdjoint, TokensThatReadBeforeTheyWrite) {
  expect_every_size<fades::by_rate, false, true>();
}
TEST(ElementAdjoint, DecaysInLogs) { expect_every_size<fades::by_log, false>(); }
TEST(ElementAdjoint, DecaysInFactorsNegativeOnesTooAndNoOtherTerms) {
  expect_every_size<fades::by_factor, false>();
  expect_every_size<fades::by_factor, true>();
}

TEST(ElementAdjoint, BackwardInTimePackedAndInAnyStrides) {
  element_inputs<double> const exact(1, 150, 2, 5, 70);
  std::vector<index> const starts{0, 0, 1, 33, 97, 150};
  for (arrangement how : support::all_arrangements) {
    element_inputs<float> const in(1, 150, 2, 5, 70, how);
    for (direction way : {direction::forward, direction::reverse}) {
      EXPECT_LE((apart<fades::by_rate, false>(in, exact, {.way = way, .how = how})), 1e-6);
      EXPECT_LE((apart<fades::by_rate, false>(
                    in, exact, {.way = way, .starts = starts, .how = how, .threads = 3})),
                1e-6);
    }
  }
}

// A rate of -2e-8 takes 2e-5 in 1000 tokens. In float its factor is 1 and would take nothing.
TEST(ElementAdjoint, SlowDecaysStrongOnesAndResets) {
  auto const fill = [](auto& in) {
    in.rate.fill([](index, index i, index, index j) {
      float const rates[] = {0, -2e-8f, -205, -87, -HUGE_VALF, -20, -0.5f};
      return rates[(3 * i + j) % 7];
    });
    in.step.fill([](index, index t, index, index j) { return 1 + 0.1 * double((t + j) % 5); });
  };
  element_inputs<float> in(1, 1000, 1, 9, 75);
  element_inputs<double> exact(1, 1000, 1, 9, 75);
  fill(in), fill(exact);
  found<float> is(in, {});
  found<double> should_be(exact, {});
  find<fades::by_rate, false>(is, in, {}, false);
  find<fades::by_rate, false>(should_be, exact, {}, true);
  support::nearness value, initial, key, step;
  should_be.terms.value.for_each([&](index b, index t, index h, index j) {
    value.add(static_cast<double>(is.terms.value(b, t, h, j)), should_be.terms.value(b, t, h, j));
  });
  for (std::size_t i = 0; i < is.initial.values().size(); ++i)
    initial.add(static_cast<double>(is.initial.values()[i]), should_be.initial.values()[i]);
  should_be.terms.key.for_each([&](index b, index t, index h, index i) {
    key.add(static_cast<double>(is.terms.key(b, t, h, i)), should_be.terms.key(b, t, h, i));
  });
  should_be.terms.step.for_each([&](index b, index t, index h, index j) {
    ASSERT_TRUE(std::isfinite(is.terms.step(b, t, h, j)));
    step.add(static_cast<double>(is.terms.step(b, t, h, j)), should_be.terms.step(b, t, h, j));
  });
  // Roundings of states that add 1000 terms.
  EXPECT_LE(step.both(), 2e-6);
  EXPECT_LE(value.both(), 2e-6);
  EXPECT_LE(initial.both(), 2e-6);
  EXPECT_LE(key.both(), 2e-6);
}

// A NaN or infinity before or after a reset reaches the same numbers as in the adjoint token by
// token.
TEST(ElementAdjoint, WhatIsNoNumberPassesNoReset) {
  for (index at : {1, 31, 32, 33, 64, 68})
    for (index bad : {0, 1, 31, 32, 33, 63, 69}) {
      element_inputs<double> in(1, 70, 1, 4, 20);
      in.row.fill([&](index, index t, index, index) { return t == at ? -HUGE_VAL : -0.1; });
      in.step.fill([](auto...) { return 1.; });
      arranged how{.output = nan, .final = HUGE_VALF, .bad_token = bad};
      if (bad < at) {
        in.key(0, bad, 0, 3) = nan, in.value(0, bad, 0, 7) = HUGE_VALF;
        how.initial = nan;
      }
      EXPECT_LE((apart<fades::by_log, false>(in, in, how)), 1e-14) << at << ' ' << bad;
    }
}

TEST(ElementAdjoint, SameBitsForAnyThreads) {
  element_inputs<float> const in(1, 70, 3, 6, 200);
  auto const bits = [&](int threads) {
    found<float> g(in, {});
    find<fades::by_rate, false>(g, in, {.threads = threads}, false);
    std::vector<double> all(g.initial.values().begin(), g.initial.values().end());
    auto const take = [&](auto const& x) {
      x.for_each([&](index b, index t, index h, index i) { all.push_back(double(x(b, t, h, i))); });
    };
    take(g.terms.value), take(g.terms.key), take(g.terms.query), take(g.terms.decay);
    take(g.terms.step), take(g.terms.direct), take(g.terms.rate);
    return all;
  };
  auto const one = bits(1);
  for (int threads : {2, 3, 8}) EXPECT_EQ(bits(threads), one);
}

}  // namespace
