// penalty_sums: the gradient by a penalty matrix, summed backwards in time.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/chunk/row_products.hpp"
#include "wane/run/penalty/chunk_factor.hpp"
#include "wane/run/penalty/tokens.hpp"

namespace wane::impl {

// alpha_t = M_t^-1 k_t, and g_t = M_t^-1 dL/dalpha_t. As d(M^-1) = -M^-1 dM M^-1,
//   dL/dM_t = -N_t / 2,   N_t = N_{t+1} + g_t alpha_t^T + alpha_t g_t^T,   dL/du_t = -N_t u_t,
// where M_t = M_{t-1} + u_t u_t^T. N needs vectors of tokens only, not M.
template <class T>
class penalty_sums {
 public:
  static constexpr int tokens = penalty_tokens, width = simd_width<T>;
  using vector = simd<T, width>;

  penalty_sums(index rows, index stride)
      : rows_(rows), stride_(stride), numbers_(rows * stride), found_(tokens * stride) {
    std::fill_n(numbers_.data(), rows * stride, T(0));
  }

  T* row(index i) const { return numbers_.data() + i * stride_; }

  // Starts from dL/dR after the last token, gradient(i, j), j >= i, where R is `factor`:
  // dL/dM = R^-1 sym(P) R^-T, P the lower half of R (dL/dR)^T, its diagonal halved.
  template <class Gradient>
  void begin(penalty_factor<T>& factor, Gradient const& gradient) {
    for (index i = 0; i < rows_; ++i)
      for (index j = 0; j <= i; ++j) {
        T sum(0);
        for (index l = i; l < rows_; ++l)
          sum = multiply_add(factor(i, l), static_cast<T>(gradient(j, l)), sum);
        // N = -2 dL/dM, and sym(P) is sum / 2 on both sides of the diagonal.
        row(i)[j] = row(j)[i] = -sum;
      }
    factor.prepare();
    for (int turn = 0; turn < 2; ++turn) {
      solve_columns(factor);
      transpose();
    }
  }

  void scale(T by) {
    for (index i = 0; i < rows_ * stride_; ++i) numbers_.data()[i] *= by;
  }
  // N += g alpha^T + alpha g^T of one token, the last before a refresh: its alpha is of the
  // refreshed M.
  void add(T const* g, T const* alpha) {
    for (index i = 0; i < rows_; ++i)
      for (index j = 0; j < rows_; ++j)
        row(i)[j] = multiply_add(g[i], alpha[j], multiply_add(alpha[i], g[j], row(i)[j]));
  }
  // Back through a refresh, M' = (M^-1 + amount I)^-1 = R'^T R':  N = B N' B, B = I - amount M'.
  void refresh(view<T const, 2> const& factor, T amount) {
    for (int turn = 0; turn < 2; ++turn) {
      times(factor, amount);
      transpose();
    }
  }

  // Goes backwards through 16 tokens, from rows [tokens][stride] of u, g and alpha, zeros for
  // absent tokens, to dL/du in the rows of u: -N_t u_t with `own`, -N_{t+1} u_t without. Terms
  // between tokens of the chunk do not pass through N: M_s contains u_t for s >= t, so the product
  // u_t . alpha_s is as small as lambda, and would be lost in the rounding of g_s alpha_s^T.
  void take(T* u, T const* g, T const* alpha, bool own) {
    for (index t = 0; t < tokens; t += together) meet(u + t * stride_, found_.data() + t * stride_);
    for (index t = 0; t < tokens; t += together)
      for (index s = t; s < tokens; s += together) give(u, t, g, alpha, s, own ? 0 : 1);
    std::copy_n(found_.data(), tokens * stride_, u);
    for (index t = 0; t < tokens; t += together) add_some(g + t * stride_, alpha + t * stride_);
  }

  // dL/dR_ij before the first token, j >= i: the upper half of 2 R dL/dM.
  T gradient(penalty_factor<T> const& factor, index i, index j) const {
    T sum(0);
    for (index l = i; l < rows_; ++l) sum = multiply_add(-factor(i, l), row(l)[j], sum);
    return sum;
  }
  // dL/dlambda of a walk that began with M = lambda I: the trace of dL/dM.
  T of_lambda() const {
    T sum(0);
    for (index i = 0; i < rows_; ++i) sum += row(i)[i];
    return -sum / T(2);
  }

 private:
  static constexpr index together = 4;

