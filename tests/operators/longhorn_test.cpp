// longhorn is the step of its paper, keeps every law, and has the gradients of all inputs.
// SPDX-License-Identifier: MIT
#include "wane/operators/longhorn.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/gated_problems.hpp"
#include "support/laws_hold.hpp"
#include "support/memory_case.hpp"
#include "support/naive_gated.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace {

using support::expect_error, support::index, support::memory_case, support::memory_shape;
using wane::longhorn, wane::sequence_view;
using wane::testing::longhorn_problem, wane::testing::memory_size;

using longhorn_token = wane::token_of<longhorn<float>>;
static_assert(wane::scannable<longhorn<float>> && wane::reads_lanes<longhorn<float>>);
static_assert(wane::has_element_log_decay<longhorn_token>);
static_assert(wane::has_key<longhorn_token> && wane::has_skip<longhorn_token>);

template <class Io>
class Longhorn : public testing::Test {
 public:
  using number = wane::widened<Io>;

  // Steps beta in [0, most), keys up to `longest` in each row.
  static void expect_formula(memory_shape const& shape, double most = 2, double longest = 1) {
    memory_case<Io> c(shape);
    support::tensor<Io> beta(shape.batch, shape.time, shape.heads, shape.columns, shape.how);
    support::random_values random(3);
    beta.fill([&](auto...) { return random.uniform(0, most); });
    c.key.fill([&](auto...) { return random.uniform(-longest, longest); });
    std::vector<number> direct;
    for (index i = 0; i < shape.heads * shape.columns; ++i)
      direct.push_back(static_cast<number>(random.uniform(-1, 1)));
    wane::view<number const, 2> const D(direct.data(), shape.heads, shape.columns);
    auto inputs = c.naive();
    inputs.rate = beta;
    c.expect(longhorn<Io>({.query = c.query, .key = c.key, .value = c.value, .beta = beta, .D = D}),
             inputs, [&](auto&... token) {
               return support::naive_longhorn<double>(
                   token..., [&](index h, index j) { return static_cast<double>(D(h, j)); });
             });
  }
};
using Types = testing::Types<float, double, wane::bfloat16>;
TYPED_TEST_SUITE(Longhorn, Types);

TYPED_TEST(Longhorn, IsItsFormula) {
  using enum support::arrangement;
  using wane::direction;
  // One row, the paper's 16, and more than the runner of few rows takes.
  for (index rows : {1, 5, 16, 70})
    for (index columns : {1, 5, 17, 70}) this->expect_formula({2, 37, 1, rows, columns});
  for (auto how : support::all_arrangements)
    this->expect_formula({2, 37, 2, 5, 9, 0, {}, how, direction::reverse});
  this->expect_formula({1, 71, 2, 9, 8, 0, {}, plain, direction::forward, {0, 0, 1, 17, 64, 71}});
  this->expect_formula({2, 33, 6, 5, 3, 2});
  this->expect_formula({2, 0, 2, 4, 3});
}

// Nothing is written, almost nothing is, and almost nothing is left. In float a factor of
// 1 - 1e-9 would be 1.
TYPED_TEST(Longhorn, IsItsFormulaHoweverFarItsStepsGo) {
  for (double most : {0., 1e-9, 1e-3, 1e4}) this->expect_formula({1, 300, 1, 4, 9}, most);
  for (double longest : {0., 1e-5, 100.}) this->expect_formula({1, 300, 1, 4, 9}, 1, longest);
}

TEST(LonghornWithLogits, StepsByTheirSigmoid) {
  memory_case<double> c({1, 40, 1, 4, 5});
  support::tensor<double> logits(1, 40, 1, 5), beta(1, 40, 1, 5);
  double const bias[] = {-1, 0, 2, -800, 800};
  support::random_values random(3);
  logits.fill([&](auto...) { return random.uniform(-5, 5); });
  beta.fill([&](auto b, auto t, auto h, auto j) {
    return 1 / (1 + std::exp(-logits(b, t, h, j) - bias[j]));
  });
  auto inputs = c.naive();
  inputs.rate = beta;
  c.expect(longhorn<double>({.query = c.query,
                             .key = c.key,
                             .value = c.value,
                             .beta = logits,
                             .beta_bias = {bias, 1, 5}},
                            {.sigmoid = true}),
           inputs, [](auto&... token) {
             return support::naive_longhorn<double>(token..., [](index, index) { return 0.; });
           });
}

