// Feature maps of linear attention: elu + 1, and positive random features of the softmax kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "wane/core/recurrence/checks.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::impl {

// A keyed memory with the queries phi(q) and the keys phi(k) weighs values by phi(q) . phi(k). Maps
// go from x, [B, T, H, K], to phi(x), [B, T, H, M]; adjoints go from dL/dphi and x to dL/dx. Inputs
// and outputs do not overlap. All throw wane::error, before anything is written, when a shape does
// not fit.

// Calls use(batch, time, head) for every row of x.
template <class T, class Use>
void for_each_row(sequence_view<T> const& x, Use const& use) {
  for (index b = 0; b < x.extent[0]; ++b)
    for (index t = 0; t < x.extent[1]; ++t)
      for (index h = 0; h < x.extent[2]; ++h) use(place<>{b, t, h});
}

// Checks a tensor with the rows of x and `columns` channels.
template <class T, class Io>
void check_rows_of(char const* name, sequence_view<T> const& is, sequence_view<Io> const& x,
                   index columns) {
  check(name, is, recurrence_shape{x.extent[0], x.extent[1], x.extent[2], 1, columns});
}

}  // namespace wane::impl

namespace wane {

//   wane::elu_plus_one<float>(queries, features);
//
// phi(x) = elu(x) + 1: x + 1 for x > 0, otherwise e^x. (Katharopoulos et al. 2020, equation 7)
template <class Io>
void elu_plus_one(sequence_view<Io const> x, sequence_view<Io> features) {
  impl::check_rows_of("features", features, x, x.extent[3]);
  impl::for_each_row(x, [&](place<> at) {
    for (index i = 0; i < x.extent[3]; ++i) {
      auto const z = x.read(at, i);
      features.write(at, i, z > 0 ? z + 1 : std::exp(z));
    }
  });
}
template <class Io>
void elu_plus_one_adjoint(sequence_view<Io const> x, sequence_view<Io const> features_gradient,
                          sequence_view<Io> x_gradient) {
  impl::check_rows_of("features_gradient", features_gradient, x, x.extent[3]);
  impl::check_rows_of("x_gradient", x_gradient, x, x.extent[3]);
  impl::for_each_row(x, [&](place<> at) {
    for (index i = 0; i < x.extent[3]; ++i) {
      auto const z = x.read(at, i);
      auto const g = features_gradient.read(at, i);
      x_gradient.write(at, i, z > 0 ? g : g * std::exp(z));
    }
  });
}

struct random_feature_options {
  // Subtracted from every exponent: scales phi by e^-stabiliser.
  double stabiliser = 0;
  // Subtracts from the exponents of a row also the greatest of them.
  bool stabilised_by_row = false;
};

//   wane::random_features const phi(256, K, 1);  // 256 features, seed 1
//   phi.map<float>(queries, query_features, {.stabilised_by_row = true});
//   phi.map<float>(keys, key_features);
//
// Positive random features of the softmax kernel with scale 1/sqrt(K) (FAVOR+, Choromanski et al.
// 2021, lemma 1): with u = x / K^(1/4) and M directions omega,
//   phi_m(x) = exp(omega_m . u - |u|^2 / 2) / sqrt(M),    E phi(q) . phi(k) = exp(q . k / sqrt(K)).
// Directions come in orthogonal groups of K, each as long as a Gaussian vector. Every direction is
// Gaussian, so the estimate has no bias; its variance is below that of independent directions
// (theorem 2). Directions depend on the seed alone, up to the rounding of log, sin and cos.
//
// A float overflows where an exponent exceeds 88, and underflows below -87. A normalised memory,
// phi(q) . S / phi(q) . sum phi(k), does not change when a constant is subtracted from all
// exponents
// (`stabiliser`), nor when each row of queries has a constant of its own (`stabilised_by_row`). For
// keys a constant for each row would change their weights. (Other libraries subtract the greatest
// exponent over all keys, which depends on later tokens.)
class random_features {
 public:
  // Throws wane::error unless there are features and rows.
  random_features(index features, index rows, std::uint64_t seed)
      : features_(features), rows_(rows) {
    require(features > 0, "features is ", features, "; it must be positive");
    require(rows > 0, "rows is ", rows, "; it must be positive");
    directions_.resize(static_cast<std::size_t>(features * rows));
    std::mt19937_64 bits(seed);
    for (index m = 0; m < features; ++m) add_direction(m, bits);
  }

  index features() const { return features_; }
  index rows() const { return rows_; }
  double direction(index m, index i) const { return directions_[at(m, i)]; }

  // features [B, T, H, M] receives phi(x), x [B, T, H, K].
  template <class Io>
  void map(sequence_view<Io const> x, sequence_view<Io> features,
           random_feature_options const& options = {}) const {
    impl::check_rows_of("x", x, x, rows_);
    impl::check_rows_of("features", features, x, features_);
    check_options(options);
    exponents e(*this);
    impl::for_each_row(x, [&](place<> where) {
      e.find(*this, x, where, options);
      for (index m = 0; m < features_; ++m)
        features.write(where, m, static_cast<widened<Io>>(feature(e, m)));
    });
  }

