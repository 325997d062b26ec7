// retention on banks is VORT's eq. 12, and by linear routing has a gradient by the order.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/retention_problem.hpp"
#include "wane/core/numbers/storage.hpp"
#include "wane/run/check_values.hpp"
#include "wane/spectra/orders/quadrature_sums.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace {

using support::banks, support::distance, support::exact_kernel, support::expect_to_hold;
using support::nearness, support::output_of, support::retention_problem, support::shared_nodes;
using wane::index;
using wane::testing::check_adjoint_laws;
using wane::testing::check_laws;
using namespace wane::spectra;

template <class T>
using nearest_banks = banks<T, routing::nearest>;
template <class T>
using linear_banks = banks<T, routing::linear>;

static_assert(order_nodes<bank_table<float>, float>);
static_assert(!order_nodes<bank_table<float>, double>);
using on_banks = wane::retention<wane::bfloat16, float, bank_table<float>>;
static_assert(wane::scannable<on_banks> && wane::reads_lanes<on_banks>);
static_assert(wane::movable_tensors<on_banks> && std::is_trivially_copyable_v<on_banks>);

// The paper's banks: its exponentials and its lag 0.
template <class T>
struct papers_banks : order_banks<T> {
  static constexpr std::int64_t banks = 10;
  papers_banks(std::int64_t nodes, std::int64_t horizon)
      : order_banks<T>(
            vort_orders(banks, 0.1), 0.1,
            [=](double alpha) { return vort_sum(alpha, nodes, horizon, 0.1); }, lag_zero::of_sum) {}
  bank_table<T> table() const { return order_banks<T>::table(routing::nearest); }
};

// Eq. 12, literally, in double:
//   M_t^(k,s) = lambda_s^(k) M_{t-1}^(k,s) + c_s^(k) 1[k_t* = k] v_t,   y_t = sum_{k,s} M_t^(k,s)
template <class Io>
double distance_from_equation_12(retention_problem<Io, papers_banks<wane::widened<Io>>> const& p) {
  std::vector<exponential_sum> sums;
  auto const orders = vort_orders(papers_banks<double>::banks, 0.1);
  for (double alpha : orders) sums.push_back(vort_sum(alpha, p.nodes, p.horizon, 0.1));
  auto const y = output_of(p);
  auto const number = [](auto x) { return static_cast<double>(x); };
  nearness near;
  for (index b = 0; b < p.batch; ++b)
    for (index h = 0; h < p.heads; ++h)
      for (index j = 0; j < p.columns; ++j) {
        std::vector<std::vector<double>> memory(sums.size());
        for (std::size_t k = 0; k < sums.size(); ++k) memory[k].resize(sums[k].terms());
        for (index t = 0; t < p.tokens; ++t) {
          double const alpha = number(p.orders(p.alpha)(b, t, h));
          std::size_t nearest = 0;
          for (std::size_t k = 1; k < orders.size(); ++k)
            if (std::abs(alpha - orders[k]) < std::abs(alpha - orders[nearest])) nearest = k;
          double sum = 0;
          for (std::size_t k = 0; k < sums.size(); ++k)
            for (std::size_t s = 0; s < sums[k].terms(); ++s) {
              double const written =
                  k == nearest ? sums[k].weights[s] * number(p.values(p.value)(b, t, h, j)) : 0;
              memory[k][s] = std::exp(-sums[k].rates[s]) * memory[k][s] + written;
              sum += memory[k][s];
            }
          near.add(number(p.values(y)(b, t, h, j)), sum);
        }
      }
  return near.both();
}

template <class Io>
class RetentionOnBanks : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(RetentionOnBanks, Types);

TYPED_TEST(RetentionOnBanks, IsEquationTwelve) {
  using T = wane::widened<TypeParam>;
  for (auto [nodes, columns] : {std::pair<std::int64_t, index>{15, 7}, {4, 1}, {3, 64}}) {
    retention_problem<TypeParam, papers_banks<T>> const p{.columns = columns, .nodes = nodes};
    // Roundings of the outputs.
    double const bound = std::is_same_v<TypeParam, double>           ? 1e-14
                         : std::is_same_v<TypeParam, float>          ? 1e-6
                         : std::is_same_v<TypeParam, wane::bfloat16> ? 4e-3
                                                                     : 5e-4;
    EXPECT_LT(distance_from_equation_12(p), bound) << nodes << " " << columns;
  }
}