// What the paper derives: s is the least of |s - s_before|^2 + beta (k . s - x)^2, found by
// forgetting a row at a time. With one row it is that minimum.
TEST(LonghornOfOneRow, IsTheMinimumOfItsLoss) {
  for (double beta : {0., 0.5, 100.}) {
    double const k = 0.7, x = 3, before = -2, query = 1;
    double y = NAN;
    wane::recurrent_state<double> state(1, 1, 1, 1);
    state.values()[0] = before;
    wane::run(longhorn<double>({.query = {&query, 1, 1, 1, 1},
                                .key = {&k, 1, 1, 1, 1},
                                .value = {&x, 1, 1, 1, 1},
                                .beta = {&beta, 1, 1, 1, 1}}),
              sequence_view<double>(&y, 1, 1, 1, 1),
              wane::run_options<double>{.initial = std::as_const(state)});
    EXPECT_NEAR((y - before) + beta * k * (k * y - x), 0, 1e-14 * (1 + beta)) << beta;
  }
}

TEST(Longhorn, KeepsTheLaws) {
  for (memory_size const& size : {memory_size{1, 100, 1, 16, 1},
                                  {1, 100, 1, 16, 33},
                                  {2, 70, 4, 3, 70, 2},
                                  {1, 30, 1, 65, 9}}) {
    support::expect_to_hold(check_laws(longhorn_problem<float>(size), 1e-6));
    support::expect_to_hold(check_laws(longhorn_problem<double>(size), 1e-12));
  }
}

TEST(Longhorn, KeepsTheLawsOverRanks) {
  support::expect_to_hold(
      wane::testing::check_sharded_laws(longhorn_problem<double>({1, 60, 2, 4, 9}), 1e-12));
}

TEST(Longhorn, HasTheGradientsOfAllInputs) {
  for (memory_size const& size :
       {memory_size{2, 40, 1, 1, 3}, {1, 50, 4, 3, 21, 2}, {1, 20, 1, 66, 8}, {1, 70, 1, 5, 40}})
    for (bool sigmoid : {true, false}) {
      longhorn_problem<double> problem(size, sigmoid);
      support::expect_to_hold(check_adjoint_laws(problem, 1e-8));
    }
}

// Channels that are not neighbours are taken one by one.
TEST(Longhorn, HasTheSameGradientsWhicheverWayItsTensorsLie) {
  constexpr index time = 20, rows = 3, columns = 17;
  using support::arrangement;
  std::vector<std::vector<double>> found;
  for (arrangement how : {arrangement::plain, arrangement::spread}) {
    using tensor = support::tensor<double>;
    tensor q(1, time, 1, rows, how), k(1, time, 1, rows, how), x(1, time, 1, columns, how),
        beta(1, time, 1, columns, how), dy(1, time, 1, columns, how);
    tensor dq(1, time, 1, rows, how), dk(1, time, 1, rows, how), dx(1, time, 1, columns, how),
        dbeta(1, time, 1, columns, how);
    support::random_values random(1);
    for (auto* of : {&q, &k, &x, &beta, &dy})
      of->fill([&](auto...) { return random.uniform(0, 1); });
    wane::adjoint(longhorn<double>({.query = q, .key = k, .value = x, .beta = beta}),
                  sequence_view<double const>(dy.view()),
                  {.query = dq.view(), .key = dk.view(), .value = dx.view(), .beta = dbeta.view()});
    found.emplace_back();
    for (auto const* of : {&dq, &dk, &dx, &dbeta})
      of->for_each([&](auto... at) { found.back().push_back((*of)(at...)); });
  }
  support::nearness near;
  for (std::size_t n = 0; n < found[0].size(); ++n) near.add(found[1][n], found[0][n]);
  EXPECT_LT(near.both(), 1e-14);
}

