// penalty_chunk: M_t^-1 x_t for each of 16 tokens, from the factor before the first.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/penalty/chunk_factor.hpp"

namespace wane::impl {

// R is the factor of M before the chunk, U its penalty directions, X vectors, both [rows x tokens]:
//   F = R^-T U,  H = R^-T X,  I + F^T F = C^T C  (C upper triangular; its leading blocks belong to
//   the first tokens alone),
//   M_t^-1 x_t = R^-1 (h_t - F_t (I + F_t^T F_t)^-1 F_t^T h_t),  F_t the columns up to t.
// For X = U the following is the same without cancellation:
//   M_t^-1 u_t = (R^-1 f_t - sum_{s<t} C_st p_s) / C_tt^2,  p_s = M_{s-1}^-1 u_s / C_ss.
// The vectors of tokens are rows [tokens][stride()], zeros behind the last number.
template <class T>
class penalty_chunk {
 public:
  static constexpr int tokens = penalty_tokens, width = simd_width<T>;
  using lanes_type = token_lanes<T>;
  using vector = simd<T, width>;

  explicit penalty_chunk(index rows)
      : factor(rows), rows_(rows), stride_(factor.stride()), f_(rows * tokens), h_(rows * tokens) {}

  index stride() const { return stride_; }

  // Call first, with the directions of a chunk; rows of absent tokens are zeros.
  void begin(T const* directions) {
    factor.prepare();
    transpose(directions, f_.data());
    factor.solve_transposed(f_.data());
    products(f_.data(), triangle_);
    triangulate();
  }
  // to_t = M_t^-1 u_t. Overwrites F, so apply cannot follow.
  void own(T* to) {
    factor.solve(f_.data());
    transpose_back(f_.data(), to);
    for (index b = 0; b < stride_; b += width) eliminate(to + b);
  }
  // to_t = M_t^-1 x_t.
  void apply(T const* x, T* to) {
    transpose(x, h_.data());
    factor.solve_transposed(h_.data());
    products(h_.data(), weights_);
    weigh();
    for (index i = 0; i < rows_; ++i) {
      T* const h = h_.data() + i * tokens;
      T const* const f = f_.data() + i * tokens;
      if (!finite_) {
        for (int s = 0; s < tokens; ++s) add_later(h, -f[s], weights_[s], s);
        continue;
      }
      auto sum = lanes_type::load(h);
      for (int s = 0; s < tokens; ++s) sum.add(-f[s], lanes_type::load(weights_[s]));
      sum.store(h);
    }
    factor.solve(h_.data());
    transpose_back(h_.data(), to);
  }
  // 1 - u_t . M_t^-1 u_t as 1 / C_tt^2, without cancellation.
  T rest(int t) const { return over_[t] * over_[t]; }
  // Adds the directions to M; overwrites them.
  void end(T* directions) { factor.add_directions(directions); }

  penalty_factor<T> factor;

 private:
  using square = T[tokens][tokens];

  void transpose(T const* from, T* to) const {
    for (int t = 0; t < tokens; ++t)
      for (index i = 0; i < rows_; ++i) to[i * tokens + t] = from[t * stride_ + i];
  }
  void transpose_back(T const* from, T* to) const {
    for (int t = 0; t < tokens; ++t)
      for (index i = 0; i < rows_; ++i) to[t * stride_ + i] = from[i * tokens + t];
  }

  // to[s][t] = f_s . x_t
  void products(T const* x, square& to) const {
    constexpr int together = std::max(1, 8 / lanes_type::parts);
    for (int first = 0; first < tokens; first += together) {
      lanes_type sum[together] = {};
      for (index i = 0; i < rows_; ++i) {
        auto const right = lanes_type::load(x + i * tokens);
        T const* const left = f_.data() + i * tokens + first;
        unroll<together>([&](auto s) WANE_INLINE_LAMBDA { sum[s].add(left[s], right); });
      }
      unroll<together>([&](auto s) WANE_INLINE_LAMBDA { sum[s].store(to[first + s]); });
    }
  }

  // Replaces F^T F by C. Numbers below the diagonal have no meaning.
  void triangulate() {
    finite_ = true;
    for (int s = 0; s < tokens; ++s) triangle_[s][s] += T(1);
    for (int s = 0; s < tokens; ++s) {
      over_[s] = T(1) / std::sqrt(triangle_[s][s]);
      finite_ = finite_ && std::isfinite(triangle_[s][s]);
      scale(triangle_[s], over_[s]);
      for (int r = s + 1; r < tokens; ++r) add(triangle_[r], -triangle_[s][r], triangle_[s]);
    }
  }

  // From R^-1 f_t to M_t^-1 u_t in `width` rows, token by token.
  WANE_HOST_INLINE void eliminate(T* z) const {
    vector past[tokens];  // p_t
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      vector sum = vector::load(z + t * stride_);
      unroll<t>([&](auto s) WANE_INLINE_LAMBDA {
        sum = multiply_add(vector(-triangle_[s][t]), past[s], sum);
      });
      past[t] = vector(over_[t]) * sum;
      (vector(over_[t]) * past[t]).store(z + t * stride_);
    });
  }

  // Turns column t of F^T H into (I + F_t^T F_t)^-1 F_t^T h_t.
  void weigh() {
    for (int s = 0; s < tokens; ++s) {
      for (int r = 0; r < s; ++r) add(weights_[s], -triangle_[r][s], weights_[r]);
      scale(weights_[s], over_[s]);
      std::fill_n(weights_[s], s, T(0));
    }
    for (int s = tokens; s-- > 0;) {
      for (int r = s + 1; r < tokens; ++r)
        if (finite_)
          add(weights_[s], -triangle_[s][r], weights_[r]);
        else
          add_later(weights_[s], -triangle_[s][r], weights_[r], r);
      scale(weights_[s], over_[s]);
    }
  }

  static void scale(T* row, T by) {
    auto x = lanes_type::load(row);
    x.scale(by);
    x.store(row);
  }
  static void add(T* row, T by, T const* other) {
    auto x = lanes_type::load(row);
    x.add(by, lanes_type::load(other));
    x.store(row);
  }

  // Only tokens from `first` on: a NaN must not reach earlier tokens.
  static void add_later(T* row, T by, T const* other, int first) {
    for (int t = first; t < tokens; ++t) row[t] = multiply_add(by, other[t], row[t]);
  }

  index rows_, stride_;
  bool finite_ = true;  // all directions of the chunk are finite
  aligned_numbers<T> f_, h_;
  alignas(64) square triangle_, weights_;
  T over_[tokens];
};

}  // namespace wane::impl
