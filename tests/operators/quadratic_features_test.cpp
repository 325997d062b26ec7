// Features in products of two rows: their kernels, order and adjoints, and means of values.
// SPDX-License-Identifier: MIT
#include "wane/operators/quadratic_features.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index;
using support::tensor;

template <class T>
void fill(tensor<T>& x, std::uint64_t seed, double size = 2) {
  support::random_values random(seed);
  x.fill([&](auto...) { return random.uniform(-size, size); });
}
template <class T>
wane::sequence_view<T const> read(tensor<T> const& x) {
  return x;
}
template <class T>
double dot(tensor<T> const& x, tensor<T> const& y, index t) {
  double total = 0;
  for (index i = 0; i < x.view().extent[3]; ++i)
    total += static_cast<double>(static_cast<wane::widened<T>>(x(1, t, 1, i))) *
             static_cast<double>(static_cast<wane::widened<T>>(y(1, t, 1, i)));
  return total;
}

// z = gamma norm(x) + beta of one row, from the definition of the layer norm.
std::vector<double> shifted(std::vector<double> x, std::vector<double> const& gamma,
                            std::vector<double> const& beta) {
  double mean = 0, variance = 0;
  for (double each : x) mean += each / static_cast<double>(x.size());
  for (double each : x) variance += (each - mean) * (each - mean) / static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = gamma[i] * (x[i] - mean) / std::sqrt(variance + 1e-5) + beta[i];
  return x;
}

std::vector<double> some(index count, std::uint64_t seed) {
  support::random_values random(seed);
  std::vector<double> x;
  for (index i = 0; i < count; ++i) x.push_back(random.uniform(-1, 1));
  return x;
}

template <class Io>
class QuadraticFeatures : public testing::Test {};
using Types = testing::Types<float, double, wane::bfloat16>;
TYPED_TEST_SUITE(QuadraticFeatures, Types);

// Rounded to 8, 24 or 53 bits; the kernels' terms have one sign or are at most a few times them.
template <class Io>
constexpr double bound = std::is_same_v<Io, double>  ? 1e-14
                         : std::is_same_v<Io, float> ? 1e-6
                                                     : 0.02;

TYPED_TEST(QuadraticFeatures, OfTaylorHaveTheSeriesOfExpAsProducts) {
  for (index rows : {1, 2, 5, 16}) {
    index const features = wane::taylor_feature_count(rows);
    EXPECT_EQ(features, 1 + rows + rows * (rows + 1) / 2);
    tensor<TypeParam> q(2, 3, 2, rows), k(2, 3, 2, rows), a(2, 3, 2, features),
        b(2, 3, 2, features);
    fill(q, 1), fill(k, 2);
    wane::taylor_of_exp(read(q), a.view()), wane::taylor_of_exp(read(k), b.view());
    for (index t = 0; t < 3; ++t) {
      double const s = dot(q, k, t) / std::sqrt(static_cast<double>(rows));
      double const length = 1 + dot(q, q, t) + dot(k, k, t);  // of the rows, which may cancel
      EXPECT_NEAR(dot(a, b, t), 1 + s + s * s / 2, bound<TypeParam> * length);
    }
  }
}

TYPED_TEST(QuadraticFeatures, OfRebasedHaveASquareAsProduct) {
  using number = wane::widened<TypeParam>;
  for (index rows : {2, 5, 16}) {
    index const features = wane::rebased_feature_count(rows);
    tensor<TypeParam> q(2, 3, 2, rows), k(2, 3, 2, rows), a(2, 3, 2, features),
        b(2, 3, 2, features);
    fill(q, 1), fill(k, 2);
    std::vector<number> gamma, beta;
    for (double x : some(rows, 3)) gamma.push_back(static_cast<number>(x));
    for (double x : some(rows, 4)) beta.push_back(static_cast<number>(x));
    wane::rebased_parameters<number> const p{.gamma = {gamma.data(), rows},
                                             .beta = {beta.data(), rows}};
    wane::rebased(read(q), a.view(), p), wane::rebased(read(k), b.view(), p);
    std::vector<double> const wide_gamma(gamma.begin(), gamma.end()),
        wide_beta(beta.begin(), beta.end());
    for (index t = 0; t < 3; ++t) {
      std::vector<double> x, y;
      for (index i = 0; i < rows; ++i) {
        x.push_back(static_cast<double>(static_cast<number>(q(1, t, 1, i))));
        y.push_back(static_cast<double>(static_cast<number>(k(1, t, 1, i))));
      }
      x = shifted(x, wide_gamma, wide_beta), y = shifted(y, wide_gamma, wide_beta);
      double product = 0, size_x = 0, size_y = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        product += x[i] * y[i], size_x += x[i] * x[i], size_y += y[i] * y[i];
      double const count = static_cast<double>(rows);
      EXPECT_NEAR(dot(a, b, t), product * product / count,
                  bound<TypeParam> * size_x * size_y / count);
    }
  }
}

