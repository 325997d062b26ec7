// Calls of vla with the rule rls: whole, in pieces, by tokens, packed, padded, reversed, wrong.
// SPDX-License-Identifier: MIT
#include "fuzz/keyed_case.hpp"
#include "wane/operators/vla.hpp"

namespace {

using fuzz::index, fuzz::row;

// S <- S + alpha (v - S^T k)^T, y = S^T q, alpha = M^-1 k, M <- M + k k^T, M_0 = lambda I, with
// P = M^-1 kept by Sherman and Morrison: P <- P - P k k^T P / (1 + k^T P k).
struct vla_loop {
  std::size_t rows, columns;
  double lambda;
  std::vector<long double> p = std::vector<long double>(rows * rows),
                           s = std::vector<long double>(rows * columns);
  row y = {}, y_error = {}, largest = row(columns);
  double tokens = 0;

  void take(fuzz::terms const& x) {
    if (tokens++ == 0)
      for (std::size_t i = 0; i < rows; ++i) p[i * rows + i] = 1 / static_cast<long double>(lambda);
    std::vector<long double> pk(rows);
    long double held = 1;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t n = 0; n < rows; ++n) pk[i] += p[i * rows + n] * x.key[n];
      held += pk[i] * x.key[i];
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t n = 0; n < rows; ++n) p[i * rows + n] -= pk[i] * pk[n] / held;
    y.assign(columns, 0), y_error.assign(columns, 0);
    for (std::size_t j = 0; j < columns; ++j) {
      long double error = x.value[j], size = 0, read = 0;
      for (std::size_t i = 0; i < rows; ++i) error -= s[i * columns + j] * x.key[i];
      for (std::size_t i = 0; i < rows; ++i) {
        long double& each = s[i * columns + j];
        each += pk[i] / held * error;
        size += each * each, read += each * x.query[i];
      }
      y[j] = static_cast<double>(read);
      double const now = std::sqrt(static_cast<double>(size)) + std::abs(x.value[j]);
      if (!(now <= largest[j])) largest[j] = now;
      // A factor of M loses its condition, (lambda + tokens) / lambda, of the digits at most; 2 K
      // and not 128 roundings a token, as in `memory`.
      double const lost = (lambda + tokens) / lambda * tokens;
      y_error[j] = fuzz::memory::rounding * (2 * static_cast<double>(rows) + 128) * lost *
                       largest[j] * fuzz::norm(x.query) +
                   fuzz::memory::least * (1 + largest[j]);
      if (!(largest[j] < 1e12)) y_error[j] = largest[j] = std::numeric_limits<double>::quiet_NaN();
    }
  }
};

struct vla_case : fuzz::keyed_case {
  wane::vla_options how;

  explicit vla_case(fuzz::input& in) : keyed_case(in, fuzz::decays::of_heads) {
    double const lambdas[] = {1, .25, .01};
    how.lambda = lambdas[in.below(3)], how.scale = in.below(3) - 1;
    how.epsilon = 1e-6;
    inputs.pop_back();  // there is no decay
  }
  index state_columns() const { return size.columns + size.rows; }
  vla_loop loop(std::size_t rows, std::size_t columns) const { return {rows, columns, how.lambda}; }

  auto op(index begin, index end) const {
    return wane::vla<float>({.query = query.read(begin, end),
                             .key = key.read(begin, end),
                             .value = value.read(begin, end)},
                            how);
  }
  fuzz::terms at(index b, index t, index h, index) const {
    return {{},
            fuzz::unit(of_group(key, b, t, h), how.epsilon),
            row_of(value, b, t, h),
            fuzz::times(how.scale, fuzz::unit(of_group(query, b, t, h), how.epsilon))};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::input in(data, size);
  fuzz::call<vla_case>(in);
  return 0;
}
