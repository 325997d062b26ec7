// Feature maps of linear attention in products of two rows: Based's Taylor series, and ReBased.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "wane/core/recurrence/named.hpp"
#include "wane/operators/feature_maps.hpp"

namespace wane::impl {

// The products of degree 2 of z, each once: side z_i^2 for all i, then sqrt(2) side z_i z_j for
// i < j, row by row. The dot product of two such rows is (side z . side z')^2 / side^2.
//
// Calls use(n, i, j, c) for feature n, c z_i z_j.
void for_each_product(index rows, double side, auto const& use) {
  index n = 0;
  for (index i = 0; i < rows; ++i) use(n++, i, i, side);
  for (index i = 0; i < rows; ++i)
    for (index j = i + 1; j < rows; ++j) use(n++, i, j, std::sqrt(2.) * side);
}
inline constexpr index products_of(index rows) { return rows * (rows + 1) / 2; }

// Writes the products from feature `first` on, or adds their adjoint to z_gradient.
template <class Io>
void write_products(std::vector<double> const& z, double side, sequence_view<Io> const& features,
                    place<> at, index first) {
  for_each_product(std::ssize(z), side, [&](index n, index i, index j, double c) {
    double const product = c * z[static_cast<std::size_t>(i)] * z[static_cast<std::size_t>(j)];
    features.write(at, first + n, static_cast<widened<Io>>(product));
  });
}
template <class Io>
void add_adjoint_of_products(std::vector<double> const& z, double side,
                             sequence_view<Io const> const& features_gradient, place<> at,
                             index first, std::vector<double>& z_gradient) {
  for_each_product(std::ssize(z), side, [&](index n, index i, index j, double c) {
    double const g = c * static_cast<double>(features_gradient.read(at, first + n));
    auto const a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    z_gradient[a] += g * z[b], z_gradient[b] += g * z[a];
  });
}

}  // namespace wane::impl

namespace wane {

// The number of features of taylor_of_exp: 153 of 16 rows, where all products would be 273.
inline constexpr index taylor_feature_count(index rows) {
  return 1 + rows + impl::products_of(rows);
}

//   wane::taylor_of_exp<float>(queries, features);
//
// x is [B, T, H, K], features [B, T, H, taylor_feature_count(K)].
// phi(q) . phi(k) = 1 + s + s^2 / 2 > 0, s = q . k / sqrt(K), the Taylor series of the softmax
// kernel. phi(x) is 1, x_i / K^(1/4), x_i^2 / sqrt(2 K), x_i x_j / sqrt(K) for i < j. (Based, Arora
// et al. 2024, with each product once; flash-linear-attention's TaylorFeatureMap.)
template <class Io>
void taylor_of_exp(sequence_view<Io const> x, sequence_view<Io> features) {
  index const rows = x.extent[3];
  impl::check_rows_of("features", features, x, taylor_feature_count(rows));
  double const shrink = std::pow(static_cast<double>(rows), -0.25);
  std::vector<double> z(static_cast<std::size_t>(rows));
  impl::for_each_row(x, [&](place<> at) {
    features.write(at, 0, widened<Io>(1));
    for (index i = 0; i < rows; ++i) {
      double const of_row = static_cast<double>(x.read(at, i)) * shrink;
      z[static_cast<std::size_t>(i)] = of_row;
      features.write(at, 1 + i, static_cast<widened<Io>>(of_row));
    }
    impl::write_products(z, std::sqrt(0.5), features, at, 1 + rows);
  });
}
template <class Io>
void taylor_of_exp_adjoint(sequence_view<Io const> x, sequence_view<Io const> features_gradient,
                           sequence_view<Io> x_gradient) {
  index const rows = x.extent[3];
  impl::check_rows_of("features_gradient", features_gradient, x, taylor_feature_count(rows));
  impl::check_rows_of("x_gradient", x_gradient, x, rows);
  double const shrink = std::pow(static_cast<double>(rows), -0.25);
  std::vector<double> z(static_cast<std::size_t>(rows)), g(z);
  impl::for_each_row(x, [&](place<> at) {
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = static_cast<double>(x.read(at, static_cast<index>(i))) * shrink;
      g[i] = static_cast<double>(features_gradient.read(at, 1 + static_cast<index>(i)));
    }
    impl::add_adjoint_of_products(z, std::sqrt(0.5), features_gradient, at, 1 + rows, g);
    for (std::size_t i = 0; i < z.size(); ++i)
      x_gradient.write(at, static_cast<index>(i), static_cast<widened<Io>>(g[i] * shrink));
  });
}

// The number of features of rebased: 136 of 16 rows.
inline constexpr index rebased_feature_count(index rows) { return impl::products_of(rows); }

// gamma and beta, [K], serve all heads; absent, they are 1 and 0.
template <class T>
struct rebased_parameters {
  impl::by_name only = {};
  impl::named<"gamma", view<T const, 1>> gamma = {};
  impl::named<"beta", view<T const, 1>> beta = {};
  // Rows become (x - mean) / sqrt(variance + epsilon) first. With an epsilon of 0 a row of equal
  // numbers gives NaN.
  bool normalise = true;
  double epsilon = 1e-5;
};