// As in flash-linear-attention: 1, the row, its squares, and products of two rows in order.
TEST(TaylorOfExp, HasItsFeaturesInOrder) {
  tensor<double> x(1, 1, 1, 4), y(1, 1, 1, 15);
  double const in[] = {2, 3, 5, 7};
  x.fill([&](index, index, index, index i) { return in[i]; });
  wane::taylor_of_exp(read(x), y.view());
  double const root = std::sqrt(2.), eighth = std::sqrt(8.);
  double const out[] = {1,          2 / root,   3 / root,    5 / root,    7 / root,
                        4 / eighth, 9 / eighth, 25 / eighth, 49 / eighth, 3,
                        5,          7,          7.5,         10.5,        17.5};
  for (index i = 0; i < 15; ++i) EXPECT_NEAR(y(0, 0, 0, i), out[i], 1e-14) << i;
}

TEST(Rebased, HasItsFeaturesInOrder) {
  tensor<double> x(1, 1, 1, 2), y(1, 1, 1, 3);
  x.fill([&](index, index, index, index i) { return 3. + static_cast<double>(i); });
  wane::rebased(read(x), y.view(), {.normalise = false});
  double const out[] = {9 / std::sqrt(2.), 16 / std::sqrt(2.), 12};
  for (index i = 0; i < 3; ++i) EXPECT_NEAR(y(0, 0, 0, i), out[i], 1e-14) << i;
}

// A gradient against central differences of <g, phi>, h = 1e-5: h^2 and eps / h are 1e-10.
template <class Loss>
double distance(std::vector<double*> const& inputs, std::vector<double> const& gradient,
                Loss const& loss) {
  support::nearness near;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    double const before = *inputs[i];
    *inputs[i] = before + 1e-5;
    double const up = loss();
    *inputs[i] = before - 1e-5;
    near.add(gradient[i], (up - loss()) / 2e-5);
    *inputs[i] = before;
  }
  return near.both();
}
template <class T>
auto numbers_of(tensor<T>& x) {
  std::vector<T*> all;
  x.for_each([&](auto... at) { all.push_back(&x(at...)); });
  return all;
}
std::vector<double> values_of(tensor<double>& x) {
  std::vector<double> all;
  for (double* each : numbers_of(x)) all.push_back(*each);
  return all;
}

TEST(TaylorOfExp, HasItsAdjoint) {
  tensor<double> x(2, 3, 2, 5), g(2, 3, 2, 21), phi(2, 3, 2, 21), dx(2, 3, 2, 5);
  fill(x, 5), fill(g, 6);
  wane::taylor_of_exp_adjoint(read(x), read(g), dx.view());
  auto const loss = [&] {
    wane::taylor_of_exp(read(x), phi.view());
    double total = 0;
    g.for_each([&](auto... at) { total += g(at...) * phi(at...); });
    return total;
  };
  EXPECT_LE(distance(numbers_of(x), values_of(dx), loss), 1e-8);
}

TEST(Rebased, HasItsAdjoint) {
  for (bool normalise : {true, false})
    for (bool has_parameters : {true, false}) {
      tensor<double> x(2, 3, 2, 5), g(2, 3, 2, 15), phi(2, 3, 2, 15), dx(2, 3, 2, 5);
      fill(x, 5), fill(g, 6);
      auto gamma = some(5, 7), beta = some(5, 8);
      std::vector<double> to_gamma(5, NAN), to_beta(5, NAN);
      wane::rebased_parameters<double> p{.normalise = normalise, .epsilon = 0.01};
      if (has_parameters) p.gamma = {gamma.data(), 5}, p.beta = {beta.data(), 5};
      wane::rebased_adjoint(
          read(x), read(g),
          {.x = dx.view(), .gamma = {to_gamma.data(), 5}, .beta = {to_beta.data(), 5}}, p);
      auto const loss = [&] {
        wane::rebased(read(x), phi.view(), p);
        double total = 0;
        g.for_each([&](auto... at) { total += g(at...) * phi(at...); });
        return total;
      };
      EXPECT_LE(distance(numbers_of(x), values_of(dx), loss), 1e-8);
      if (!has_parameters) continue;
      auto const pointers = [](std::vector<double>& of) {
        std::vector<double*> all;
        for (double& each : of) all.push_back(&each);
        return all;
      };
      EXPECT_LE(distance(pointers(gamma), to_gamma, loss), 1e-8);
      EXPECT_LE(distance(pointers(beta), to_beta, loss), 1e-8);
    }
}

