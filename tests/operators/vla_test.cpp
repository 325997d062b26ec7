// vla equals its formula for every layout of its tensors, and its rules keep their promises.
// SPDX-License-Identifier: MIT
#include "wane/operators/vla.hpp"

#include <gtest/gtest.h>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "support/vla_loop.hpp"
#include "wane/operators/delta_net.hpp"
#include "wane/run/run.hpp"

namespace {

using support::arrangement;
using support::index;
using support::tensor;
using wane::vla;
using wane::vla_options;
using enum wane::write_rule;

static_assert(wane::penalised_memory<vla<float>>);
static_assert(!wane::affine_recurrence<vla<float>>);
static_assert(requires(wane::vla_inputs<float> const& in) { vla<float>(in, {}); });

struct vla_shape {
  index batch, time, heads, rows, columns, groups;
  bool directions = false;
  vla_options options = {.lambda = 0.1, .epsilon = 0};
  arrangement how = arrangement::plain;
  bool reverse = false;
  std::vector<index> starts = {};  // of packed sequences
};

template <class Io>
struct vla_case {
  using T = wane::widened<Io>;
  vla_shape shape;
  tensor<Io> query, key, direction, value, output;
  std::vector<T> lambda;

  explicit vla_case(vla_shape const& s)
      : shape(s),
        query(s.batch, s.time, s.groups, s.rows, s.how),
        key(s.batch, s.time, s.groups, s.rows, s.how),
        direction(s.batch, s.time, s.groups, s.rows, s.how),
        value(s.batch, s.time, s.heads, s.columns, s.how),
        output(s.batch, s.time, s.heads, s.columns, s.how) {
    support::random_values random(3);
    auto const even = [&](auto...) { return random.uniform(-1, 1); };
    query.fill(even), key.fill(even), direction.fill(even), value.fill(even);
    for (index h = 0; h < s.heads; ++h)
      lambda.push_back(static_cast<T>(s.options.lambda * double(1 + h)));
  }

  template <wane::write_rule Rule>
  vla<Io, Rule> op() const {
    wane::vla_inputs<Io> in{
        .query = query, .key = key, .value = value, .lambda = {lambda.data(), shape.heads}};
    if (shape.directions) in.direction = direction;
    return vla<Io, Rule>(in, shape.options);
  }

