// Feature maps of linear attention: elu + 1, and positive random features of the softmax kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/core/checks.hpp"

namespace wane {

// A keyed memory whose queries and keys are phi(query) and phi(key) weighs what a key wrote by
// phi(q) . phi(k). Maps go from x [B, T, H, K] to [B, T, H, M] and their adjoints back, from
// dL/dphi and x to dL/dx; inputs and outputs do not overlap. All throw wane::error, before anything
// is written, when a shape does not fit.

// Calls use(batch, time, head) for every row of x.
template <class T, class Use>
void for_each_row(sequence_view<T> const& x, Use const& use) {
  for (index b = 0; b < x.extent[0]; ++b)
    for (index t = 0; t < x.extent[1]; ++t)
      for (index h = 0; h < x.extent[2]; ++h) use(place<>{b, t, h});
}

// The check of a tensor of the rows of x, with `columns` channels.
template <class T, class Io>
void check_rows_of(char const* name, sequence_view<T> const& is, sequence_view<Io> const& x,
                   index columns) {
  check(name, is, recurrence_shape{x.extent[0], x.extent[1], x.extent[2], 1, columns});
}

// phi(x) = elu(x) + 1: x + 1 for x > 0, otherwise e^x. (Katharopoulos et al. 2020, equation 7)
template <class Io>
void elu_plus_one(sequence_view<Io const> x, sequence_view<Io> features) {
  check_rows_of("features", features, x, x.extent[3]);
  for_each_row(x, [&](place<> at) {
    for (index i = 0; i < x.extent[3]; ++i) {
      auto const z = x.read(at, i);
      features.write(at, i, z > 0 ? z + 1 : std::exp(z));
    }
  });
}
template <class Io>
void elu_plus_one_adjoint(sequence_view<Io const> x, sequence_view<Io const> features_gradient,
                          sequence_view<Io> x_gradient) {
  check_rows_of("features_gradient", features_gradient, x, x.extent[3]);
  check_rows_of("x_gradient", x_gradient, x, x.extent[3]);
  for_each_row(x, [&](place<> at) {
    for (index i = 0; i < x.extent[3]; ++i) {
      auto const z = x.read(at, i);
      auto const g = features_gradient.read(at, i);
      x_gradient.write(at, i, z > 0 ? g : g * std::exp(z));
    }
  });
}

// Positive random features of the softmax kernel with scale 1/sqrt(K) (FAVOR+, Choromanski et al.
// 2021, lemma 1): with u = x / K^(1/4) and M directions omega,
//   phi_m(x) = exp(omega_m . u - |u|^2 / 2) / sqrt(M),    E phi(q) . phi(k) = exp(q . k / sqrt(K)).
// The directions come in groups of K that are orthogonal, each as long as a Gaussian vector: every
// one is Gaussian, so the estimate has no bias, and its variance is less than that of independent
// ones. They depend on the seed alone, up to the rounding of log, sin and cos.
//
// A feature leaves the range of float where omega . u - |u|^2 / 2 exceeds 88. `stabiliser` is taken
// from every exponent: as a constant c it scales phi by e^-c, which a normalised memory,
// phi(q) . S / phi(q) . sum phi(k), does not notice. (The maximum over all keys, which some take, is
// not causal: it looks at tokens to come.) With `stabiliser_by_row`, each row takes its own greatest
// exponent: right for queries, whose factor the normaliser cancels, wrong for keys, whose weights it
// would change.
class random_features {
 public:
  // Throws wane::error unless features, rows > 0.
  random_features(index features, index rows, std::uint64_t seed)
      : features_(features), rows_(rows), state_(seed) {
    require(features > 0, "features is ", features, "; it must be positive");
    require(rows > 0, "rows is ", rows, "; it must be positive");
    for (index done = 0; done < features; done += rows) add_group(std::min(rows, features - done));
  }

  index features() const { return features_; }
  index rows() const { return rows_; }
  // [M, K], row-major.
  std::vector<double> const& directions() const { return directions_; }

  struct options {
    double stabiliser = 0;
    bool stabiliser_by_row = false;
  };

  // features [B, T, H, M] receives phi(x), x [B, T, H, K].
  template <class Io>
  void operator()(sequence_view<Io const> x, sequence_view<Io> features) const {
    map(x, features, options{});
  }
  template <class Io>
  void map(sequence_view<Io const> x, sequence_view<Io> features, options const& with) const {
    check_rows_of("x", x, x, rows_), check_rows_of("features", features, x, features_);
    std::vector<double> exponents(static_cast<std::size_t>(features_));
    for_each_row(x, [&](place<> at) {
      find_exponents(x, at, with, exponents);
      for (index m = 0; m < features_; ++m) features.write(at, m, feature(exponents, m));
    });
  }

  // dL/dx = sum_m dL/dphi_m phi_m (omega_m - u) / K^(1/4), where the exponents are not stabilised by
  // row; where they are, the greatest exponent counts as a constant.
  template <class Io>
  void adjoint(sequence_view<Io const> x, sequence_view<Io const> features_gradient,
               sequence_view<Io> x_gradient, options const& with) const;

 private:
  std::uint64_t bits() {  // splitmix64 (Steele et al. 2014)
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  index features_, rows_;
  std::uint64_t state_;
  std::vector<double> directions_;
};

}  // namespace wane