// A row of equal numbers has no direction: beta is left.
TEST(Rebased, TakesARowOfEqualNumbersAsBeta) {
  tensor<float> x(1, 1, 1, 2), y(1, 1, 1, 3), g(1, 1, 1, 3), dx(1, 1, 1, 2);
  for (float each : {0.f, 7.f, 1e30f}) {
    x.fill([&](auto...) { return each; }), fill(g, 1);
    float const beta[] = {3, 4};
    wane::rebased_parameters<float> const p{.beta = {beta, 2}};
    wane::rebased(read(x), y.view(), p);
    EXPECT_FLOAT_EQ(y(0, 0, 0, 0), 9 / std::sqrt(2.f));
    EXPECT_FLOAT_EQ(y(0, 0, 0, 2), 12);
    wane::rebased_adjoint(read(x), read(g), {.x = dx.view()}, p);
    EXPECT_TRUE(std::isfinite(dx(0, 0, 0, 0)));
  }
}

TEST(Rebased, WritesOnlyTheGradientsThatAreGiven) {
  tensor<double> x(1, 2, 1, 3), g(1, 2, 1, 6);
  fill(x, 1), fill(g, 2);
  std::vector<double> beta(3, NAN);
  wane::rebased_adjoint(read(x), read(g), {.beta = {beta.data(), 3}});
  for (double each : beta) EXPECT_TRUE(std::isfinite(each));
}

// Based without its features: y_t = sum over s <= t of (1 + a + a^2 / 2) v_s, a = q_t . k_s / 2,
// over the sum of these weights.
TEST(LinearAttentionOfTaylorFeatures, IsAMeanWeighedByTheSeriesOfExp) {
  index const time = 30, rows = 4, features = wane::taylor_feature_count(rows);
  tensor<float> q(1, time, 1, rows), k(1, time, 1, rows), v(1, time, 1, 3), y(1, time, 1, 3),
      phi_q(1, time, 1, features), phi_k(1, time, 1, features);
  fill(q, 1), fill(k, 2), fill(v, 3);
  wane::taylor_of_exp(read(q), phi_q.view()), wane::taylor_of_exp(read(k), phi_k.view());
  wane::run(wane::linear_attention<float>({.query = phi_q, .key = phi_k, .value = v}), y.view());
  support::nearness near;
  for (index t = 0; t < time; ++t)
    for (index j = 0; j < 3; ++j) {
      double above = 0, below = 0;
      for (index s = 0; s <= t; ++s) {
        double a = 0;
        for (index i = 0; i < rows; ++i)
          a += static_cast<double>(q(0, t, 0, i)) * static_cast<double>(k(0, s, 0, i)) / 2;
        double const weight = 1 + a + a * a / 2;
        above += weight * static_cast<double>(v(0, s, 0, j)), below += weight;
      }
      near.add(static_cast<double>(y(0, t, 0, j)), above / below);
    }
  EXPECT_LT(near.both(), 1e-6);
}

TEST(FeaturesOfProducts, SayWhatDoesNotFit) {
  tensor<float> x(1, 2, 1, 4), y(1, 2, 1, 6), phi(1, 2, 1, 15), squares(1, 2, 1, 10);
  std::vector<float> three(3);
  support::expect_error({"features has columns 6", "15"},
                        [&] { wane::taylor_of_exp(read(x), y.view()); });
  support::expect_error({"features_gradient has columns 6", "15"},
                        [&] { wane::taylor_of_exp_adjoint(read(x), read(y), x.view()); });
  support::expect_error({"x_gradient has columns 6", "4"},
                        [&] { wane::taylor_of_exp_adjoint(read(x), read(phi), y.view()); });
  support::expect_error({"features has columns 6", "10"},
                        [&] { wane::rebased(read(x), y.view()); });
  support::expect_error({"gamma has rows 3", "4"}, [&] {
    wane::rebased(read(x), squares.view(), {.gamma = {three.data(), 3}});
  });
  support::expect_error({"beta has rows 3", "4"}, [&] {
    wane::rebased(read(x), squares.view(), {.beta = {three.data(), 3}});
  });
  support::expect_error({"epsilon is -1", "0 or more"},
                        [&] { wane::rebased(read(x), squares.view(), {.epsilon = -1}); });
  support::expect_error({"the gradient of gamma has rows 3", "4"}, [&] {
    wane::rebased_adjoint(read(x), read(squares), {.gamma = {three.data(), 3}});
  });
}

}  // namespace
