// linear_attention is S <- D S + k v^T, z <- D z + k, y = scale S^T q / max(scale q . z, floor).
// SPDX-License-Identifier: MIT
#include "wane/operators/linear_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/memory_case.hpp"
#include "wane/operators/feature_maps.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/attention/attend.hpp"

namespace {

using support::index, support::memory_case;
using wane::linear_attention, wane::sequence_view;

static_assert(wane::scannable<linear_attention<float>>);
static_assert(wane::normalised_recurrence<linear_attention<float>>);
static_assert(!wane::normalised_recurrence<wane::unnormalised<linear_attention<float>>>);
static_assert(wane::reads_lanes<linear_attention<wane::bfloat16>>);
static_assert(std::is_trivially_copyable_v<wane::unnormalised<linear_attention<float>>>);

auto const formula = [](auto&... token) {
  return support::naive_linear_attention<double>(token...);
};

template <class Io>
class LinearAttention : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(LinearAttention, Types);

// A negative scale makes every denominator negative, so the floor is the divisor.
TYPED_TEST(LinearAttention, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) {
    c.make_features();
    auto inputs = c.naive();
    inputs.floor = 0.01;
    c.expect(linear_attention<TypeParam>(c.in(), {.keys = c.shape.options, .floor = 0.01}), inputs,
             formula);
  });
}

TYPED_TEST(LinearAttention, IsItsFormulaWithADecayARow) {
  support::for_each_memory<TypeParam>([](auto& c) {
    c.make_features();
    auto inputs = c.naive();
    inputs.log_decay = c.row_decay, inputs.floor = 0.01;
    c.expect(linear_attention(c.in(), c.row_decay.view(), {.keys = c.shape.options, .floor = 0.01}),
             inputs, formula);
  });
}

TYPED_TEST(LinearAttention, IsItsFormulaWithADecayAHead) {
  support::for_each_memory<TypeParam>([](auto& c) {
    c.make_features();
    auto inputs = c.naive();
    inputs.log_decay = c.head_decay, inputs.floor = 0.01;
    auto const gate = support::by_token<TypeParam const>(c.head_decay);
    c.expect(linear_attention(c.in(), gate, {.keys = c.shape.options, .floor = 0.01}), inputs,
             formula);
  });
}

using numbers = std::vector<double>;

// A problem in double: [1, T, 1, K] and [1, T, 1, V].
struct one_head {
  index time, rows, columns;
  support::tensor<double> query{1, time, 1, rows}, key{1, time, 1, rows},
      value{1, time, 1, columns}, output{1, time, 1, columns};

  one_head(index t, index k, index v) : time(t), rows(k), columns(v) {
    support::random_values random;
    for (auto* x : {&query, &key, &value}) x->fill([&](auto...) { return random.uniform(-1, 1); });
  }
  wane::keyed_inputs<double> in() const { return {.query = query, .key = key, .value = value}; }
  // y_t is the sum of weight(t, s) v_s over s <= t, divided by the sum of the weights.
  double error(auto const& weight) const {
    support::nearness near;
    for (index t = 0; t < time; ++t) {
      double total = 0;
      for (index s = 0; s <= t; ++s) total += weight(t, s);
      for (index j = 0; j < columns; ++j) {
        double y = 0;
        for (index s = 0; s <= t; ++s) y += weight(t, s) * value(0, s, 0, j) / total;
        near.add(output(0, t, 0, j), y);
      }
    }
    return near.both();
  }
};

// Katharopoulos et al. 2020, equations 7 and 9: weights phi(q_t) . phi(k_s), phi = elu + 1.
TEST(LinearAttentionInParallelForm, IsAMeanOfValues) {
  one_head p(70, 3, 17);
  support::tensor<double> query(1, 70, 1, 3), key(1, 70, 1, 3);
  wane::elu_plus_one<double>(p.query, query.view());
  wane::elu_plus_one<double>(p.key, key.view());
  auto const phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  // Above the floor the scale does not matter.
  for (double scale : {1., 0.01, 30.}) {
    wane::run(linear_attention<double>({.query = query, .key = key, .value = p.value},
                                       {.keys = {.scale = scale}}),
              p.output.view());
    EXPECT_LT(p.error([&](index t, index s) {
      double weight = 0;
      for (index i = 0; i < 3; ++i) weight += phi(p.query(0, t, 0, i)) * phi(p.key(0, s, 0, i));
      return weight;
    }),
              1e-13);
  }
}

// Choromanski et al. 2021: with random features the error to softmax attention falls as the root of
// their number. This is a sixteenth here, but it differs between seeds.
TEST(LinearAttentionOfRandomFeatures, ComesNearSoftmaxAttention) {
  constexpr index time = 40, rows = 4;
  one_head p(time, rows, 5);
  auto const error_of = [&](index features) {
    double total = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      wane::random_features const map(features, rows, seed);
      support::tensor<double> query(1, time, 1, features), key(1, time, 1, features);
      map.map<double>(p.query, query.view());
      map.map<double>(p.key, key.view());
      wane::run(linear_attention<double>({.query = query, .key = key, .value = p.value}),
                p.output.view());
      total += p.error([&](index t, index s) {
        double score = 0;
        for (index i = 0; i < rows; ++i) score += p.query(0, t, 0, i) * p.key(0, s, 0, i);
        return std::exp(score / 2);
      });
    }
    return total / 4;
  };
  double const few = error_of(32), many = error_of(8192);
  EXPECT_LT(many, 0.04);
  EXPECT_LT(many, few / 4);
}

