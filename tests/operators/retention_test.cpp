// retention is the sum of values faded by power laws, each with its own order, over shared rates.
// SPDX-License-Identifier: MIT
#include "wane/operators/retention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/retention_problem.hpp"
#include "wane/core/numbers/storage.hpp"
#include "wane/run/check_values.hpp"
#include "wane/spectra/orders/fractional_convolution.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace {

using support::distance, support::exact_kernel, support::expect_to_hold, support::output_of;
using support::retention_problem;
using wane::index;
using wane::spectra::gruenwald_letnikov;
using wane::testing::check_adjoint_laws;
using wane::testing::check_laws;

static_assert(wane::scannable<wane::retention<float>>);
static_assert(wane::reads_lanes<wane::retention<wane::bfloat16>>);
static_assert(std::is_trivially_copyable_v<wane::retention<double>>);

template <class Io>
class Retention : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(Retention, Types);

TYPED_TEST(Retention, IsItsFormula) {
  using T = wane::widened<TypeParam>;
  for (auto [nodes, columns] : {std::pair<std::int64_t, index>{8, 7}, {16, 1}, {19, 64}}) {
    retention_problem<TypeParam> p{.tokens = 40, .columns = columns, .nodes = nodes};
    auto const table = p.weights.table();
    auto const kernel = [&](double alpha, index lag) {
      auto const order = table.at(static_cast<T>(alpha));
      double sum = lag ? 0 : static_cast<double>(order.weight(table.nodes()));
      for (index s = 0; s < table.nodes(); ++s)
        sum += static_cast<double>(order.weight(s)) *
               std::exp(static_cast<double>(table.log_decay(0, 0, 0, s)) * double(lag));
      return sum;
    };
    // Roundings of the outputs, and in float of some weights of either sign near order 1.
    double const bound = std::is_same_v<TypeParam, double>           ? 1e-14
                         : std::is_same_v<TypeParam, float>          ? 1e-6
                         : std::is_same_v<TypeParam, wane::bfloat16> ? 4e-3
                                                                     : 5e-4;
    EXPECT_LT(distance(p, output_of(p), kernel), bound) << nodes << " " << columns;
  }
}

// Orders are from 0.1 to 1, at every token. Shared rates promise 1e-3 and 1e-4 of each kernel.
TEST(RetentionOfAMillionTokens, IsThePowerLawOfEveryToken) {
  constexpr index tokens = 1000000;
  retention_problem<float> const drawn{.batch = 1, .tokens = tokens, .heads = 1, .columns = 1};
  std::vector<double> const value(drawn.value.begin(), drawn.value.end()),
      alpha(drawn.alpha.begin(), drawn.alpha.end());
  std::vector<double> exact(tokens);
  wane::spectra::fractional_convolution<double>({value.data(), 1, tokens, 1, 1},
                                                {alpha.data(), 1, tokens, 1},
                                                {exact.data(), 1, tokens, 1, 1});
  auto const check = [&](auto zero, std::int64_t nodes, double bound) {
    using Io = decltype(zero);
    std::vector<Io> const v(value.begin(), value.end()), orders(alpha.begin(), alpha.end());
    std::vector<Io> y(tokens);
    wane::spectra::order_weights<Io> const weights(support::rates_of(nodes, tokens));
    run(wane::retention<Io>(
            {.value = {v.data(), 1, tokens, 1, 1}, .alpha = {orders.data(), 1, tokens, 1}},
            weights.table()),
        {y.data(), 1, tokens, 1, 1});
    support::nearness near;
    for (std::size_t t = 0; t < y.size(); ++t) near.add(double(y[t]), exact[t]);
    EXPECT_LT(near.both(), bound) << nodes;
  };
  check(0., 16, 1e-3);
  check(0.f, 16, 1e-3);
  check(0., 19, 1e-4);
  check(0.f, 19, 1e-4);
}

