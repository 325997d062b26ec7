// penalty_chunk: M_t^-1 x_t for each of 16 tokens, from the factor before the first.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/penalty/reflections.hpp"

namespace wane::impl {

// R is the factor of M before the chunk, U its penalty directions, X vectors, both [rows x tokens].
// With F = R^-T U, H = R^-T X and F_t the columns of F up to t,
//   M_t^-1 x_t = R^-1 (I + F_t F_t^T)^-1 h_t,
// where the inverse in the middle comes from reflections (reflections.hpp).
// The vectors of tokens are rows [tokens][stride()], zeros behind the last number.
template <class T>
class penalty_chunk {
 public:
  static constexpr int tokens = penalty_tokens;
  using lanes_type = token_lanes<T>;

  explicit penalty_chunk(index rows)
      : factor(rows), rows_(rows), stride_(factor.stride()), f_(rows * tokens), h_(rows * tokens) {}

  index stride() const { return stride_; }

  // Call first, with the directions of a chunk; rows of absent tokens are zeros.
  void begin(T const* directions) {
    factor.prepare();
    transpose(directions, f_.data());
    factor.solve_transposed(f_.data());
    reflections_.find(f_.data(), rows_);
  }
  // to_t = M_t^-1 u_t.
  void own(T* to) {
    reflections_.weigh_own(weights_);
    std::fill_n(h_.data(), rows_ * tokens, T(0));
    solve_joined(to);
  }
  // to_t = M_t^-1 x_t.
  void apply(T const* x, T* to) {
    transpose(x, h_.data());
    factor.solve_transposed(h_.data());
    products(h_.data(), weights_);
    reflections_.weigh(weights_);
    solve_joined(to);
  }
  // 1 - u_t . M_t^-1 u_t, without cancellation.
  T rest(int t) const { return reflections_.over(t) * reflections_.over(t); }
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

  // to[s][t] = x_s . h_t
  void products(T const* h, square& to) const {
    constexpr int together = std::max(1, 8 / lanes_type::parts);
    for (int first = 0; first < tokens; first += together) {
      lanes_type sum[together] = {};
      for (index i = 0; i < rows_; ++i) {
        auto const right = lanes_type::load(h + i * tokens);
        T const* const left = f_.data() + i * tokens + first;
        unroll<together>([&](auto s) WANE_INLINE_LAMBDA { sum[s].add(left[s], right); });
      }
      unroll<together>([&](auto s) WANE_INLINE_LAMBDA { sum[s].store(to[first + s]); });
    }
  }

  // R^-1 (H + X weights)
  void solve_joined(T* to) {
    lanes_type weights[tokens];
    unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA { weights[s] = lanes_type::load(weights_[s]); });
    for (index i = 0; i < rows_; ++i) {
      T *const h = h_.data() + i * tokens, *const x = f_.data() + i * tokens;
      if (!reflections_.finite()) {  // a NaN must not reach earlier tokens
        for (int s = 0; s < tokens; ++s)
          for (int t = s; t < tokens; ++t) h[t] = multiply_add(x[s], weights_[s][t], h[t]);
        continue;
      }
      auto sum = lanes_type::load(h);
      unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA { sum.add(x[s], weights[s]); });
      sum.store(h);
    }
    factor.solve(h_.data());
    transpose_back(h_.data(), to);
  }

  index rows_, stride_;
  aligned_numbers<T> f_, h_;  // F, then X; H
  token_reflections<T> reflections_;
  alignas(64) square weights_;
};

}  // namespace wane::impl