TEST(LinearAttentionFloor, DividesWhereADenominatorIsLess) {
  double const query[] = {1, 1, 1}, key[] = {0, 0.25, 0.75}, value[] = {5, 8, 4};
  double y[3], dv[3], dk[3], dq[3];
  auto const one = [](auto* x) {
    return sequence_view<std::remove_pointer_t<decltype(x)>>(x, 1, 3, 1, 1);
  };
  linear_attention<double> const op({.query = one(query), .key = one(key), .value = one(value)},
                                    {.floor = 0.5});
  wane::run(op, one(y));
  EXPECT_EQ((numbers{y, y + 3}), (numbers{0, 4, 5}));
  // Below the floor y = 2 S q; above it y is the mean.
  double const dy[] = {1, 1, 1};
  wane::adjoint(op, one(dy), {.query = one(dq), .key = one(dk), .value = one(dv)});
  EXPECT_EQ((numbers{dv, dv + 3}), (numbers{0, 0.75, 0.75}));
  EXPECT_EQ((numbers{dk, dk + 3}), (numbers{20, 19, -1}));
  EXPECT_EQ((numbers{dq, dq + 3}), (numbers{0, 4, 0}));
}

// A memory that is empty or has forgotten all gives 0, not 0 / 0.
TEST(LinearAttentionFloor, MakesAnEmptyMemoryAnswerZero) {
  float const zero = 0, one = 1;
  float y = -1;
  auto const scalar = [](auto& x) {
    return sequence_view<std::remove_reference_t<decltype(x)>>(&x, 1, 1, 1, 1);
  };
  wane::run(
      linear_attention<float>({.query = scalar(one), .key = scalar(zero), .value = scalar(one)}),
      scalar(y));
  EXPECT_EQ(y, 0);
}

// The state has a column for z, so that it can be carried over any cut.
TEST(LinearAttentionState, HoldsTheSumsBesidesAndMayBeKeptOnTheWay) {
  constexpr index time = 50, rows = 3, columns = 16;
  memory_case<float> c({1, time, 2, rows, columns});
  c.make_features();
  linear_attention<float> const op(c.in());
  wane::recurrent_state<float> kept(op), again(op);
  EXPECT_EQ(kept.values().size(), 2 * rows * (columns + 1));
  wane::kept_state<float> const keep[] = {{17, kept}};
  wane::run(op, c.output.view(), wane::run_options<float>{.final = c.final, .keep = keep});
  auto const part = [&](auto const& x, index begin, index end) {
    return x.view().tokens(begin, end);
  };
  auto const of = [&](index begin, index end) {
    return linear_attention<float>({.query = part(c.query, begin, end),
                                    .key = part(c.key, begin, end),
                                    .value = part(c.value, begin, end)});
  };
  support::tensor<float> y(1, time, 2, columns);
  wane::run(of(0, 17), part(y, 0, 17), wane::run_options<float>{.final = again});
  EXPECT_EQ(again.values(), kept.values());
  wane::run(of(17, time), part(y, 17, time),
            wane::run_options<float>{.initial = again, .final = again});
  EXPECT_EQ(again.values(), c.final.values());
  y.for_each([&](auto... at) { ASSERT_EQ(y(at...), c.output(at...)); });
}

TEST(LinearAttentionInPlace, MayWriteOverTheValues) {
  for (index columns : {1, 3, 16, 33, 130}) {
    memory_case<float> c({1, 40, 2, 5, columns});
    c.make_features();
    wane::run(linear_attention<float>(c.in()), c.output.view());
    support::tensor<float> over(1, 40, 2, columns);
    over.fill([&](auto... at) { return c.value(at...); });
    wane::run(linear_attention<float>({.query = c.query, .key = c.key, .value = over}),
              over.view());
    over.for_each([&](auto... at) { ASSERT_EQ(over(at...), c.output(at...)) << columns; });
  }
}

// A device runs this form, which does not divide.
TEST(UnnormalisedLinearAttention, GivesNumeratorsAndDenominators) {
  memory_case<double> c({1, 40, 2, 5, 9});
  c.make_features();
  linear_attention<double> const op(c.in());
  wane::run(op, c.output.view());
  support::tensor<double> sums(1, 40, 2, 10);
  wane::run(wane::unnormalised(op), sums.view());
  support::nearness near;
  c.output.for_each([&](auto b, auto t, auto h, auto j) {
    near.add(c.output(b, t, h, j), sums(b, t, h, j) / sums(b, t, h, 9));
  });
  EXPECT_LT(near.both(), 1e-15);
}

}  // namespace
