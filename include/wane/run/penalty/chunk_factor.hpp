// penalty_factor: the factor R of a penalty M = R^T R, updated and solved for 16 tokens at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/simd.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/run/penalty/factor_in_state.hpp"

namespace wane::impl {

// Tokens of a chunk: the factor is updated once for all of them.
inline constexpr int penalty_tokens = 16;

// One number for each token of a chunk, in lanes.
template <class T>
struct token_lanes {
  static constexpr int width = std::min(simd_width<T>, penalty_tokens),
                       parts = penalty_tokens / width;
  using vector = simd<T, width>;
  vector part[parts];

  WANE_HOST_INLINE static token_lanes load(T const* p) {
    token_lanes x;
    unroll<parts>([&](auto n) WANE_INLINE_LAMBDA { x.part[n] = vector::load(p + n * width); });
    return x;
  }
  WANE_HOST_INLINE void store(T* p) const {
    unroll<parts>([&](auto n) WANE_INLINE_LAMBDA { part[n].store(p + n * width); });
  }
  // += a x
  WANE_HOST_INLINE void add(T a, token_lanes const& x) {
    unroll<parts>(
        [&](auto n) WANE_INLINE_LAMBDA { part[n] = multiply_add(vector(a), x.part[n], part[n]); });
  }
  WANE_HOST_INLINE token_lanes operator-() const {
    token_lanes x;
    unroll<parts>([&](auto n) WANE_INLINE_LAMBDA { x.part[n] = -part[n]; });
    return x;
  }
  WANE_HOST_INLINE void scale(T a) {
    unroll<parts>([&](auto n) WANE_INLINE_LAMBDA { part[n] = vector(a) * part[n]; });
  }
};

// R, upper triangular, M = R^T R. Rows in memory are padded with zeros to whole vectors.
template <class T>
class penalty_factor {
 public:
  static constexpr int tokens = penalty_tokens, width = simd_width<T>;
  using lanes_type = token_lanes<T>;
  using vector = simd<T, width>;

  explicit penalty_factor(index rows)
      : rows_(rows),
        stride_((rows + width - 1) / width * width),
        numbers_(rows * stride_),
        inverse_diagonal_(rows),
        columns_(rows * tokens),
        reflections_(static_cast<std::size_t>(rows), reflection<T>(T(1), T(0))) {}

  index rows() const { return rows_; }
  index stride() const { return stride_; }

  // Reads R from element(i, j), j >= i, of a state. A state of zeros stands for M = lambda I.
  template <class Element>
  void load(T lambda, Element const& element) {
    std::fill_n(numbers_.data(), rows_ * stride_, T(0));
    bool const seen = element(0, 0) != T(0);
    for (index i = 0; i < rows_; ++i)
      if (seen)
        for (index j = i; j < rows_; ++j) row(i)[j] = element(i, j);
      else
        row(i)[i] = std::sqrt(lambda);
  }
  T operator()(index i, index j) const { return j < i ? T(0) : row(i)[j]; }

  state_part<T, true> as_part() const { return {numbers_.data(), rows_, stride_, 1}; }

  // Call before a solve, and again when R has changed.
  void prepare() {
    for (index j = 0; j < rows_; ++j) inverse_diagonal_.data()[j] = T(1) / row(j)[j];
  }
  // x <- R^-T x, x [rows][tokens].
  void solve_transposed(T* x) const {
    for_blocks([&](auto together, index j) {
      subtract<together>(x, j, 0, j, [&](index i, index k) { return row(i)[k]; });
      for (index k = j; k < j + together; ++k) {
        subtract<1>(x, k, j, k, [&](index i, index n) { return row(i)[n]; });
        divide(x, k);
      }
    });
  }
  // x <- R^-1 x.
  void solve(T* x) const {
    for_blocks_back([&](auto together, index j) {
      subtract<together>(x, j, j + together, rows_, [&](index i, index k) { return row(k)[i]; });
      for (index k = j + together; k-- > j;) {
        subtract<1>(x, k, k + 1, j + together, [&](index i, index n) { return row(n)[i]; });
        divide(x, k);
      }
    });
  }