  // The largest error of the current outputs, relative to the largest output.
  template <class Real = long double>
  double error(wane::write_rule rule) const {
    support::nearness near;
    index const sequences =
        shape.starts.empty() ? shape.batch : static_cast<index>(shape.starts.size()) - 1;
    for (index n = 0; n < sequences; ++n)
      for (index h = 0; h < shape.heads; ++h) {
        using loop = support::vla_loop<Real>;
        loop memory(rule, shape.options.refresh, Real(lambda[static_cast<std::size_t>(h)]),
                    shape.rows, shape.columns);
        index const b = shape.starts.empty() ? n : 0, group = h / (shape.heads / shape.groups);
        auto const i = static_cast<std::size_t>(n);
        index const begin = shape.starts.empty() ? 0 : shape.starts[i],
                    end = shape.starts.empty() ? shape.time : shape.starts[i + 1];
        for (index k = begin; k < end; ++k) {
          index const t = shape.reverse ? begin + end - 1 - k : k;
          auto const row = [&](tensor<Io> const& x, index head) {
            typename loop::vector to(x.view().extent[3]);
            for (index c = 0; c < to.size(); ++c)
              to(c) = static_cast<Real>(static_cast<T>(x.view()(b, t, head, c)));
            return to;
          };
          auto const y = memory.take(row(query, group), row(key, group),
                                     row(shape.directions ? direction : key, group), row(value, h));
          for (index j = 0; j < shape.columns; ++j)
            near.add(static_cast<double>(static_cast<T>(output.view()(b, t, h, j))),
                     static_cast<double>(y(j)));
        }
      }
    return near.both();
  }
};

template <class Io>
constexpr double bound = std::is_same_v<Io, double>           ? 1e-12
                         : std::is_same_v<Io, float>          ? 1e-5
                         : std::is_same_v<Io, wane::bfloat16> ? 0x1p-8
                                                              : 0x1p-11;

template <class Io, wane::write_rule Rule>
void expect_right(vla_shape const& shape) {
  vla_case<Io> c(shape);
  auto const op = c.template op<Rule>();
  run(op, c.output.view(),
      wane::run_options<wane::widened<Io>>{
          .packed = {shape.starts},
          .direction = shape.reverse ? wane::direction::reverse : wane::direction::forward});
  EXPECT_LE(c.error(Rule), bound<Io>);
  if (!shape.starts.empty() || shape.reverse) return;
  c.output.fill([](auto...) { return -7; });
  wane::recurrent_state<wane::widened<Io>> state(op);
  step(op, c.output.view(), state);
  EXPECT_LE(c.error(Rule), bound<Io>) << "step";
}

template <class Io>
void expect_all_right(vla_shape shape) {
  SCOPED_TRACE(testing::PrintToString(std::vector<index>{shape.time, shape.rows, shape.columns}));
  expect_right<Io, rls>(shape);
  expect_right<Io, projective>(shape);
  expect_right<Io, unit>(shape);
  shape.directions = true;
  expect_right<Io, projective>(shape);
  expect_right<Io, unit>(shape);
}

template <class Io>
class Vla : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(Vla, Types);

TYPED_TEST(Vla, IsItsFormula) {
  for (vla_shape const& shape : {vla_shape{2, 20, 4, 5, 3, 2}, vla_shape{1, 1, 1, 1, 1, 1},
                                 vla_shape{1, 65, 1, 16, 9, 1}, vla_shape{1, 33, 2, 33, 40, 2}})
    expect_all_right<TypeParam>(shape);
}

TYPED_TEST(Vla, InEveryArrangement) {
  for (arrangement how : support::all_arrangements)
    expect_all_right<TypeParam>({2, 18, 2, 6, 5, 2, false, {.lambda = 0.1, .epsilon = 0}, how});
}

TYPED_TEST(Vla, PackedAndBackwards) {
  vla_shape shape{1, 45, 2, 6, 5, 1};
  shape.reverse = true;
  expect_all_right<TypeParam>(shape);
  shape.starts = {0, 3, 3, 20, 45};
  expect_all_right<TypeParam>(shape);
}

TYPED_TEST(Vla, Refreshed) {
  for (index every : {1, 3, 20})
    expect_all_right<TypeParam>(
        {2, 50, 2, 6, 5, 2, false, {.lambda = 0.1, .refresh = {every, 0.02}, .epsilon = 0}});
}

// For directions of length c, M / c^2 is that of lambda / c^2 and of length 1.
TEST(VlaLength, IsALambda) {
  vla_case<double> c({1, 40, 1, 6, 5, 1, true, {.lambda = 0.1, .epsilon = 0}});
  run(vla<double, unit>(
          {.query = c.query, .key = c.key, .value = c.value, .direction = c.direction},
          {.lambda = 0.1 * 0.25, .length = 0.5, .epsilon = 0}),
      c.output.view());
  EXPECT_LE(c.error(unit), 1e-12);
}

// After n < K pairs, rls recalls all of them, up to lambda. projective recalls the last one
// exactly.
TEST(VlaRecall, IsThatOfTheRules) {
  index const n = 24, rows = 32;
  vla_case<double> c({1, n + n, 1, rows, 4, 1, false, {.lambda = 1e-9, .epsilon = 1e-30}});
  for (index t = n; t < 2 * n; ++t)
    for (index i = 0; i < rows; ++i) c.query(0, t, 0, i) = c.key(0, t - n, 0, i);
  for (index i = 0; i < rows; ++i) c.query(0, n - 1, 0, i) = c.key(0, n - 1, 0, i);
  // The second half of the tokens does not write.
  for (index t = n; t < 2 * n; ++t)
    for (index i = 0; i < rows; ++i) c.key(0, t, 0, i) = 0;
  auto const worst = [&](index first, index last, index moved) {
    support::nearness near;
    for (index t = first; t < last; ++t)
      for (index j = 0; j < 4; ++j) near.add(c.output(0, t, 0, j), c.value(0, t - moved, 0, j));
    return near.of_largest();
  };
  run(c.op<rls>(), c.output.view());
  EXPECT_LT(worst(n, 2 * n, n), 1e-7);
  run(c.op<projective>(), c.output.view());
  EXPECT_LT(worst(n, 2 * n, n), 1e-6);
  EXPECT_LT(worst(n - 1, n, 0), 1e-12);
  run(c.op<unit>(), c.output.view());
  EXPECT_GT(worst(n, 2 * n, n), 0.1);
}

// rls solves the normal equations after every token.
TEST(VlaLeastSquares, AreSolvedAfterEveryToken) {
  index const time = 60, rows = 16, columns = 3;
  vla_case<double> c({1, time, 1, rows, columns, 1, false, {.lambda = 0.01, .epsilon = 0}});
  c.lambda = {0.01};
  Eigen::MatrixXd gram = 0.01 * Eigen::MatrixXd::Identity(rows, rows),
                  moment = Eigen::MatrixXd::Zero(rows, columns);
  wane::recurrent_state<double> state(1, 1, rows, columns + rows);
  for (index t = 0; t < time; ++t) {
    auto const own = [t](auto const& x) { return x.view().tokens(t, t + 1); };
    wane::vla_inputs<double> const in{.query = own(c.query),
                                      .key = own(c.key),
                                      .value = own(c.value),
                                      .lambda = {c.lambda.data(), 1}};
    run(vla<double>(in, c.shape.options), c.output.view().tokens(t, t + 1),
        wane::run_options<double>{.initial = std::as_const(state), .final = state});
    Eigen::VectorXd key(rows), value(columns);
    for (index i = 0; i < rows; ++i) key(i) = c.key(0, t, 0, i);
    for (index j = 0; j < columns; ++j) value(j) = c.value(0, t, 0, j);
    key.normalize();
    gram += key * key.transpose(), moment += key * value.transpose();
    Eigen::MatrixXd const best = gram.llt().solve(moment);
    for (index i = 0; i < rows; ++i)
      for (index j = 0; j < columns; ++j)
        ASSERT_NEAR(state.values()[static_cast<std::size_t>(i * (columns + rows) + j)], best(i, j),
                    1e-10 * best.norm());
  }
}

}  // namespace
