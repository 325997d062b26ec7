// Feature maps: their equations, adjoints, and a kernel that is right on average.
// SPDX-License-Identifier: MIT
#include "wane/operators/feature_maps.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"

namespace {

using support::index;
using support::tensor;
using wane::random_features;

// x [2, 3, 2, K] of numbers up to `size`.
template <class Io>
void fill(tensor<Io>& x, double size = 1) {
  support::random_values random(5);
  x.fill([&](auto...) { return random.uniform(-size, size); });
}

template <class Io>
wane::sequence_view<Io const> read(tensor<Io> const& x) {
  return x;
}

// <g, map(x)> against central differences, h = 1e-5: h^2 and eps / h are 1e-10.
template <class Map, class Adjoint>
double adjoint_error(index rows, index features, Map const& map, Adjoint const& adjoint) {
  tensor<double> x(2, 3, 2, rows), g(2, 3, 2, features), phi(2, 3, 2, features), dx(2, 3, 2, rows);
  fill(x, 2), fill(g);
  adjoint(read(x), read(g), dx.view());
  auto const loss = [&] {
    map(read(x), phi.view());
    double total = 0;
    g.for_each([&](auto... at) { total += g(at...) * phi(at...); });
    return total;
  };
  support::nearness near;
  x.for_each([&](auto... at) {
    double const before = x(at...);
    x(at...) = before + 1e-5;
    double const up = loss();
    x(at...) = before - 1e-5;
    near.add(dx(at...), (up - loss()) / 2e-5);
    x(at...) = before;
  });
  return near.both();
}

TEST(EluPlusOne, IsItsEquation) {
  tensor<float> x(1, 1, 1, 5), y(1, 1, 1, 5);
  float const in[] = {-HUGE_VALF, -1, 0, 2, 1e30f}, out[] = {0, std::exp(-1.f), 1, 3, 1e30f};
  x.fill([&](index, index, index, index i) { return in[i]; });
  wane::elu_plus_one(read(x), y.view());
  for (index i = 0; i < 5; ++i) EXPECT_EQ(y(0, 0, 0, i), out[i]);
}

TEST(EluPlusOne, HasItsAdjoint) {
  EXPECT_LE(adjoint_error(
                7, 7, [](auto... a) { wane::elu_plus_one(a...); },
                [](auto... a) { wane::elu_plus_one_adjoint(a...); }),
            1e-8);
}

TEST(RandomFeatures, AreTheirEquation) {
  random_features const map(11, 5, 3);
  tensor<double> x(2, 3, 2, 5), phi(2, 3, 2, 11);
  fill(x);
  map.map(read(x), phi.view());
  support::nearness near;
  phi.for_each([&](index b, index t, index h, index m) {
    double dot = 0, size = 0;
    for (index i = 0; i < 5; ++i) {
      double const u = x(b, t, h, i) / std::pow(5, 0.25);
      dot += u * map.direction(m, i), size += u * u;
    }
    near.add(phi(b, t, h, m), std::exp(dot - size / 2) / std::sqrt(11));
  });
  EXPECT_LE(near.both(), 1e-14);  // exponents of order 5 cost that many eps
}

TEST(RandomFeatures, HaveTheirAdjoint) {
  random_features const map(11, 5, 3);
  for (wane::random_feature_options const options :
       {wane::random_feature_options{0, false}, {1.5, false}, {0, true}, {-1, true}})
    EXPECT_LE(adjoint_error(
                  5, 11, [&](auto... a) { map.map(a..., options); },
                  [&](auto... a) { map.map_adjoint(a..., options); }),
              1e-8);
}

TEST(RandomFeatures, AreOrthogonalInGroups) {
  random_features const map(40, 16, 1);
  for (index a = 0; a < 40; ++a)
    for (index b = 0; b < a; ++b) {
      double dot = 0, length_a = 0, length_b = 0;
      for (index i = 0; i < 16; ++i) {
        dot += map.direction(a, i) * map.direction(b, i);
        length_a += map.direction(a, i) * map.direction(a, i);
        length_b += map.direction(b, i) * map.direction(b, i);
      }
      if (a / 16 == b / 16)
        EXPECT_LE(std::abs(dot), 1e-14 * std::sqrt(length_a * length_b));
      else
        EXPECT_GT(std::abs(dot), 1e-14 * std::sqrt(length_a * length_b));
    }
}

// The squared lengths of Gaussian vectors: mean K, variance 2 K. 4000 of them: within 4 deviations.
TEST(RandomFeatures, AreAsLongAsGaussianVectors) {
  random_features const map(4000, 16, 2);
  double mean = 0, square = 0;
  for (index m = 0; m < 4000; ++m) {
    double length = 0;
    for (index i = 0; i < 16; ++i) length += map.direction(m, i) * map.direction(m, i);
    mean += length / 4000, square += length * length / 4000;
  }
  EXPECT_NEAR(mean, 16, 4 * std::sqrt(32. / 4000));
  EXPECT_NEAR(square - mean * mean, 32, 4 * 32 * std::sqrt(3.5 / 4000));
}

// Mean and error bar of phi(q) . phi(k) over 2000 seeds, against exp(q . k / sqrt(K)).
TEST(RandomFeatures, EstimateTheSoftmaxKernelWithoutBias) {
  constexpr index rows = 8, features = 16, seeds = 2000;
  tensor<double> x(1, 2, 1, rows), phi(1, 2, 1, features);
  fill(x);
  double dot = 0;
  for (index i = 0; i < rows; ++i) dot += x(0, 0, 0, i) * x(0, 1, 0, i);
  double const kernel = std::exp(dot / std::sqrt(rows));
  double mean = 0, square = 0;
  for (index seed = 0; seed < seeds; ++seed) {
    random_features(features, rows, static_cast<std::uint64_t>(seed)).map(read(x), phi.view());
    double estimate = 0;
    for (index m = 0; m < features; ++m) estimate += phi(0, 0, 0, m) * phi(0, 1, 0, m);
    mean += estimate / seeds, square += estimate * estimate / seeds;
  }
  double const error_bar = std::sqrt((square - mean * mean) / seeds);
  EXPECT_NEAR(mean, kernel, 4 * error_bar);
  EXPECT_LT(error_bar, 0.02 * kernel);  // small enough for the line above to mean something
  RecordProperty("kernel", std::to_string(kernel));
  RecordProperty("mean", std::to_string(mean));
  RecordProperty("error_bar", std::to_string(error_bar));
}

// A constant scales all features; a constant by row makes the greatest feature 1 / sqrt(M).
TEST(RandomFeatures, AreStabilisedAsSaid) {
  random_features const map(12, 4, 1);
  tensor<float> x(2, 3, 2, 4), plain(2, 3, 2, 12), scaled(2, 3, 2, 12), by_row(2, 3, 2, 12);
  fill(x);
  map.map(read(x), plain.view());
  map.map(read(x), scaled.view(), {.stabiliser = 2, .stabilised_by_row = false});
  plain.for_each([&](auto... at) {
    EXPECT_NEAR(scaled(at...), plain(at...) * std::exp(-2.f), 3e-7f * plain(at...));
  });
  fill(x, 1e4);  // overflows or underflows without stabiliser
  map.map(read(x), by_row.view(), {.stabiliser = 0, .stabilised_by_row = true});
  for (index t = 0; t < 3; ++t) {
    float greatest = 0;
    for (index m = 0; m < 12; ++m) greatest = std::max(greatest, by_row(1, t, 1, m));
    EXPECT_EQ(greatest, 1 / std::sqrt(12.f));
  }
}

// These were drawn on one machine. All others agree, up to the rounding of log, sin and cos.
TEST(RandomFeatures, DependOnTheSeedAlone) {
  random_features const map(3, 2, 42);
  double const drawn[][2] = {{-1.0724871110652803, -1.2804670159501657},
                             {1.0022833709002026, -0.83948745538585934},
                             {-0.12180521812080808, 0.10041733808689454}};
  for (index m = 0; m < 3; ++m)
    for (index i = 0; i < 2; ++i) EXPECT_NEAR(map.direction(m, i), drawn[m][i], 1e-13) << m << i;
}

TEST(FeatureMaps, SayWhatDoesNotFit) {
  tensor<float> x(1, 2, 1, 4), y(1, 2, 1, 6), z(1, 3, 1, 4);
  support::expect_error({"features", "0"}, [] { random_features(0, 4, 1); });
  support::expect_error({"rows", "-1"}, [] { random_features(4, -1, 1); });
  random_features const map(6, 4, 1);
  support::expect_error({"x has columns 6", "4"}, [&] { map.map(read(y), y.view()); });
  support::expect_error({"features has columns 4", "6"}, [&] { map.map(read(x), x.view()); });
  support::expect_error({"features has time 3", "2"},
                        [&] { wane::elu_plus_one(read(x), z.view()); });
  support::expect_error({"stabiliser", "inf"}, [&] {
    map.map(read(x), y.view(), {.stabiliser = HUGE_VAL, .stabilised_by_row = false});
  });
}

}  // namespace