TYPED_TEST(RetentionOnBanks, MixesTheKernelsOfNeighbours) {
  using T = wane::widened<TypeParam>;
  retention_problem<TypeParam, linear_banks<T>> const p{.columns = 3};
  std::vector<exponential_sum> sums;
  auto const orders = vort_orders(4, 0.1);
  for (double alpha : orders)
    sums.push_back(sum_of_terms(gruenwald_letnikov(alpha), p.horizon, p.nodes));
  auto const mixed = [&](double alpha, index lag) {
    if (alpha <= orders[0]) return sums[0](lag);
    std::size_t k = 0;
    while (k + 2 < orders.size() && orders[k + 1] < alpha) ++k;
    double const x = (alpha - orders[k]) / (orders[k + 1] - orders[k]);
    return (1 - x) * sums[k](lag) + x * sums[k + 1](lag);
  };
  double const bound = std::is_same_v<TypeParam, double>           ? 1e-14
                       : std::is_same_v<TypeParam, float>          ? 1e-6
                       : std::is_same_v<TypeParam, wane::bfloat16> ? 4e-3
                                                                   : 5e-4;
  EXPECT_LT(distance(p, output_of(p), mixed), bound);
}

TEST(RetentionOnBanks, KeepsTheLaws) {
  for (index columns : {1, 65}) {
    expect_to_hold(
        check_laws(retention_problem<float, nearest_banks<float>>{.columns = columns}, 1e-6));
    expect_to_hold(
        check_laws(retention_problem<double, linear_banks<double>>{.columns = columns}, 1e-12));
  }
}

// Moves orders so that differences cross neither the ends nor a change of routing.
template <class Problem>
void keep_away(Problem& p, std::vector<double> const& corners) {
  for (double& alpha : p.alpha)
    for (double corner : corners)
      if (std::abs(alpha - corner) < 0.01) alpha = corner + 0.01;
}

TEST(RetentionOnBanks, HasGradientsByLinearRouting) {
  for (index columns : {1, 7, 16}) {
    retention_problem<double, linear_banks<double>> p{
        .tokens = 40, .columns = columns, .least = 0.11, .most = 0.98};
    keep_away(p, vort_orders(4, 0.1));
    expect_to_hold(check_adjoint_laws(p, 1e-8));
  }
}

TEST(RetentionOnBanks, HasNoGradientByTheOrderByNearestRouting) {
  retention_problem<double, nearest_banks<double>> p{.tokens = 40, .least = 0.11, .most = 0.98};
  keep_away(p, {0.4375, 0.6625, 0.8875});
  expect_to_hold(check_adjoint_laws(p, 1e-8));
  adjoint(p.make(0, p.tokens), p.values(p.value), p.gradients());
  for (double g : p.to_alpha) EXPECT_EQ(g, 0);
}

// Rounding of orders costs accuracy: ten banks of 15 exponentials against 16 shared exponentials.
TEST(RetentionOfAMillionTokens, OnBanksIsWorseThanOnSharedNodesSlow) {
  auto const error_on = [](auto weights, std::int64_t nodes) {
    retention_problem<double, decltype(weights)> const p{.batch = 1,
                                                         .tokens = 1000000,
                                                         .heads = 1,
                                                         .columns = 2,
                                                         .nodes = nodes,
                                                         .horizon = 1000000,
                                                         .weights = weights};
    double const error = distance(p, output_of(p), exact_kernel, 99999, 300000);
    std::printf("%ld nodes: %.2e\n", long(weights.table().nodes()), error);
    return error;
  };
  double const shared = error_on(shared_nodes<double>(16, 1000000), 16);
  double const nearest = error_on(banks<double, routing::nearest, 10>(15, 1000000), 15);
  double const linear = error_on(banks<double, routing::linear, 10>(15, 1000000), 15);
  EXPECT_LT(shared, 2e-3);
  EXPECT_LT(linear, 0.2);
  EXPECT_GT(linear, 100 * shared);
  EXPECT_LT(nearest, 1);
  EXPECT_GT(nearest, linear);
}

TEST(RetentionOnBanks, KnowsNoOrdersOutside) {
  retention_problem<float, nearest_banks<float>> p{.batch = 1, .heads = 1};
  p.alpha[9] = 0.05f;
  support::expect_error({"direct at batch 0, time 9, head 0", "finite"},
                        [&] { check_values(p.make(0, p.tokens)); });
  p.alpha[9] = 0.2f;  // below the first bank
  EXPECT_NO_THROW(check_values(p.make(0, p.tokens)));
}

TEST(RetentionOnBanks, RefusesBanksThatAreNone) {
  retention_problem<float, nearest_banks<float>> const p{};
  support::expect_error({"the nodes of retention are empty"}, [&] {
    wane::retention<float, float, bank_table<float>>(
        {.value = p.values(p.value), .alpha = p.orders(p.alpha)}, {});
  });
}

}  // namespace
