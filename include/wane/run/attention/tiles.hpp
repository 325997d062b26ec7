// Products of small matrices in which each row has its own range of terms, for attention.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/view.hpp"

namespace wane::impl {

struct index_range {
  index begin, end;
};

// Calls body(numbers, step) with the numbers of row i, from column to column `step` apart. A type
// that is no view has with_row(i, body).
template <class Rows, class Body>
void with_row(Rows const& x, index i, Body const& body) {
  if constexpr (requires { x.with_row(i, body); })
    x.with_row(i, body);
  else
    body(x.data + i * x.stride[0], x.stride[1]);
}

// Writes number(j) to the columns j of a token. A type that is no view has
// write_row(at, columns, number).
template <class To, class Number>
void write_row(To const& to, place<> at, index columns, Number const& number) {
  if constexpr (requires { to.write_row(at, columns, number); })
    to.write_row(at, columns, number);
  else
    for (index j = 0; j < columns; ++j) to.write(at, j, number(j));
}

// A matrix whose rows are padded to whole vectors. Numbers that are not written are zero.
template <class T>
struct tile {
  index rows, width;
  std::vector<T> numbers;

  tile(index most_rows, index columns)
      : rows(most_rows),
        width((columns + simd_width<T> - 1) / simd_width<T> * simd_width<T>),
        numbers(static_cast<std::size_t>(rows * width), T(0)) {}

  T* row(index i) { return numbers.data() + i * width; }
  T const* row(index i) const { return numbers.data() + i * width; }
  void clear() { std::ranges::fill(numbers, T(0)); }
  index_range columns() const { return {0, width}; }

  // Rows [first, first + count) of x, times `factor`.
  template <class Rows>
  void take(Rows const& x, index first, index count, T factor = T(1)) {
    for (index i = 0; i < count; ++i)
      with_row(x, first + i, [&](auto const* from, index step) {
        for (index j = 0; j < x.extent[1]; ++j) row(i)[j] = factor * static_cast<T>(from[j * step]);
      });
  }
  // The same, transposed; columns from `count` on become zero.
  template <class Rows>
  void take_transposed(Rows const& x, index first, index count, T factor = T(1)) {
    for (index i = 0; i < count; ++i)
      with_row(x, first + i, [&](auto const* from, index step) {
        for (index j = 0; j < x.extent[1]; ++j) row(j)[i] = factor * static_cast<T>(from[j * step]);
      });
    for (index j = 0; j < x.extent[1]; ++j) std::fill(row(j) + count, row(j) + width, T(0));
  }
};

// The left side of a product: a tile or its transpose.
template <class T>
struct left_side {
  T const* data;
  index row, column;  // steps
};
template <class T>
left_side<T> as_it_is(tile<T> const& x) {
  return {x.row(0), x.width, 1};
}
template <class T>
left_side<T> turned(tile<T> const& x) {
  return {x.row(0), 1, x.width};
}

// R rows and C vectors of columns: to += a b, summed over k in `range`.
template <int R, int C, class T>
[[gnu::noinline]] void multiply_strip(left_side<T> a, T const* b, index b_step, T* to,
                                      index to_step, index_range range) {
  constexpr int width = simd_width<T>;
  using vector = simd<T, width>;
  vector sum[R][C];
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
    unroll<C>([&](auto c)
                  WANE_INLINE_LAMBDA { sum[r][c] = vector::load(to + r * to_step + c * width); });
  });
  for (index k = range.begin; k < range.end; ++k) {
    vector column[C];
    unroll<C>([&](auto c)
                  WANE_INLINE_LAMBDA { column[c] = vector::load(b + k * b_step + c * width); });
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      vector const x(a.data[r * a.row + k * a.column]);
      unroll<C>([&](auto c)
                    WANE_INLINE_LAMBDA { sum[r][c] = multiply_add(x, column[c], sum[r][c]); });
    });
  }
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
    unroll<C>([&](auto c) WANE_INLINE_LAMBDA { sum[r][c].store(to + r * to_step + c * width); });
  });
}

template <int R, class T>
void multiply_rows(left_side<T> a, index row, tile<T> const& b, tile<T>& to, index_range columns,
                   index_range range) {
  constexpr int width = simd_width<T>, together = simd_bytes == 64 ? 4 : 2;
  if (range.begin >= range.end) return;
  a.data += row * a.row;
  index j = columns.begin;
  for (; j + together * width <= columns.end; j += together * width)
    multiply_strip<R, together>(a, b.row(0) + j, b.width, to.row(row) + j, to.width, range);
  for (; j < columns.end; j += width)
    multiply_strip<R, 1>(a, b.row(0) + j, b.width, to.row(row) + j, to.width, range);
}

// to_ij += sum over k in range(i) of a_ik b_kj, for i in `rows` and j in `columns`, whole vectors.
// Terms out of range are not read, so a NaN there does no harm. Six rows go together where their
// ranges overlap; every sum is in the order of k.
template <class T, class Range>
void multiply_add_rows(index_range rows, index_range columns, left_side<T> const& a,
                       tile<T> const& b, tile<T>& to, Range const& range) {
  constexpr int together = 6;
  auto const one = [&](index i, index_range k) { multiply_rows<1>(a, i, b, to, columns, k); };
  index i = rows.begin;
  for (; i + together <= rows.end; i += together) {
    index_range common = range(i);
    for (int r = 1; r < together; ++r)
      common = {std::max(common.begin, range(i + r).begin), std::min(common.end, range(i + r).end)};
    if (common.begin >= common.end) {
      for (int r = 0; r < together; ++r) one(i + r, range(i + r));
      continue;
    }
    for (int r = 0; r < together; ++r) one(i + r, {range(i + r).begin, common.begin});
    multiply_rows<together>(a, i, b, to, columns, common);
    for (int r = 0; r < together; ++r) one(i + r, {common.end, range(i + r).end});
  }
  for (; i < rows.end; ++i) one(i, range(i));
}

// The whole vectors that hold `range`.
template <class T>
index_range whole_vectors(index_range range) {
  constexpr index width = simd_width<T>;
  return {range.begin / width * width, (range.end + width - 1) / width * width};
}

// to = a b in rows [0, rows) and `columns`; the sums are over `count` terms.
template <class T>
void multiply_tiles(index rows, index_range columns, tile<T> const& a, tile<T> const& b,
                    tile<T>& to, index count) {
  for (index i = 0; i < rows; ++i)
    std::fill(to.row(i) + columns.begin, to.row(i) + columns.end, T(0));
  multiply_add_rows({0, rows}, columns, as_it_is(a), b, to, [count](index) {
    return index_range{0, count};
  });
}

}  // namespace wane::impl
