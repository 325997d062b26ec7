// penalty_factor: the factor of a penalty matrix in shared memory, and solves with it by a block.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/cuda/penalty/plan.hpp"

namespace wane::cuda::impl {

// M = R^T R. Thread i holds row i of every [rows][tokens] array in registers, and it alone changes
// column i of R. Solves take 32 rows at a time, the rows of one warp. This warp solves its rows one
// after the other and shares each by shuffles. After a barrier the threads of all remaining rows
// subtract the 32 rows.
template <class Config, machine M>
class penalty_factor {
 protected:
  static constexpr int tokens = chunk_tokens;

  WANE_HOST_DEVICE penalty_factor(M& machine, penalty_layout const& at, index rows)
      : machine_(machine), at_(at), rows_(static_cast<int>(rows)), row_(machine.thread()) {}

  template <class Body>
  WANE_INLINE static void for_tokens(Body const& body) {
    unroll<tokens>(body);
  }
  WANE_HOST_DEVICE bool present() const { return row_ < rows_; }

  template <class T>
  WANE_HOST_DEVICE T* shared(std::size_t at) const {
    return reinterpret_cast<T*>(machine_.shared() + at);
  }
  WANE_HOST_DEVICE float get(std::size_t array, int i) const {
    return machine_.read_shared(shared<float const>(array) + i);
  }
  WANE_HOST_DEVICE void put(std::size_t array, int i, float x) const {
    machine_.write_shared(shared<float>(array) + i, x);
  }
  // The numbers of all tokens that begin at number i of `array`.
  WANE_INLINE token_numbers numbers_at(std::size_t array, int i) const {
    return machine_.read_shared(
        reinterpret_cast<token_numbers const*>(shared<float const>(array) + i));
  }
  WANE_INLINE void put_row(std::size_t array, token_numbers const& x) const {
    if (present())
      machine_.write_shared(
          reinterpret_cast<token_numbers*>(shared<float>(array) + row_ * token_stride), x);
  }
  WANE_HOST_DEVICE float r(int i, int j) const {
    return get(at_.factor, place_in_triangle(rows_, i, j));
  }
  WANE_HOST_DEVICE void put_r(int i, int j, float x) const {
    put(at_.factor, place_in_triangle(rows_, i, j), x);
  }

