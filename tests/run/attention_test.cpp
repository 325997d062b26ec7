// Softmax attention: against the naive double loop, hard logits, windows, packing, adjoint.
// SPDX-License-Identifier: MIT
#include "wane/run/attention.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/run/attention_adjoint.hpp"

namespace {

using support::index;
using support::nearness;
using support::tensor;
using wane::head_groups;

struct sizes {
  index batch = 1, time = 1, heads = 1, rows = 1, columns = 1;
  index cache = 0, query_heads = 0, key_heads = 0, value_heads = 0, window = 0;
  head_groups groups = head_groups::interleaved;
  std::vector<index> starts = {};
  support::arrangement lies = support::arrangement::plain;

  index of(index own) const { return own ? own : heads; }
  index head(index h, index own) const {
    return groups == head_groups::tiled ? h % of(own) : h / (heads / of(own));
  }
  // The first key that query t may see, and the last.
  index first(index t) const {
    index begin = 0;
    for (index start : starts)
      if (start <= t) begin = start;
    return window ? std::max(begin, t + cache - window + 1) : begin;
  }
};

template <class Io>
struct attention_case {
  sizes s;
  tensor<Io> query, key, value, output;

  explicit attention_case(sizes const& of, double size = 1)
      : s(of),
        query(s.batch, s.time, s.of(s.query_heads), s.rows, s.lies),
        key(s.batch, s.cache + s.time, s.of(s.key_heads), s.rows, s.lies),
        value(s.batch, s.cache + s.time, s.of(s.value_heads), s.columns, s.lies),
        output(s.batch, s.time, s.heads, s.columns, s.lies) {
    support::random_values random(7);
    query.fill([&](auto...) { return random.uniform(-size, size); });
    key.fill([&](auto...) { return random.uniform(-1, 1); });
    value.fill([&](auto...) { return random.uniform(-1, 1); });
  }
  wane::softmax_attention<Io> op(std::optional<double> scale = {}) const {
    return {{query, key, value}, {.scale = scale, .window = s.window, .groups = s.groups}};
  }
  void run(int threads = 1) const {
    wane::attend(op(), output.view(), {.packed = {s.starts}, .threads = threads});
  }
  // The equation, in Real.
  template <class Real>
  std::vector<Real> naive(index b, index t, index h, double scale) const {
    std::vector<Real> weights, y(static_cast<std::size_t>(s.columns));
    Real greatest = -HUGE_VAL, total = 0;
    for (index n = s.first(t); n <= t + s.cache; ++n) {
      Real score = 0;
      for (index i = 0; i < s.rows; ++i)
        score += static_cast<Real>(query(b, t, s.head(h, s.query_heads), i)) *
                 static_cast<Real>(key(b, n, s.head(h, s.key_heads), i));
      weights.push_back(score * static_cast<Real>(scale));
      greatest = std::max(greatest, weights.back());
    }
    for (Real& w : weights) total += w = std::exp(w - greatest);
    for (index n = s.first(t), k = 0; n <= t + s.cache; ++n, ++k)
      for (index j = 0; j < s.columns; ++j)
        y[static_cast<std::size_t>(j)] +=
            weights[static_cast<std::size_t>(k)] / total *
            static_cast<Real>(value(b, n, s.head(h, s.value_heads), j));
    return y;
  }
  template <class Real = double>
  double error() const {
    nearness near;
    double const scale = 1 / std::sqrt(static_cast<double>(s.rows));
    for (index b = 0; b < s.batch; ++b)
      for (index t = 0; t < s.time; ++t)
        for (index h = 0; h < s.heads; ++h) {
          auto const y = naive<Real>(b, t, h, scale);
          for (index j = 0; j < s.columns; ++j)
            near.add(static_cast<double>(output(b, t, h, j)),
                     static_cast<double>(y[static_cast<std::size_t>(j)]));
        }
    EXPECT_TRUE(output.margins_untouched());
    return near.both();
  }
};

template <class Io>
double error_of(sizes const& s) {
  attention_case<Io> const run(s);
  run.run();
  return run.error();
}

// Scores below 1 in size: their roundings are a few eps, and weights and sums add as many.
constexpr double in_float = 1e-6, in_double = 2e-15;

TEST(SoftmaxAttention, IsTheNaiveLoop) {
  for (index time : {1, 2, 3, 63, 65, 200, 389})
    for (index columns : {1, 5, 64}) {
      sizes const s{.batch = 2, .time = time, .heads = 2, .rows = 7, .columns = columns};
      EXPECT_LE(error_of<float>(s), in_float) << time;
      EXPECT_LE(error_of<double>(s), in_double) << time;
    }
}

TEST(SoftmaxAttention, ReadsAnyStrides) {
  for (auto lies : support::all_arrangements)
    EXPECT_LE(error_of<float>(
                  {.batch = 2, .time = 70, .heads = 3, .rows = 16, .columns = 19, .lies = lies}),
              in_float);
}

TEST(SoftmaxAttention, OfAWindowAndACache) {
  for (index window : {index{0}, index{1}, index{2}, index{64}, index{100}, index{1000}, INT64_MAX})
    for (index cache : {0, 1, 130})
      EXPECT_LE(
          error_of<double>(
              {.time = 210, .heads = 2, .rows = 4, .columns = 9, .cache = cache, .window = window}),
          in_double);
}

TEST(SoftmaxAttention, OfGroupedHeads) {
  for (auto groups : {head_groups::interleaved, head_groups::tiled}) {
    sizes s{.time = 30, .heads = 6, .rows = 4, .columns = 9, .groups = groups};
    s.key_heads = 2, s.value_heads = 2;  // grouped queries
    EXPECT_LE(error_of<double>(s), in_double);
    s.query_heads = 2, s.value_heads = 0;  // as the keyed memories have it
    EXPECT_LE(error_of<double>(s), in_double);
  }
}

TEST(SoftmaxAttention, OfPackedSequencesIsThatOfEach) {
  for (index window : {0, 5})
    EXPECT_LE(error_of<double>({.time = 300,
                                .heads = 2,
                                .rows = 4,
                                .columns = 9,
                                .window = window,
                                .starts = {0, 3, 3, 250, 251, 300}}),
              in_double);
}

// Each sequence of a padded batch attends, and has its gradients, as if it were alone; padding, and
// what is written there, may be anything.
TEST(SoftmaxAttention, OfPaddedBatchesIsThatOfEach) {
  std::vector<index> const lengths{411, 0, 500, 1};
  for (index cache : {0, 3})
    for (index window : {0, 7}) {
      sizes const s{.batch = 4,
                    .time = 500,
                    .heads = 2,
                    .rows = 3,
                    .columns = 5,
                    .cache = cache,
                    .window = window};
      attention_case<double> const clean(s), run(s);
      tensor<double> g(4, 500, 2, 5);
      support::random_values random(5);
      g.fill([&](auto...) { return random.uniform(-1, 1); });
      struct gradients {
        tensor<double> q, k, v;
        explicit gradients(sizes const& of)
            : q(of.batch, of.time, of.heads, of.rows),
              k(of.batch, of.time + of.cache, of.heads, of.rows),
              v(of.batch, of.time + of.cache, of.heads, of.columns) {}
        wane::keyed_gradients<double> from(index b, index tokens, index keys) const {
          auto const part = [&](auto const& x, index count) {
            auto of = x.view().tokens(0, count);
            if (b >= 0) of.data += b * of.stride[0], of.extent[0] = 1;
            return of;
          };
          return {part(q, tokens), part(k, keys), part(v, keys)};
        }
      };
      gradients const together(s), alone(s);
      auto const row = [](auto view, index b) {
        return view.data += b * view.stride[0], view.extent[0] = 1, view;
      };
      for (index b = 0; b < 4; ++b) {
        index const n = lengths[static_cast<std::size_t>(b)];
        auto const tokens = [&](auto const& x, index count) {
          return row(x.view(), b).tokens(0, count);
        };
        wane::softmax_attention<double> const one(
            {tokens(clean.query, n), tokens(clean.key, cache + n), tokens(clean.value, cache + n)},
            {.window = window});
        wane::attend(one, tokens(clean.output, n));
        wane::attend_adjoint(one, tokens(g, n), alone.from(b, n, cache + n));
      }
      auto const spoil = [&](tensor<double> const& x, index before) {
        x.for_each([&](index b, index t, index h, index j) {
          if (t >= before + lengths[static_cast<std::size_t>(b)]) x(b, t, h, j) = NAN;
        });
      };
      spoil(run.query, 0), spoil(run.key, cache), spoil(run.value, cache), spoil(g, 0);
      wane::attend(run.op(), run.output.view(), {.lengths = lengths, .threads = 2});
      wane::attend_adjoint(run.op(), g.view(), together.from(-1, 500, cache + 500),
                           {.lengths = lengths, .threads = 2});
      auto const expect_same = [&](tensor<double> const& is, tensor<double> const& wanted,
                                   index before) {
        is.for_each([&](index b, index t, index h, index j) {
          if (t < before + lengths[static_cast<std::size_t>(b)])
            EXPECT_EQ(is(b, t, h, j), wanted(b, t, h, j));
          else
            EXPECT_TRUE(std::isnan(is(b, t, h, j)));
        });
      };
      expect_same(run.output, clean.output, 0);
      expect_same(together.q, alone.q, 0);
      expect_same(together.k, alone.k, cache), expect_same(together.v, alone.v, cache);
    }
}

// bfloat16 has 8 significant bits: rounding errs by up to 2^-8 of an element.
TEST(SoftmaxAttention, OfSixteenBits) {
  EXPECT_LE(error_of<wane::bfloat16>({.time = 150, .heads = 2, .rows = 16, .columns = 33}), 0x1p-8);
}

// Logits of 1e4 cost their own size in digits: eps 1e4 of the weights.
TEST(SoftmaxAttention, OfHugeLogits) {
  attention_case<double> const run({.time = 300, .rows = 16, .columns = 9}, 1e4);
  run.run();
  EXPECT_LE(run.error<long double>(), 1e4 * 2.3e-16 * 4);
  attention_case<float> const single({.time = 300, .rows = 16, .columns = 9}, 1e4);
  single.run();
  EXPECT_LE(single.error<long double>(), 1e4 * 1.2e-7 * 4);
}

TEST(SoftmaxAttention, WithScoresOfMinusInfinity) {
  attention_case<float> run({.time = 100, .rows = 1, .columns = 3});
  run.query.fill([](auto...) { return 1; });
  run.key.fill([](index, index t, auto...) { return t < 50 || t % 2 ? -HUGE_VAL : 0; });
  run.run();
  EXPECT_EQ(run.output(0, 49, 0, 0), 0);
  EXPECT_EQ(run.output(0, 50, 0, 0), run.value(0, 50, 0, 0));
  EXPECT_EQ(run.output(0, 51, 0, 2), run.value(0, 50, 0, 2));
  EXPECT_NEAR(run.output(0, 52, 0, 1), (run.value(0, 50, 0, 1) + run.value(0, 52, 0, 1)) / 2, 1e-7);
}

// A NaN or infinity reaches the outputs that depend on it, and no other.
TEST(SoftmaxAttention, KeepsNaNsToWhatDependsOnThem) {
  for (float bad : {NAN, HUGE_VALF})
    for (int which : {0, 1, 2}) {
      attention_case<float> clean({.time = 200, .rows = 5, .columns = 5, .window = 20}),
          run({.time = 200, .rows = 5, .columns = 5, .window = 20});
      clean.run();
      (which == 0 ? run.query : which == 1 ? run.key : run.value)(0, 77, 0, 2) = bad;
      run.run();
      for (index t = 0; t < 200; ++t)
        for (index j = 0; j < 5; ++j) {
          bool const depends = which == 0 ? t == 77 : t >= 77 && t < 97 && (which == 1 || j == 2);
          float const y = run.output(0, t, 0, j);
          EXPECT_TRUE(depends || y == clean.output(0, t, 0, j)) << which << ' ' << t;
          EXPECT_TRUE(!depends || !std::isnan(bad) || std::isnan(y)) << which << ' ' << t;
        }
    }
}

TEST(SoftmaxAttention, HasTheSameBitsForAnyThreads) {
  sizes const s{.batch = 2, .time = 500, .heads = 3, .rows = 8, .columns = 8};
  attention_case<float> one(s), more(s);
  one.run(1), more.run(3);
  one.output.for_each([&](index b, index t, index h, index j) {
    EXPECT_EQ(one.output(b, t, h, j), more.output(b, t, h, j));
  });
}

// Central differences of the loss <g, y> along one random direction for each input and query,
// whose error is h^2 of a third derivative of order 1 and eps / h: 1e-10 at h = 1e-5.
void expect_adjoint(sizes const& s) {
  attention_case<double> run(s);
  support::random_values random(3);
  tensor<double> g(s.batch, s.time, s.heads, s.columns), dq(s.batch, s.time, s.heads, s.rows),
      dk(s.batch, s.time + s.cache, s.heads, s.rows),
      dv(s.batch, s.time + s.cache, s.heads, s.columns);
  g.fill([&](auto...) { return random.uniform(-1, 1); });
  wane::attend_adjoint(run.op(), g.view(), {dq.view(), dk.view(), dv.view()},
                       {.packed = {s.starts}, .threads = 2});
  auto const loss = [&] {
    run.run();
    double total = 0;
    g.for_each([&](index b, index t, index h, index j) {
      total += g(b, t, h, j) * run.output(b, t, h, j);
    });
    return total;
  };
  auto const check = [&](tensor<double>& x, tensor<double> const& dx, index heads) {
    nearness near;
    for (int trial = 0; trial < 12; ++trial) {
      auto const at = [&](int i) {
        return static_cast<index>(random.bits() % static_cast<std::uint64_t>(x.view().extent[i]));
      };
      index const b = at(0), t = at(1), h = at(2), i = at(3);
      double const before = x(b, t, h, i), step = 1e-5;
      x(b, t, h, i) = before + step;
      double const up = loss();
      x(b, t, h, i) = before - step;
      double const difference = (up - loss()) / (2 * step);
      x(b, t, h, i) = before;
      double sum = 0;
      for (index all = 0; all < s.heads; ++all)
        if (s.head(all, heads) == h) sum += dx(b, t, all, i);
      near.add(sum, difference);
    }
    EXPECT_LE(near.both(), 1e-8);
  };
  check(run.query, dq, s.query_heads);
  check(run.key, dk, s.key_heads);
  check(run.value, dv, s.value_heads);
}

TEST(SoftmaxAttentionAdjoint, IsTheDerivative) {
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
  expect_adjoint({.time = 90, .heads = 1, .rows = 3, .columns = 5, .starts = {0, 3, 3, 80, 90}});
}

TEST(SoftmaxAttentionAdjoint, HasTheSameBitsForAnyThreads) {
  sizes const s{.time = 450, .heads = 2, .rows = 5, .columns = 6, .cache = 9};
  attention_case<float> run(s);
  tensor<float> dq(1, 450, 2, 5), dk(1, 459, 2, 5), dv(1, 459, 2, 6), eq(1, 450, 2, 5),
      ek(1, 459, 2, 5), ev(1, 459, 2, 6);
  run.output.fill([](index, index t, index, index j) { return (t + j) % 3; });
  wane::attend_adjoint(run.op(), run.output.view(), {dq.view(), dk.view(), dv.view()},
                       {.threads = 1});
  wane::attend_adjoint(run.op(), run.output.view(), {eq.view(), ek.view(), ev.view()},
                       {.threads = 3});
  auto const same = [](tensor<float> const& a, tensor<float> const& b) {
    a.for_each([&](auto... at) { EXPECT_EQ(a(at...), b(at...)); });
  };
  same(dq, eq), same(dk, ek), same(dv, ev);
}

TEST(SoftmaxAttention, OfNoQueriesNeedsNoneAndGivesNothingBack) {
  tensor<float> k(2, 5, 3, 4), v(2, 5, 3, 6), dk(2, 5, 3, 4), dv(2, 5, 3, 6);
  wane::sequence_view<float const> const q(nullptr, 2, 0, 3, 4);
  wane::sequence_view<float> const y(nullptr, 2, 0, 3, 6);
  wane::softmax_attention<float> const op({q, k, v}, {.window = INT64_MAX});
  k.fill([](auto...) { return 1; }), v.fill([](auto...) { return 1; });
  wane::attend(op, y);
  wane::attend_adjoint(op, y, {{}, dk.view(), dv.view()});
  dk.for_each([&](auto... at) { EXPECT_EQ(dk(at...), 0); });
  dv.for_each([&](auto... at) { EXPECT_EQ(dv(at...), 0); });
}

TEST(SoftmaxAttention, SaysWhatDoesNotFit) {
  tensor<float> q(1, 9, 4, 3), k(1, 8, 4, 3), v(1, 8, 4, 5), y(1, 9, 4, 5), of_three(1, 9, 3, 3);
  using op = wane::softmax_attention<float>;
  support::expect_error({"key has time 8", "9"}, [&] { op({q, k, v}); });
  support::expect_error({"heads 3", "divide", "4"}, [&] { op({of_three, q, y}); });
  support::expect_error({"rows", "3", "5"}, [&] { op({y, q, y}); });
  support::expect_error({"window", "-1"}, [&] { op({q, q, y}, {.window = -1}); });
  support::expect_error({"scale", "finite"}, [&] { op({q, q, y}, {.scale = HUGE_VAL}); });
  wane::sequence_view<float const> const none(nullptr, 1, 9, 4, 3);
  support::expect_error({"key has no data"}, [&] { wane::attend(op({q, none, y}), y.view()); });
  support::expect_error({"output", "columns 3", "5"}, [&] {
    wane::attend(op({q, q, y}), q.view());
  });
  support::expect_error({"gradient of value", "columns 3", "5"}, [&] {
    wane::attend_adjoint(op({q, q, y}), y.view(), {{}, {}, q.view()});
  });
}

}  // namespace
