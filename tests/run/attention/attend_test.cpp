// Softmax attention: against the naive double loop, hard logits, windows, packing, adjoint.
// SPDX-License-Identifier: MIT
#include "wane/run/attention/attend.hpp"

#include <gtest/gtest.h>

#include "support/attention_case.hpp"
#include "support/expect_error.hpp"
#include "wane/run/attention/attend_adjoint.hpp"

namespace {

using support::attention_case;
using support::attention_sizes;
using support::error_of;
using support::head_groups;
using support::in_double;
using support::in_float;
using support::index;
using support::tensor;

TEST(SoftmaxAttention, IsTheNaiveLoop) {
  for (index time : {1, 2, 3, 63, 65, 200, 389})
    for (index columns : {1, 5, 64}) {
      attention_sizes const s{.batch = 2, .time = time, .heads = 2, .rows = 7, .columns = columns};
      EXPECT_LE(error_of<attention_case<float>>(s), in_float) << time;
      EXPECT_LE(error_of<attention_case<double>>(s), in_double) << time;
    }
}

TEST(SoftmaxAttention, ReadsAnyStrides) {
  for (auto lies : support::all_arrangements)
    EXPECT_LE(error_of<attention_case<float>>(
                  {.batch = 2, .time = 70, .heads = 3, .rows = 16, .columns = 19, .lies = lies}),
              in_float);
}

TEST(SoftmaxAttention, OfAWindowAndACache) {
  for (index window : {index{0}, index{1}, index{2}, index{64}, index{100}, index{1000}, INT64_MAX})
    for (index cache : {0, 1, 130})
      EXPECT_LE(
          error_of<attention_case<double>>(
              {.time = 210, .heads = 2, .rows = 4, .columns = 9, .cache = cache, .window = window}),
          in_double);
}

TEST(SoftmaxAttention, OfGroupedHeads) {
  for (auto groups : {head_groups::interleaved, head_groups::tiled}) {
    attention_sizes s{.time = 30, .heads = 6, .rows = 4, .columns = 9, .groups = groups};
    s.key_heads = 2, s.value_heads = 2;  // grouped queries
    EXPECT_LE(error_of<attention_case<double>>(s), in_double);
    s.query_heads = 2, s.value_heads = 0;  // the heads of the keyed memories
    EXPECT_LE(error_of<attention_case<double>>(s), in_double);
  }
}

TEST(SoftmaxAttention, OfPackedSequencesIsThatOfEach) {
  for (index window : {0, 5})
    EXPECT_LE(error_of<attention_case<double>>({.time = 300,
                                                .heads = 2,
                                                .rows = 4,
                                                .columns = 9,
                                                .window = window,
                                                .starts = {0, 3, 3, 250, 251, 300}}),
              in_double);
}

// Each sequence of a padded batch has the outputs and gradients that it has alone, whatever the
// padding holds.
TEST(SoftmaxAttention, OfPaddedBatchesIsThatOfEach) {
  std::vector<index> const lengths{411, 0, 500, 1};
  for (index cache : {0, 3})
    for (index window : {0, 7}) {
      attention_sizes const s{.batch = 4,
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
        explicit gradients(attention_sizes const& of)
            : q(of.batch, of.time, of.heads, of.rows),
              k(of.batch, of.time + of.cache, of.heads, of.rows),
              v(of.batch, of.time + of.cache, of.heads, of.columns) {}
        wane::keyed_gradients<double> from(index b, index tokens, index keys) const {
          auto const part = [&](auto const& x, index count) {
            auto of = x.view().tokens(0, count);
            if (b >= 0) of.data += b * of.stride[0], of.extent[0] = 1;
            return of;
          };
          return {.query = part(q, tokens), .key = part(k, keys), .value = part(v, keys)};
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
        wane::softmax_attention<double> const one({.query = tokens(clean.query, n),
                                                   .key = tokens(clean.key, cache + n),
                                                   .value = tokens(clean.value, cache + n)},
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

// In double, the naive loop runs in long double: its sum of many logarithms errs by more than wane.
TEST(SoftmaxAttention, HasTheEntropyOfItsWeights) {
  for (index time : {1, 2, 65, 389})
    for (index window : {0, 64}) {
      attention_sizes const s{.batch = 2,
                              .time = time,
                              .heads = 2,
                              .rows = 7,
                              .columns = 8,
                              .window = window,
                              .entropy = true};
      EXPECT_LE(error_of<attention_case<float>>(s), in_float) << time;
      EXPECT_LE((error_of<attention_case<double>, long double>(s)), in_double) << time;
    }
}
// Scores that grow from block to block change the greatest score each time. Without a weight the
// entropy is 0, with one weight it is 0, and with n equal weights it is log n.
TEST(SoftmaxAttention, HasTheEntropyOfHardScores) {
  attention_case<double> run({.time = 389, .rows = 1, .columns = 1, .entropy = true});
  run.query.fill([](auto...) { return 1; });
  run.key.fill([](index, index t, auto...) { return static_cast<double>(t) / 100; });
  run.run();
  EXPECT_LE(run.error(), in_double);
  run.key.fill([](index, index t, auto...) { return t < 5 ? -HUGE_VAL : t < 7 ? 1e300 : -1e300; });
  run.run();
  EXPECT_EQ(run.output(0, 4, 0, 1), 0);
  EXPECT_EQ(run.output(0, 5, 0, 1), 0);
  EXPECT_NEAR(run.output(0, 388, 0, 1), std::log(2), 1e-16);
}

// bfloat16 has 8 significant bits: rounding errs by up to 2^-8 of an element.
TEST(SoftmaxAttention, OfSixteenBits) {
  EXPECT_LE(error_of<attention_case<wane::bfloat16>>(
                {.time = 150, .heads = 2, .rows = 16, .columns = 33}),
            0x1p-8);
}

// Logits of 1e4 are rounded by eps 1e4, and so are the weights.
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
  attention_sizes const s{.batch = 2, .time = 500, .heads = 3, .rows = 8, .columns = 8};
  attention_case<float> one(s), more(s);
  one.run(1), more.run(3);
  one.output.for_each([&](index b, index t, index h, index j) {
    EXPECT_EQ(one.output(b, t, h, j), more.output(b, t, h, j));
  });
}

TEST(SoftmaxAttention, OfNoQueriesNeedsNoneAndGivesNothingBack) {
  tensor<float> k(2, 5, 3, 4), v(2, 5, 3, 6), dk(2, 5, 3, 4), dv(2, 5, 3, 6);
  wane::sequence_view<float const> const q(nullptr, 2, 0, 3, 4);
  wane::sequence_view<float> const y(nullptr, 2, 0, 3, 6);
  wane::softmax_attention<float> const op({.query = q, .key = k, .value = v},
                                          {.window = INT64_MAX});
  k.fill([](auto...) { return 1; }), v.fill([](auto...) { return 1; });
  wane::attend(op, y);
  wane::attend_adjoint(op, y, {.key = dk, .value = dv});
  dk.for_each([&](auto... at) { EXPECT_EQ(dk(at...), 0); });
  dv.for_each([&](auto... at) { EXPECT_EQ(dv(at...), 0); });
}

TEST(SoftmaxAttention, SaysWhatDoesNotFit) {
  tensor<float> q(1, 9, 4, 3), k(1, 8, 4, 3), v(1, 8, 4, 5), y(1, 9, 4, 5), of_three(1, 9, 3, 3);
  using op = wane::softmax_attention<float>;
  support::expect_error({"key has time 8", "9"}, [&] { op({.query = q, .key = k, .value = v}); });
  support::expect_error({"heads 3", "divide", "4"},
                        [&] { op({.query = of_three, .key = q, .value = y}); });
  support::expect_error({"rows", "3", "5"}, [&] { op({.query = y, .key = q, .value = y}); });
  support::expect_error({"window", "-1"},
                        [&] { op({.query = q, .key = q, .value = y}, {.window = -1}); });
  support::expect_error({"scale", "finite"},
                        [&] { op({.query = q, .key = q, .value = y}, {.scale = HUGE_VAL}); });
  wane::sequence_view<float const> const none(nullptr, 1, 9, 4, 3);
  support::expect_error({"key has no data"},
                        [&] { wane::attend(op({.query = q, .key = none, .value = y}), y.view()); });
  support::expect_error({"output", "columns 3", "5"},
                        [&] { wane::attend(op({.query = q, .key = q, .value = y}), q.view()); });
  support::expect_error({"output", "columns 5", "6"}, [&] {
    wane::attend(op({.query = q, .key = q, .value = y}, {.entropy = true}), y.view());
  });
  support::expect_error({"output_gradient", "columns 5", "6"}, [&] {
    wane::attend_adjoint(op({.query = q, .key = q, .value = y}, {.entropy = true}), y.view(), {});
  });
  support::expect_error({"gradient of value", "columns 3", "5"}, [&] {
    wane::attend_adjoint(op({.query = q, .key = q, .value = y}), y.view(), {.value = q});
  });
}

}  // namespace