// Any may be absent. Gradients of gamma and beta are sums over all rows of x.
template <class Io>
struct rebased_gradients {
  impl::by_name only = {};
  impl::named<"x", sequence_view<Io>> x = {};
  impl::named<"gamma", view<widened<Io>, 1>> gamma = {};
  impl::named<"beta", view<widened<Io>, 1>> beta = {};
};

}  // namespace wane

namespace wane::impl {

// One row of rebased: the normalised row, and z = gamma norm(x) + beta.
template <class Io>
struct rebased_row {
  using T = widened<Io>;
  rebased_parameters<T> const& p;
  std::vector<double> norm, z;
  double over_deviation = 1;

  // Throws wane::error when a parameter or an option does not fit.
  rebased_row(rebased_parameters<T> const& parameters, index rows)
      : p(parameters), norm(static_cast<std::size_t>(rows)), z(norm) {
    check("gamma", p.gamma, rows), check("beta", p.beta, rows);
    require(std::isfinite(p.epsilon) && p.epsilon >= 0, "epsilon is ", p.epsilon,
            "; it must be finite and 0 or more");
  }
  static void check(char const* name, auto const& of, index rows) {
    require(!of.data || of.extent[0] == rows, name, " has rows ", of.extent[0], "; it must be ",
            rows);
  }

  double gamma(std::size_t i) const {
    return p.gamma.data ? static_cast<double>(p.gamma(static_cast<index>(i))) : 1;
  }
  void read(sequence_view<Io const> const& x, place<> at) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < norm.size(); ++i)
      mean += norm[i] = static_cast<double>(x.read(at, static_cast<index>(i)));
    mean = p.normalise ? mean / static_cast<double>(norm.size()) : 0;
    for (double& n : norm) n -= mean, variance += n * n / static_cast<double>(norm.size());
    over_deviation = p.normalise ? 1 / std::sqrt(variance + p.epsilon) : 1;
    for (std::size_t i = 0; i < norm.size(); ++i) {
      norm[i] *= over_deviation;
      z[i] = gamma(i) * norm[i];
      if (p.beta.data) z[i] += static_cast<double>(p.beta(static_cast<index>(i)));
    }
  }
  // From the gradient of norm(x), in place, to that of x.
  void adjoint_of_norm(std::vector<double>& g) const {
    if (!p.normalise) return;
    double sum = 0, along = 0;
    for (std::size_t i = 0; i < g.size(); ++i) sum += g[i], along += g[i] * norm[i];
    auto const count = static_cast<double>(g.size());
    for (std::size_t i = 0; i < g.size(); ++i)
      g[i] = over_deviation * (g[i] - (sum + norm[i] * along) / count);
  }
};

}  // namespace wane::impl

namespace wane {

//   wane::rebased<float>(queries, features, {.gamma = {gamma, K}, .beta = {beta, K}});
//
// phi(q) . phi(k) = (z(q) . z(k))^2 / K with z(x) = gamma norm(x) + beta, norm the layer norm: a
// parabola whose vertex and width are learnt. phi(x) is z_i^2 / sqrt(K), sqrt(2 / K) z_i z_j for
// i < j. (ReBased, Aksenov et al. 2024; flash-linear-attention's RebasedFeatureMap.)
template <class Io>
void rebased(sequence_view<Io const> x, sequence_view<Io> features,
             rebased_parameters<widened<Io>> const& parameters = {}) {
  index const rows = x.extent[3];
  impl::check_rows_of("features", features, x, rebased_feature_count(rows));
  impl::rebased_row<Io> row(parameters, rows);
  impl::for_each_row(x, [&](place<> at) {
    row.read(x, at);
    impl::write_products(row.z, std::pow(static_cast<double>(rows), -0.5), features, at, 0);
  });
}
template <class Io>
void rebased_adjoint(sequence_view<Io const> x, sequence_view<Io const> features_gradient,
                     std::type_identity_t<rebased_gradients<Io>> const& to,
                     rebased_parameters<widened<Io>> const& parameters = {}) {
  index const rows = x.extent[3];
  impl::check_rows_of("features_gradient", features_gradient, x, rebased_feature_count(rows));
  if (to.x.data) impl::check_rows_of("the gradient of x", to.x, x, rows);
  impl::rebased_row<Io> row(parameters, rows);
  row.check("the gradient of gamma", to.gamma, rows);
  row.check("the gradient of beta", to.beta, rows);
  std::vector<double> g(row.z), of_gamma(g.size()), of_beta(g.size());
  impl::for_each_row(x, [&](place<> at) {
    row.read(x, at);
    std::ranges::fill(g, 0.);
    impl::add_adjoint_of_products(row.z, std::pow(static_cast<double>(rows), -0.5),
                                  features_gradient, at, 0, g);
    for (std::size_t i = 0; i < g.size(); ++i) {
      of_beta[i] += g[i], of_gamma[i] += g[i] * row.norm[i];
      g[i] *= row.gamma(i);
    }
    row.adjoint_of_norm(g);
    for (std::size_t i = 0; to.x.data && i < g.size(); ++i)
      to.x.write(at, static_cast<index>(i), static_cast<widened<Io>>(g[i]));
  });
  for (index i = 0; i < rows; ++i) {
    auto const n = static_cast<std::size_t>(i);
    if (to.gamma.data) to.gamma(i) = static_cast<widened<Io>>(of_gamma[n]);
    if (to.beta.data) to.beta(i) = static_cast<widened<Io>>(of_beta[n]);
  }
}

}  // namespace wane
