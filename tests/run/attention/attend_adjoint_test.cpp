// attend_adjoint: the derivative of the equation, cuts, threads, scores of weight 0.
// SPDX-License-Identifier: MIT
#include "wane/run/attention/attend_adjoint.hpp"

#include <gtest/gtest.h>

#include "support/attention_case.hpp"

namespace {

using support::attention_case;
using support::attention_sizes;
using support::head_groups;
using support::index;
using support::nearness;
using support::tensor;

// Compares the gradients with differences of 4th order of the loss <g, y>, in long double. With a
// fifth derivative of order 1, the differences err by h^4 = 1e-12 at h = 1e-3. The adjoint errs by
// some eps.
void expect_adjoint(attention_sizes const& s) {
  attention_case<double> run(s);
  support::random_values random(3);
  tensor<double> g(s.batch, s.time, s.heads, s.outputs()), dq(s.batch, s.time, s.heads, s.rows),
      dk(s.batch, s.time + s.cache, s.heads, s.rows),
      dv(s.batch, s.time + s.cache, s.heads, s.columns);
  g.fill([&](auto...) { return random.uniform(-1, 1); });
  wane::attend_adjoint(run.op(), g.view(), {.query = dq, .key = dk, .value = dv},
                       {.packed = {s.starts}, .key_packed = {s.key_starts}, .threads = 2});
  auto const loss = [&] {
    long double total = 0;
    double const scale = 1 / std::sqrt(static_cast<double>(s.rows));
    for (index b = 0; b < s.batch; ++b)
      for (index t = 0; t < s.time; ++t)
        for (index h = 0; h < s.heads; ++h) {
          auto const y = run.naive<long double>(b, t, h, scale);
          for (index j = 0; j < s.outputs(); ++j)
            total += static_cast<long double>(g(b, t, h, j)) * y[static_cast<std::size_t>(j)];
        }
    return total;
  };
  auto const check = [&](tensor<double>& x, tensor<double> const& dx, index heads) {
    nearness near;
    for (int trial = 0; trial < 6; ++trial) {
      auto const at = [&](int i) {
        return static_cast<index>(random.bits() % static_cast<std::uint64_t>(x.view().extent[i]));
      };
      index const b = at(0), t = at(1), h = at(2), i = at(3);
      double const before = x(b, t, h, i), step = 1e-3;
      auto const central = [&](double by) {
        x(b, t, h, i) = before + by;
        long double const up = loss();
        x(b, t, h, i) = before - by;
        long double const down = loss();
        x(b, t, h, i) = before;
        return (up - down) / (2 * static_cast<long double>(by));
      };
      auto const difference = static_cast<double>((4 * central(step) - central(2 * step)) / 3);
      double sum = 0;
      for (index all = 0; all < s.heads; ++all)
        if (s.head(all, heads) == h) sum += dx(b, t, all, i);
      near.add(sum, difference);
    }
    EXPECT_LE(near.both(), 1e-10);
  };
  check(run.query, dq, s.query_heads);
  check(run.key, dk, s.key_heads);
  check(run.value, dv, s.value_heads);
}

TEST(AttendAdjoint, IsTheDerivative) {
  expect_adjoint({.batch = 2, .time = 20, .heads = 2, .rows = 5, .columns = 3});
  expect_adjoint({.time = 210, .heads = 1, .rows = 3, .columns = 9});
  expect_adjoint({.time = 210, .heads = 1, .rows = 3, .columns = 9, .cache = 70, .window = 30});
  expect_adjoint({.time = 60,
                  .heads = 4,
                  .rows = 3,
                  .columns = 5,
                  .key_heads = 2,
                  .value_heads = 2,
                  .groups = head_groups::tiled});
  for (index window : {0, 30})
    expect_adjoint({.time = 210,
                    .heads = 2,
                    .rows = 3,
                    .columns = 9,
                    .cache = 70,
                    .key_heads = 1,
                    .window = window,
                    .entropy = true});
  expect_adjoint({.time = 90, .heads = 1, .rows = 3, .columns = 5, .starts = {0, 3, 3, 80, 90}});
  for (index other : {0, 70, -90})
    expect_adjoint({.batch = 2,
                    .time = 110,
                    .rows = 3,
                    .columns = 5,
                    .cache = other,
                    .entropy = true,
                    .causal = false});
  expect_adjoint({.time = 90,
                  .rows = 3,
                  .columns = 5,
                  .cache = 40,
                  .starts = {0, 3, 3, 80, 90},
                  .causal = false,
                  .key_starts = {0, 1, 70, 129, 130}});
}

TEST(AttendAdjoint, HasTheSameBitsForAnyThreads) {
  attention_sizes const s{.time = 450, .heads = 2, .rows = 5, .columns = 6, .cache = 9};
  attention_case<float> run(s);
  tensor<float> dq(1, 450, 2, 5), dk(1, 459, 2, 5), dv(1, 459, 2, 6), eq(1, 450, 2, 5),
      ek(1, 459, 2, 5), ev(1, 459, 2, 6);
  run.output.fill([](index, index t, index, index j) { return (t + j) % 3; });
  wane::attend_adjoint(run.op(), run.output.view(), {.query = dq, .key = dk, .value = dv},
                       {.threads = 1});
  wane::attend_adjoint(run.op(), run.output.view(), {.query = eq, .key = ek, .value = ev},
                       {.threads = 3});
  auto const same = [](tensor<float> const& a, tensor<float> const& b) {
    a.for_each([&](auto... at) { EXPECT_EQ(a(at...), b(at...)); });
  };
  same(dq, eq), same(dk, ek), same(dv, ev);
}

// The gradients of two pieces add up to those of the whole. The second piece has the keys before it
// as a cache, and the gradients of this cache belong to tokens of the first piece.
TEST(AttendAdjoint, GoesAcrossACut) {
  constexpr index time = 150, cut = 90, window = 20, cache = window - 1;
  attention_case<double> const run({.batch = 2,
                                    .time = time,
                                    .heads = 2,
                                    .rows = 5,
                                    .columns = 3,
                                    .window = window,
                                    .entropy = true});
  tensor<double> g(2, time, 2, 4);
  support::random_values random(5);
  g.fill([&](auto...) { return random.uniform(-1, 1); });
  struct gradients {
    tensor<double> query{2, time, 2, 5}, key{2, time, 2, 5}, value{2, time, 2, 3};
    wane::keyed_gradients<double> of(index first, index begin, index end) const {
      return {.query = query.view().tokens(begin, end),
              .key = key.view().tokens(first, end),
              .value = value.view().tokens(first, end)};
    }
  } const whole, before, after;
  wane::attend_adjoint(run.op(), g.view(), whole.of(0, 0, time));
  for (auto const* x : {&before, &after})
    for (auto const* part : {&x->query, &x->key, &x->value})
      part->for_each([&](auto... at) { (*part)(at...) = 0; });
  auto const piece = [&](index first, index begin, index end, gradients const& to) {
    auto const part = [&](tensor<double> const& x, index from) {
      return x.view().tokens(from, end);
    };
    wane::softmax_attention<double> const op({.query = part(run.query, begin),
                                              .key = part(run.key, first),
                                              .value = part(run.value, first)},
                                             {.window = window, .entropy = true});
    wane::attend_adjoint(op, part(g, begin), to.of(first, begin, end));
  };
  piece(0, 0, cut, before), piece(cut - cache, cut, time, after);
  auto const expect_sum = [](tensor<double> const& all, tensor<double> const& a,
                             tensor<double> const& b) {
    nearness near;
    all.for_each([&](auto... at) { near.add(a(at...) + b(at...), all(at...)); });
    EXPECT_LE(near.both(), 1e-14);  // some eps
  };
  expect_sum(whole.query, before.query, after.query);
  expect_sum(whole.key, before.key, after.key), expect_sum(whole.value, before.value, after.value);
}

// Keys of weight 0 add nothing to the entropy and get no gradient from it.
TEST(AttendAdjoint, OfScoresOfMinusInfinityIsFinite) {
  attention_case<float> run({.time = 100, .rows = 1, .columns = 3, .entropy = true});
  run.query.fill([](auto...) { return 1; });
  run.key.fill([](index, index t, auto...) {
    return t < 50 || t % 2 ? -HUGE_VAL : static_cast<double>(t) / 100;
  });
  tensor<float> g(1, 100, 1, 4), dk(1, 100, 1, 1), dv(1, 100, 1, 3);
  g.fill([](index, index t, index, index j) { return t % 7 + j; });
  wane::attend_adjoint(run.op(), g.view(), {.key = dk, .value = dv});
  dk.for_each([&](index b, index t, index h, index i) {
    EXPECT_TRUE(std::isfinite(dk(b, t, h, i)));
    EXPECT_EQ(dk(b, t, h, i) == 0, t < 50 || t % 2) << t;
  });
  dv.for_each([&](auto... at) { EXPECT_TRUE(std::isfinite(dv(at...))); });
}

}  // namespace