  // Every thread sets its column of R; x(i) is the number in row i.
  template <class X>
  WANE_INLINE void set_factor(X const& x) const {
    for (int i = 0; i <= row_ && present(); ++i) put_r(i, row_, x(i));
  }
  WANE_INLINE void begin_factor(float diagonal) const {
    set_factor([&](int i) WANE_INLINE_LAMBDA { return i == row_ ? diagonal : 0.f; });
  }
  WANE_INLINE void load_factor(float const* from) const {
    set_factor([&](int i) WANE_INLINE_LAMBDA { return from[place_in_triangle(rows_, i, row_)]; });
  }
  WANE_INLINE void save_factor(float* to) const {
    for (int i = 0; i <= row_ && present(); ++i) to[place_in_triangle(rows_, i, row_)] = r(i, row_);
  }
  WANE_INLINE static void scale(token_numbers& x, token_numbers const& by) {
    for_tokens([&](auto t) WANE_INLINE_LAMBDA { x.of[t] *= by.of[t]; });
  }
  WANE_INLINE static void subtract(token_numbers& x, float by, token_numbers const& y) {
    for_tokens([&](auto t) WANE_INLINE_LAMBDA { x.of[t] = multiply_add(-by, y.of[t], x.of[t]); });
  }
  WANE_INLINE static float product(token_numbers const& x, token_numbers const& y) {
    float sum[4] = {};
    for_tokens([&](auto t)
                   WANE_INLINE_LAMBDA { sum[t % 4] = multiply_add(x.of[t], y.of[t], sum[t % 4]); });
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  WANE_INLINE void divide_by_diagonal(token_numbers& x) const {
    float const over = 1.f / r(row_, row_);
    for_tokens([&](auto t) WANE_INLINE_LAMBDA { x.of[t] *= over; });
  }

  // x <- R^-T x. The result is also written to `array`, which other threads may read after a
  // barrier.
  WANE_INLINE void solve_transposed(token_numbers& x, std::size_t array) const {
    for (int first = 0; first < rows_; first += warp_size) {
      int const end = at_most(first + warp_size, rows_);
      if (row_ / warp_size == first / warp_size) {
        for (int i = first; i < end; ++i) {
          if (row_ == i) divide_by_diagonal(x);
          token_numbers const y = machine_.shuffle(x, i - first);
          if (row_ > i && present()) subtract(x, r(i, row_), y);
        }
        put_row(array, x);
      }
      if (end == rows_) return;
      machine_.barrier();
      if (row_ >= end && present())
        for (int i = first; i < end; ++i)
          subtract(x, r(i, row_), numbers_at(array, i * token_stride));
    }
  }
  // x <- R^-1 x. Threads exchange rows in `array`. Ends with a barrier.
  WANE_INLINE void solve(token_numbers& x, std::size_t array) const {
    for (int first = (rows_ - 1) / warp_size * warp_size;; first -= warp_size) {
      int const end = at_most(first + warp_size, rows_);
      if (row_ / warp_size == first / warp_size) {
        for (int i = end; i-- > first;) {
          if (row_ == i) divide_by_diagonal(x);
          token_numbers const y = machine_.shuffle(x, i - first);
          if (row_ < i) subtract(x, r(row_, i), y);
        }
        put_row(array, x);
      }
      machine_.barrier();
      if (first == 0) return;
      if (row_ < first)
        for (int i = first; i < end; ++i)
          subtract(x, r(row_, i), numbers_at(array, i * token_stride));
    }
  }

  // R^T R += w w^T for the w of every token, by Householder's QR. The rows of w before `first` must
  // be zeros. Ends with a barrier.
  WANE_INLINE void take_in(token_numbers w, int first) const {
    for (first = first / warp_size * warp_size; first < rows_; first += warp_size) {
      int const end = at_most(first + warp_size, rows_);
      if (row_ / warp_size == first / warp_size)
        for (int i = first; i < end; ++i) {
          reflector h = {};
          token_numbers v = {};
          if (row_ == i) {
            h = reflector_of(r(i, i), product(w, w));
            for_tokens([&](auto t) WANE_INLINE_LAMBDA { v.of[t] = h.over * w.of[t]; });
            put_row(at_.first, v);
            put(at_.reflectors, 2 * i, h.tau), put(at_.reflectors, 2 * i + 1, h.square);
          }
          v = machine_.shuffle(v, i - first), h = machine_.shuffle(h, i - first);
          if (row_ >= i && present()) reflect(w, i, v, h.tau, h.square);
        }
      machine_.barrier();
      if (row_ >= end && present())
        for (int i = first; i < end; ++i)
          reflect(w, i, numbers_at(at_.first, i * token_stride), get(at_.reflectors, 2 * i),
                  get(at_.reflectors, 2 * i + 1));
    }
  }

  M& machine_;
  penalty_layout const& at_;
  int const rows_, row_;

 private:
  struct reflector {
    float over, tau, square;
  };
  // No reflection where the column is negligible. The factor of a segment starts as zeros. Where no
  // direction has entered it, it holds only tiny rounding errors, whose squares vanish.
  WANE_INLINE static reflector reflector_of(float diagonal, float ww) {
    if (multiply_add(diagonal, diagonal, ww) < 0x1p-100f) return {};
    reflection<float> const h(diagonal, ww);
    return {h.over, h.tau, h.square};
  }
  // Applies reflection i to this thread's column: to its number in row i of R, and to w.
  WANE_INLINE void reflect(token_numbers& w, int i, token_numbers const& v, float tau,
                           float square) const {
    float const before = r(i, row_), d = product(v, w), s = tau * (before + d);
    put_r(i, row_, multiply_add(tau, multiply_add(-square, before, d), before));
    subtract(w, s, v);
  }
};

}  // namespace wane::cuda::impl