// Where a step overwrites all, the gradients are those of the write alone, and finite.
TEST(Longhorn, HasFiniteGradientsWhereNothingIsLeft) {
  for (float beta : {0.f, 1.f, 1e8f, 1e30f}) {
    std::vector<float> const query(3, 1), key(3, 1), value{2, 3, 5}, steps(3, beta), dy(3, 1);
    std::vector<float> to_key(3, NAN), to_beta(3, NAN), to_value(3, NAN);
    auto const of = [](std::vector<float> const& x) {
      return sequence_view<float const>(x.data(), 1, 3, 1, 1);
    };
    wane::adjoint(longhorn<float>(
                      {.query = of(query), .key = of(key), .value = of(value), .beta = of(steps)}),
                  of(dy),
                  {.key = {to_key.data(), 1, 3, 1, 1},
                   .value = {to_value.data(), 1, 3, 1, 1},
                   .beta = {to_beta.data(), 1, 3, 1, 1}},
                  {});
    for (float g : to_key) EXPECT_TRUE(std::isfinite(g)) << beta;
    for (float g : to_beta) EXPECT_TRUE(std::isfinite(g)) << beta;
    if (beta > 1e7f)  // s = x / k
      for (std::size_t t = 0; t < 3; ++t) {
        EXPECT_NEAR(to_value[t], 1, 1e-6);
        EXPECT_NEAR(to_key[t], -value[t], 1e-5f);
      }
  }
}

template <class T>
void expect_logs(double most_units) {
  support::random_values random(3);
  using lanes = wane::simd<T, wane::simd_width<T>>;
  for (int n = 0; n < 100000; ++n) {
    bool const near_one = n % 3 == 0;
    double const size = std::exp(random.uniform(near_one ? -14 : -60, 0));
    T const u = static_cast<T>(near_one ? 1 - size : size);
    T const log = wane::impl::log_of_complement(u);
    long double const exact = std::log1p(-static_cast<long double>(u));
    double const unit = std::numeric_limits<T>::epsilon();
    if (u == T(1))
      EXPECT_EQ(log, -HUGE_VAL);
    else
      EXPECT_NEAR(static_cast<double>(static_cast<long double>(log) / exact), 1, most_units * unit)
          << static_cast<double>(u);
    EXPECT_EQ(wane::impl::log_of_complement(lanes(u))[1], log);
  }
  EXPECT_EQ(wane::impl::log_of_complement(T(0)), 0);
  EXPECT_EQ(wane::impl::log_of_complement(T(1)), -HUGE_VAL);
  EXPECT_EQ(wane::impl::log_of_complement(T(1e-30)), T(-1e-30));
}
TEST(LogOfComplement, LosesNothing) { expect_logs<float>(3), expect_logs<double>(3); }

TEST(Longhorn, RefusesWhatDoesNotFit) {
  float const zeros[200] = {};
  sequence_view<float const> const rows(zeros, 2, 3, 4, 5), columns(zeros, 2, 3, 4, 6);
  wane::longhorn_inputs<float> const good{
      .query = rows, .key = rows, .value = columns, .beta = columns};
  auto in = good;
  auto const refused = [&](std::vector<std::string> const& why) {
    std::vector<float> y(144, -7.f);
    expect_error(
        why, [&] { wane::run(longhorn<float>(in), sequence_view<float>(y.data(), 2, 3, 4, 6)); });
    EXPECT_EQ(y, std::vector<float>(144, -7.f));
    in = good;
  };
  in.beta = {};
  refused({"beta is not given"});
  in.key = {};
  refused({"key is not given"});
  in.beta = rows;
  refused({"beta has columns 5", "must be 6"});
  in.D = {zeros, 4, 5};
  refused({"D has columns 5", "must be 6"});
  in.beta_bias = {zeros, 3, 6};
  refused({"beta_bias has heads 3", "must be 4"});
  std::vector<float> sums(24);
  expect_error({"the gradient of D has shape [6, 4]; it must be [4, 6]"}, [&] {
    wane::adjoint(longhorn<float>(good), columns, {.D = {sums.data(), 6, 4}});
  });
  expect_error({"the gradient of beta", "5", "must be 6"}, [&] {
    wane::adjoint(longhorn<float>(good), columns, {.beta = {sums.data(), 2, 3, 4, 5}});
  });
}

}  // namespace