  // found = -N u for `together` tokens.
  void meet(T const* u, T* found) const {
    for (index j = 0; j < stride_; j += width) {
      vector sum[together] = {};
      for (index i = 0; i < rows_; ++i) {
        vector const n = -vector::load(row(i) + j);
        unroll<together>([&](auto t) WANE_INLINE_LAMBDA {
          sum[t] = multiply_add(vector(u[t * stride_ + i]), n, sum[t]);
        });
      }
      unroll<together>([&](auto t) WANE_INLINE_LAMBDA { sum[t].store(found + t * stride_ + j); });
    }
  }
  // Adds to `together` tokens from t on the terms of those from s on. Where s = t, only pairs at
  // least `later` tokens apart count.
  void give(T const* u, index t, T const* g, T const* alpha, index s, index later) const {
    u += t * stride_, g += s * stride_, alpha += s * stride_;
    T by_alpha[together * together], by_g[together * together];
    row_products<together, together>(u, stride_, g, stride_, stride_, by_alpha);
    row_products<together, together>(u, stride_, alpha, stride_, stride_, by_g);
    auto const add = [&](auto many, T* to, index m, index n) WANE_INLINE_LAMBDA {
      for (index j = 0; j < stride_; j += width) {
        vector sum = vector::load(to + j);
        unroll<many>([&](auto i) WANE_INLINE_LAMBDA {
          index const one = n + i, pair = m * together + one;
          sum = multiply_add(vector(-by_alpha[pair]), vector::load(alpha + one * stride_ + j), sum);
          sum = multiply_add(vector(-by_g[pair]), vector::load(g + one * stride_ + j), sum);
        });
        sum.store(to + j);
      }
    };
    for (index m = 0; m < together; ++m) {
      T* const to = found_.data() + (t + m) * stride_;
      if (s > t)
        add(std::integral_constant<int, together>{}, to, m, 0);
      else
        for (index n = m + later; n < together; ++n)
          add(std::integral_constant<int, 1>{}, to, m, n);
    }
  }
  // N += g alpha^T + alpha g^T of `together` tokens.
  void add_some(T const* g, T const* alpha) {
    for (index j = 0; j < stride_; j += width) {
      vector gj[together], aj[together];
      unroll<together>([&](auto t) WANE_INLINE_LAMBDA {
        gj[t] = vector::load(g + t * stride_ + j), aj[t] = vector::load(alpha + t * stride_ + j);
      });
      for (index i = 0; i < rows_; ++i) {
        vector n = vector::load(row(i) + j);
        unroll<together>([&](auto t) WANE_INLINE_LAMBDA {
          n = multiply_add(vector(alpha[t * stride_ + i]), gj[t], n);
          n = multiply_add(vector(g[t * stride_ + i]), aj[t], n);
        });
        n.store(row(i) + j);
      }
    }
  }

  // N <- (I - amount R^T R) N.
  void times(view<T const, 2> const& factor, T amount) {
    std::vector<T> product(static_cast<std::size_t>(rows_ * rows_));
    for (index i = 0; i < rows_; ++i) {
      T* const to = product.data() + i * rows_;
      for (index l = i; l < rows_; ++l)
        for (index j = 0; j < rows_; ++j) to[j] = multiply_add(factor(i, l), row(l)[j], to[j]);
    }
    for (index l = 0; l < rows_; ++l)
      for (index i = 0; i <= l; ++i) {
        T const by = -amount * factor(i, l);
        T const* const from = product.data() + i * rows_;
        for (index j = 0; j < rows_; ++j) row(l)[j] = multiply_add(by, from[j], row(l)[j]);
      }
  }

  void solve_columns(penalty_factor<T> const& factor) {
    std::vector<T> some(static_cast<std::size_t>(rows_ * tokens));
    for (index first = 0; first < rows_; first += tokens) {
      index const count = std::min<index>(tokens, rows_ - first);
      std::fill(some.begin(), some.end(), T(0));
      for (index i = 0; i < rows_; ++i)
        std::copy_n(row(i) + first, count, some.data() + i * tokens);
      factor.solve(some.data());
      for (index i = 0; i < rows_; ++i)
        std::copy_n(some.data() + i * tokens, count, row(i) + first);
    }
  }
  void transpose() {
    for (index i = 0; i < rows_; ++i)
      for (index j = 0; j < i; ++j) std::swap(row(i)[j], row(j)[i]);
  }

  index rows_, stride_;
  aligned_numbers<T> numbers_, found_;
};

}  // namespace wane::impl
