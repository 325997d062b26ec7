// Loops and sums over the rows of a token, in lanes where the layout allows it.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane {

//   for_row_lanes<T>(in_lanes, rows, [&](auto i) { sum.add(row_at(a, i), row_at(b, i)); });
//
// Calls body(i) for all rows. Where `in_lanes`, i is lanes of rows as long as whole vectors are
// left; otherwise, and for the rest, i is an index.
template <class T, class Body>
WANE_INLINE void for_row_lanes(bool in_lanes, index rows, Body const& body) {
  index i = 0;
  if constexpr (fits_simd<T>)
    if (in_lanes)
      for (; i + simd_width<T> <= rows; i += simd_width<T>) body(lanes<simd_width<T>>{i});
  for (; i < rows; ++i) body(i);
}

inline constexpr index first_of(index i) { return i; }
template <int W>
constexpr index first_of(lanes<W> i) {
  return i.first;
}

// Reads and writes the numbers of row or rows i in an array with one number a row.
template <class T>
WANE_INLINE T row_at(T const* x, index i) {
  return x[i];
}
template <class T, int W>
WANE_HOST_INLINE simd<T, W> row_at(T const* x, lanes<W> i) {
  return simd<T, W>::load(x + i.first);
}
template <class T>
WANE_INLINE void set_row(T* x, index i, T value) {
  x[i] = value;
}
template <class T, int W>
WANE_HOST_INLINE void set_row(T* x, lanes<W> i, simd<T, W> value) {
  value.store(x + i.first);
}

// A sum over rows, where terms come one by one or in lanes.
template <class T>
class row_sum {
 public:
  // total += a b
  WANE_INLINE void add(T a, T b) { rest_ = multiply_add(a, b, rest_); }
  template <int W>
  WANE_HOST_INLINE void add(simd<T, W> a, simd<T, W> b) {
    part_ = multiply_add(a, b, part_);
  }
  WANE_INLINE T total() const {
    if constexpr (fits_simd<T>)
      return impl::sum(part_) + rest_;
    else
      return rest_;
  }

 private:
  struct nothing {};
  T rest_ = T(0);
  [[no_unique_address]] std::conditional_t<fits_simd<T>, simd<T, simd_width<T>>, nothing> part_{};
};

// Computes the sums over rows that terms of a token need, for example the length of a key, on one
// thread. GPU kernels whose threads share a token call at(place, sums) with their own type of sums.
struct own_sums {
  // The sum over i of left(i) right(i). `in_lanes` is std::false_type where left and right take no
  // lanes, otherwise a bool.
  template <class T>
  WANE_INLINE static T dot(auto in_lanes, index rows, auto const& left, auto const& right) {
    row_sum<T> total;
    auto const add = [&](auto i) WANE_INLINE_LAMBDA { total.add(left(i), right(i)); };
    if constexpr (std::same_as<decltype(in_lanes), std::false_type>)
      for (index i = 0; i < rows; ++i) add(i);
    else
      for_row_lanes<T>(in_lanes, rows, add);
    return total.total();
  }
};
// op.at(where, sums) where the operator takes sums, otherwise op.at(where).
template <class Op, class Sums>
WANE_INLINE token_of<Op> token_at(Op const& op, place<> where, Sums const& sums) {
  if constexpr (requires { op.at(where, sums); })
    return op.at(where, sums);
  else
    return op.at(where);
}

}  // namespace wane
