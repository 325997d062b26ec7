// token_reflections: Householder's QR of the directions of a chunk under a unit matrix.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "wane/run/penalty/chunk_factor.hpp"

namespace wane::impl {

// Reflections P_t = I - b_t (1 + C_t, x_t)(1 + C_t, x_t)^T, b_t = 1 / (C_t + C_t^2), turn the
// columns of I on top of F into a triangle, one after the other. x_t is what is left of f_t when
// the reflections before have been applied, and C_t^2 = 1 + |x_t|^2. With F_t the columns up to t,
//   P_t ... P_1 (0, h) = (w, h'),  P_1 ... P_t (0, h') = (*, (I + F_t F_t^T)^-1 h),
// so the inverse is h plus a combination of x_1 to x_t. I + F^T F, whose condition is the square of
// that of I on top of F, is not formed.
// Vectors of rows are [rows][tokens].
template <class T>
class token_reflections {
 public:
  static constexpr int tokens = penalty_tokens;
  using lanes_type = token_lanes<T>;
  using square = T[tokens][tokens];

  // Whether all directions are finite.
  bool finite() const { return finite_; }
  // 1 / C_t. Its square is 1 - u_t . M_t^-1 u_t, without cancellation.
  T over(int t) const { return over_[t]; }

  // Turns F into X.
  void find(T* f, index rows) {
    finite_ = true;
    lanes_type met{};
    for (index i = 0; i < rows; ++i) met.add(f[i * tokens], lanes_type::load(f + i * tokens));
    for (int t = 0;; ++t) {
      met.store(met_[t]);
      T const c = std::sqrt(T(1) + met_[t][t]);
      finite_ = finite_ && std::isfinite(c);
      over_[t] = T(1) / c;
      by_[t] = T(1) / (c + c * c);
      if (t == tokens - 1) return;
      alignas(64) T along[tokens];
      for (int s = 0; s < tokens; ++s) along[s] = s > t ? -by_[t] * met_[t][s] : T(0);
      met = finite_ ? reflect(f, rows, t, along) : reflect_later(f, rows, t, along);
    }
  }

  // From X^T H to weights: column t of H + X weights is (I + F_t F_t^T)^-1 h_t.
  void weigh(square& weights) const {
    for (int s = 0; s < tokens; ++s) {
      auto sum = lanes_type::load(weights[s]);
      for (int r = 0; r < s; ++r) sum.add(met_[s][r], lanes_type::load(weights[r]));
      sum.scale(-by_[s]);
      sum.store(weights[s]);
      std::fill_n(weights[s], s, T(0));
    }
    for (int s = tokens; s-- > 0;) {
      // What is left of x_s . h_t is -(1 + C_s) times the weight: reflected again, another 1 / C_s.
      auto sum = lanes_type::load(weights[s]);
      sum.scale(T(1) + over_[s]);
      subtract_later(sum, weights, s);
      sum.store(weights[s]);
    }
  }
  // Column t of X weights is (I + F_t F_t^T)^-1 f_t.
  void weigh_own(square& weights) const {
    for (int s = tokens; s-- > 0;) {
      lanes_type sum{};
      subtract_later(sum, weights, s);
      sum.store(weights[s]);
      weights[s][s] = over_[s] * over_[s];
    }
  }

 private:
  // sum -= b_s sum over r > s of (x_s . x_r) weights_r
  void subtract_later(lanes_type& sum, square const& weights, int s) const {
    if (finite_) {
      for (int r = tokens; --r > s;) sum.add(-by_[s] * met_[r][s], lanes_type::load(weights[r]));
      return;
    }
    alignas(64) T one[tokens];  // a NaN must not reach earlier tokens
    sum.store(one);
    for (int r = s + 1; r < tokens; ++r)
      for (int t = r; t < tokens; ++t)
        one[t] = multiply_add(-by_[s] * met_[r][s], weights[r][t], one[t]);
    sum = lanes_type::load(one);
  }

  // f_s += along_s x_t for the tokens s after t. Returns the products of column t + 1 with all.
  static lanes_type reflect(T* f, index rows, int t, T const* along) {
    auto const by = lanes_type::load(along);
    constexpr int together = 4;
    lanes_type met[together] = {};
    auto const take = [&](index i, lanes_type& sum) WANE_INLINE_LAMBDA {
      T* const row = f + i * tokens;
      auto x = lanes_type::load(row);
      x.add(row[t], by);
      x.store(row);
      sum.add(row[t + 1], x);
    };
    index i = 0;
    for (; i + together <= rows; i += together)
      unroll<together>([&](auto n) WANE_INLINE_LAMBDA { take(i + n, met[n]); });
    for (; i < rows; ++i) take(i, met[0]);
    met[0].add(T(1), met[1]), met[2].add(T(1), met[3]), met[0].add(T(1), met[2]);
    return met[0];
  }
  static lanes_type reflect_later(T* f, index rows, int t, T const* along) {
    alignas(64) T met[tokens] = {};
    for (index i = 0; i < rows; ++i) {
      T* const row = f + i * tokens;
      for (int s = t + 1; s < tokens; ++s) row[s] = multiply_add(row[t], along[s], row[s]);
      for (int s = 0; s < tokens; ++s) met[s] = multiply_add(row[t + 1], row[s], met[s]);
    }
    return lanes_type::load(met);
  }

  bool finite_ = true;
  T over_[tokens], by_[tokens];
  alignas(64) square met_;  // x_t . x_s for s <= t
};

}  // namespace wane::impl