// A single 1 and then zeros for a hundred million tokens. What is left in float is the sum of
// exponentials, also at rates of 1e-8 and below.
TEST(RetentionOfOneToken, IsTheSumAfterAHundredMillionSlow) {
  constexpr index piece = 1000000, pieces = 100;
  for (auto [nodes, horizon] :
       {std::pair<std::int64_t, std::int64_t>{16, piece}, {22, 100000000}}) {
    wane::spectra::order_weights<float> const weights(support::rates_of(nodes, horizon));
    auto const table = weights.table();
    std::vector<float> v(piece), y(piece);
    for (float order : {0.2f, 0.6f}) {
      wane::token_view<float const> const alpha(&order, {1, piece, 1}, {0, 0, 0});
      wane::retention<float> const op({.value = {v.data(), 1, piece, 1, 1}, .alpha = alpha}, table);
      wane::recurrent_state<float> state(op);
      v[0] = 1;
      for (index n = 1; n <= pieces; ++n) {
        run(op, wane::sequence_view<float>(y.data(), 1, piece, 1, 1),
            wane::run_options<float>{.initial = state, .final = state});
        v[0] = 0;
        double left = 0;
        for (index s = 0; s < table.nodes(); ++s)
          left += double{table.at(order).weight(s)} *
                  std::exp(double{table.log_decay(0, 0, 0, s)} * double(n * piece - 1));
        EXPECT_NEAR(y.back() / left, 1, 2e-5) << nodes << " nodes, order " << order << ", " << n;
      }
    }
  }
}

// alpha = 1 forgets nothing within the horizon.
TEST(RetentionOfOrderOne, IsASum) {
  retention_problem<float> p{.batch = 1, .tokens = 1000, .heads = 1, .columns = 1, .nodes = 14};
  p.value.assign(1000, 1.f), p.alpha.assign(1000, 1.f);
  std::vector<float> const y = output_of(p);
  for (std::size_t t = 0; t < 1000; ++t)
    EXPECT_NEAR(y[t] / static_cast<float>(t + 1), 1, 1e-4f) << t;
}

TEST(Retention, KeepsTheLaws) {
  for (index columns : {1, 65}) {
    expect_to_hold(check_laws(retention_problem<float>{.columns = columns}, 1e-6));
    expect_to_hold(check_laws(retention_problem<double>{.columns = columns, .nodes = 19}, 1e-12));
  }
}

TEST(Retention, HasTheGradientsOfValuesAndOrders) {
  for (index columns : {1, 7, 16}) {
    // Orders keep away from their ends, so that differences do not cross these.
    retention_problem<double> p{.tokens = 40, .columns = columns, .least = 0.11, .most = 0.99};
    expect_to_hold(check_adjoint_laws(p, 1e-8));
  }
}

// The gradient is also that of the power law, not only of the sum of exponentials.
TEST(Retention, HasTheGradientByTheOrderOfThePowerLaw) {
  retention_problem<double> p{.batch = 1, .tokens = 400, .heads = 1, .columns = 3, .nodes = 14};
  std::vector<double> dy = p.value;
  std::reverse(dy.begin(), dy.end());
  adjoint(p.make(0, p.tokens), p.values(dy), p.gradients());
  support::nearness near;
  for (index i = 0; i < p.tokens; ++i) {
    gruenwald_letnikov const kernel(p.alpha[std::size_t(i)]);
    double wanted = 0;
    for (index t = i; t < p.tokens; ++t)
      for (index j = 0; j < 3; ++j)
        wanted +=
            p.values(dy)(0, t, 0, j) * kernel.derivative(t - i) * p.values(p.value)(0, i, 0, j);
    near.add(p.to_alpha[std::size_t(i)], wanted);
  }
  EXPECT_LT(near.both(), 1e-3);
}

TEST(Retention, KnowsNoOrdersOutside) {
  retention_problem<float> p{.batch = 1, .tokens = 20, .heads = 1, .columns = 5};
  p.alpha[9] = 0.05f;
  std::vector<float> const y = output_of(p);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i >= 9 * 5) << i;
  support::expect_error({"direct at batch 0, time 9, head 0", "finite"},
                        [&] { check_values(p.make(0, 20)); });
  p.alpha[9] = 0.5f;
  EXPECT_NO_THROW(check_values(p.make(0, 20)));
}

TEST(Retention, RefusesWhatDoesNotFit) {
  retention_problem<float> p{.tokens = 3};
  using op = wane::retention<float>;
  wane::retention_inputs<float> in{.value = p.values(p.value), .alpha = p.orders(p.alpha)};
  support::expect_error({"the nodes of retention are empty"}, [&] { op(in, {}); });
  in.alpha.extent[2] = 2;
  support::expect_error({"alpha has heads 2", "it must be 3"}, [&] { op(in, p.weights.table()); });
  std::vector<float> y(p.value.size());
  in.alpha.extent[2] = 3, in.alpha.data = nullptr;
  support::expect_error({"alpha has no data"},
                        [&] { run(op(in, p.weights.table()), p.values(y)); });
}

}  // namespace