  // M += sum of u u^T over the rows of u [tokens][stride], which are overwritten: Householder's QR
  // of R on top of u, a vector of columns at a time. Each reflection needs the one before. Columns
  // behind the vector do not wait, so they are reflected while the next reflection is found.
  void add_directions(T* u) {
    for (index b = 0; b < rows_; b += width) {
      index const end = std::min(b + width, rows_);
      vector w[tokens];
      load_columns(w, u + b);
      find_reflection(b, 0, w);
      for (index j = b; j < end; ++j) {
        reflect(j, b, w);
        if (j + 1 < end) find_reflection(j + 1, static_cast<int>(j + 1 - b), w);
        for (index c = b + width; c < rows_; c += width) {
          vector behind[tokens];
          load_columns(behind, u + c);
          reflect(j, c, behind);
          unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA { behind[t].store(u + t * stride_ + c); });
        }
      }
    }
  }

 private:
  // Rows solved for together: their sums take eight vectors.
  static constexpr int rows_together = std::max(1, 8 / lanes_type::parts);

  T* row(index i) const { return numbers_.data() + i * stride_; }

  template <class Body>
  void for_blocks(Body const& body) const {
    index j = 0;
    for (; j + rows_together <= rows_; j += rows_together)
      body(std::integral_constant<int, rows_together>{}, j);
    for (; j < rows_; ++j) body(std::integral_constant<int, 1>{}, j);
  }
  template <class Body>
  void for_blocks_back(Body const& body) const {
    index j = rows_;
    for (; j % rows_together != 0;) body(std::integral_constant<int, 1>{}, --j);
    for (; j > 0;) body(std::integral_constant<int, rows_together>{}, j -= rows_together);
  }

  // x_k -= sum of c(i, k) x_i over first <= i < last, for N rows k from j on.
  template <int N, class Coefficient>
  WANE_HOST_INLINE static void subtract(T* x, index j, index first, index last,
                                        Coefficient const& c) {
    lanes_type sum[N];
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA { sum[n] = lanes_type::load(x + (j + n) * tokens); });
    for (index i = first; i < last; ++i) {
      // The sign is the vector's, so that coefficients are multiplied straight from memory.
      auto const from = -lanes_type::load(x + i * tokens);
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA { sum[n].add(c(i, j + n), from); });
    }
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA { sum[n].store(x + (j + n) * tokens); });
  }
  void divide(T* x, index j) const {
    auto one = lanes_type::load(x + j * tokens);
    one.scale(inverse_diagonal_.data()[j]);
    one.store(x + j * tokens);
  }

  void load_columns(vector (&w)[tokens], T const* u) const {
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA { w[t] = vector::load(u + t * stride_); });
  }
  // Finds the reflection of column j: R_jj on top of lane `lane` of w, which goes to x.
  void find_reflection(index j, int lane, vector const (&w)[tokens]) {
    T* const x = columns_.data() + j * tokens;
    alignas(64) T column[tokens][width];
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA { w[t].store(column[t]); });
    vector xx[4] = {};
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      x[t] = column[t][lane];
      xx[t % 4] = multiply_add(w[t], w[t], xx[t % 4]);
    });
    alignas(64) T squares[width];
    ((xx[0] + xx[1]) + (xx[2] + xx[3])).store(squares);
    reflections_[static_cast<std::size_t>(j)] = reflection<T>(row(j)[j], squares[lane]);
  }
  // Applies reflection j, of column x, to columns b to b + width of row j and of w, and turns the
  // sign of the row so that R_jj stays positive. The products with x do not wait for the
  // reflection.
  WANE_HOST_INLINE void reflect(index j, index b, vector (&w)[tokens]) const {
    T const* const x = columns_.data() + j * tokens;
    vector sum[4] = {};
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      sum[t % 4] = multiply_add(vector(x[t]), w[t], sum[t % 4]);
    });
    reflection<T> const& h = reflections_[static_cast<std::size_t>(j)];
    T* const r = row(j) + b;
    vector const before = vector::load(r),
                 d = vector(h.over) * ((sum[0] + sum[1]) + (sum[2] + sum[3])),
                 s = vector(-h.tau * h.over) * (before + d);
    multiply_add(vector(h.tau), multiply_add(vector(-h.square), before, d), before).store(r);
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA { w[t] = multiply_add(vector(x[t]), s, w[t]); });
  }

  index rows_, stride_;
  aligned_numbers<T> numbers_, inverse_diagonal_, columns_;
  std::vector<reflection<T>> reflections_;
};

}  // namespace wane::impl