  // x_gradient [B, T, H, K] receives dL/dx.
  template <class Io>
  void map_adjoint(sequence_view<Io const> x, sequence_view<Io const> features_gradient,
                   sequence_view<Io> x_gradient, random_feature_options const& options = {}) const {
    impl::check_rows_of("x", x, x, rows_);
    impl::check_rows_of("features_gradient", features_gradient, x, features_);
    impl::check_rows_of("x_gradient", x_gradient, x, rows_);
    check_options(options);
    exponents e(*this);
    impl::for_each_row(x, [&](place<> where) {
      e.find(*this, x, where, options);
      double total = 0;
      for (index m = 0; m < features_; ++m) {
        double const g = static_cast<double>(features_gradient.read(where, m)) * feature(e, m);
        e.of[static_cast<std::size_t>(m)] = g;
        total += g;
      }
      // The greatest exponent is subtracted from all; |u|^2 / 2 cancels.
      if (options.stabilised_by_row) e.of[static_cast<std::size_t>(e.greatest)] -= total, total = 0;
      for (index i = 0; i < rows_; ++i) {
        double g = -total * e.u[static_cast<std::size_t>(i)];
        for (index m = 0; m < features_; ++m)
          g += e.of[static_cast<std::size_t>(m)] * direction(m, i);
        x_gradient.write(where, i, static_cast<widened<Io>>(g * shrink()));
      }
    });
  }

 private:
  // For one row: u, and the exponents omega . u - |u|^2 / 2 after the subtractions.
  struct exponents {
    std::vector<double> u, of;
    index greatest = 0;

    explicit exponents(random_features const& map)
        : u(static_cast<std::size_t>(map.rows_)), of(static_cast<std::size_t>(map.features_)) {}

    template <class Io>
    void find(random_features const& map, sequence_view<Io const> const& x, place<> where,
              random_feature_options const& options) {
      double size = 0;
      std::ranges::fill(of, 0.0);
      for (index i = 0; i < map.rows_; ++i) {
        double const z = static_cast<double>(x.read(where, i)) * map.shrink();
        u[static_cast<std::size_t>(i)] = z;
        size += z * z;
        for (std::size_t m = 0; m < of.size(); ++m) of[m] += map.directions_[map.at(0, i) + m] * z;
      }
      auto const most = std::ranges::max_element(of);
      greatest = most - of.begin();
      double const taken = options.stabiliser + (options.stabilised_by_row ? *most : size / 2);
      for (double& exponent : of) exponent -= taken;
    }
  };

  static void check_options(random_feature_options const& options) {
    require(std::isfinite(options.stabiliser), "stabiliser is ", options.stabiliser,
            "; it must be finite");
  }
  double feature(exponents const& e, index m) const {
    return std::exp(e.of[static_cast<std::size_t>(m)]) / std::sqrt(static_cast<double>(features_));
  }
  // K^(-1/4)
  double shrink() const { return 1 / std::sqrt(std::sqrt(static_cast<double>(rows_))); }
  std::size_t at(index m, index i) const { return static_cast<std::size_t>(i * features_ + m); }

  // A vector of K Gaussian numbers. (Box and Muller 1958)
  std::vector<double> gaussian(std::mt19937_64& bits) const {
    std::vector<double> x;
    while (x.size() < static_cast<std::size_t>(rows_)) {
      double const radius = std::sqrt(-2 * std::log(1 - spectra::unit_uniform(bits)));
      double const angle = 2 * std::numbers::pi * spectra::unit_uniform(bits);
      x.push_back(radius * std::cos(angle)), x.push_back(radius * std::sin(angle));
    }
    x.resize(static_cast<std::size_t>(rows_));
    return x;
  }
  static double length(std::vector<double> const& x) {
    double total = 0;
    for (double z : x) total += z * z;
    return std::sqrt(total);
  }

  // A Gaussian direction, made orthogonal to the earlier ones of its group (twice, against
  // rounding), with the length of another Gaussian vector.
  void add_direction(index m, std::mt19937_64& bits) {
    std::vector<double> x = gaussian(bits);
    for (int twice = 0; twice < 2; ++twice)
      for (index before = m / rows_ * rows_; before < m; ++before) {
        double along = 0, size = 0;
        for (index i = 0; i < rows_; ++i) {
          along += x[static_cast<std::size_t>(i)] * direction(before, i);
          size += direction(before, i) * direction(before, i);
        }
        for (index i = 0; i < rows_; ++i)
          x[static_cast<std::size_t>(i)] -= along / size * direction(before, i);
      }
    double const factor = length(gaussian(bits)) / length(x);
    for (index i = 0; i < rows_; ++i)
      directions_[at(m, i)] = factor * x[static_cast<std::size_t>(i)];
  }

  index features_, rows_;
  std::vector<double> directions_;  // [K, M]
};

}  // namespace wane
