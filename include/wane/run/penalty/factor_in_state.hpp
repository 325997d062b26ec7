// The factor R of a penalty M = R^T R where it lies in a state: add to M, solve, refresh, renew.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/core/recurrence/fading_penalty.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/core/recurrence/row_lanes.hpp"

namespace wane::impl {

// A square part of a state. Adjacent: its columns are neighbours in memory.
template <class State, bool Adjacent>
struct state_part {
  using value = State;
  State* data;
  index rows, row_stride, column_stride;

  State& operator()(index i, index j) const {
    return data[i * row_stride + (Adjacent ? j : j * column_stride)];
  }
  // The sum of row i times x from column `first` on.
  template <class T>
  T product(index i, index first, T const* x) const {
    row_sum<T> total;
    if constexpr (Adjacent && std::is_same_v<State, T>) {
      T const* const row = &(*this)(i, 0);
      for_row_lanes<T>(true, rows - first, [&](auto l) WANE_INLINE_LAMBDA {
        total.add(row_at(row + first, l), row_at(x + first, l));
      });
    } else {
      for (index l = first; l < rows; ++l) total.add(static_cast<T>((*this)(i, l)), x[l]);
    }
    return total.total();
  }
};

// M += w w^T for the factor R of M, where w is zero before `first`; w is overwritten.
template <class Factor, class T>
void add_direction(Factor const& factor, T* w, index first = 0) {
  for (index j = first; j < factor.rows; ++j) {
    reflection<T> const h(static_cast<T>(factor(j, j)), w[j] * w[j]);
    T const v = w[j] * h.over;
    for (index l = j; l < factor.rows; ++l) {
      T const r = static_cast<T>(factor(j, l)), d = v * w[l];
      factor(j, l) = static_cast<typename Factor::value>(
          multiply_add(h.tau, multiply_add(-h.square, r, d), r));
      w[l] = multiply_add(-v, h.tau * (r + d), w[l]);
    }
  }
}

// x <- M^-1 x. Returns x . M^-1 x, which is |R^-T x|^2.
template <class Factor, class T>
T solve_penalty(Factor const& factor, T* x) {
  row_sum<T> square;
  for (index j = 0; j < factor.rows; ++j) {
    x[j] = x[j] / static_cast<T>(factor(j, j));
    square.add(x[j], x[j]);
    for (index l = j + 1; l < factor.rows; ++l)
      x[l] = multiply_add(-x[j], static_cast<T>(factor(j, l)), x[l]);
  }
  for (index j = factor.rows; j-- > 0;)
    x[j] = (x[j] - factor.product(j, j + 1, x)) / static_cast<T>(factor(j, j));
  return square.total();
}

// M <- (M^-1 + amount I)^-1 = R^T (I + amount R R^T)^-1 R: with C C^T the matrix in brackets, C
// upper triangular, R becomes C^-1 R. The unused lower triangle of R holds C above its diagonal,
// transposed, and is zero again at the end.
template <class T, class Factor>
void refresh_penalty(Factor const& factor, T amount) {
  using std::sqrt;
  using State = typename Factor::value;
  index const rows = factor.rows;
  T diagonal[most_penalised_rows], row[most_penalised_rows];
  auto const r = [&](index i, index j) { return static_cast<T>(factor(i, j)); };
  for (index i = 0; i < rows; ++i) {
    for (index l = i; l < rows; ++l) row[l] = r(i, l);
    for (index j = 0; j < i; ++j)
      factor(i, j) = static_cast<State>(amount * factor.product(j, i, row));
    diagonal[i] = multiply_add(amount, factor.product(i, i, row), T(1));
  }
  for (index j = rows; j-- > 0;) {
    diagonal[j] = sqrt(diagonal[j]);
    for (index i = 0; i < j; ++i) row[i] = r(j, i) / diagonal[j];
    for (index m = 0; m < j; ++m) {
      for (index i = 0; i < m; ++i)
        factor(m, i) = static_cast<State>(multiply_add(-row[m], row[i], r(m, i)));
      diagonal[m] = multiply_add(-row[m], row[m], diagonal[m]);
      factor(j, m) = static_cast<State>(row[m]);
    }
  }
  for (index i = rows; i-- > 0;) {
    for (index l = i; l < rows; ++l) row[l] = r(i, l);
    for (index l = i + 1; l < rows; ++l) {
      T const c = r(l, i);
      factor(l, i) = State(0);
      for (index j = l; j < rows; ++j) row[j] = multiply_add(-c, r(l, j), row[j]);
    }
    for (index l = i; l < rows; ++l) factor(i, l) = static_cast<State>(row[l] / diagonal[i]);
  }
}

// Sets R = sqrt(lambda) I in a memory that has seen no tokens, whose R is zeros.
template <class Factor, class T>
void begin_factor(Factor const& factor, T lambda) {
  using std::sqrt;
  if (!(static_cast<T>(factor(0, 0)) == T(0))) return;
  for (index i = 0; i < factor.rows; ++i)
    factor(i, i) = static_cast<typename Factor::value>(sqrt(lambda));
}

// R^T R <- l R^T R + (1 - l) lambda I. Where l has faded to nothing the old factor
// is dropped, even if it holds NaN.
template <class Factor, class T>
void renew_penalty(Factor const& factor, T log_left, T lambda) {
  using std::exp, std::expm1, std::sqrt;
  bool const nothing = nothing_is_left(log_left);
  T const root = exp(log_left / T(2)), given = sqrt(-expm1(log_left) * lambda);
  for (index i = 0; i < factor.rows; ++i)
    for (index j = i; j < factor.rows; ++j) {
      auto& r = factor(i, j);
      r = static_cast<typename Factor::value>(nothing ? T(0) : root * static_cast<T>(r));
    }
  if (nothing) return begin_factor(factor, lambda);
  T axis[most_penalised_rows];
  for (index i = 0; i < factor.rows; ++i) {
    axis[i] = given;
    for (index j = i + 1; j < factor.rows; ++j) axis[j] = T(0);
    add_direction(factor, axis, i);
  }
}

}  // namespace wane::impl
