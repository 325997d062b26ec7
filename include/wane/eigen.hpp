// Umbrella of the parts that need Eigen: views of matrices, and watch for penalised memories.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <type_traits>
#include <utility>

#include "wane/core/recurrence/view.hpp"
#include "wane/run/penalty/health.hpp"

namespace wane {

// Whether the elements of an Eigen type lie in memory. Those of an expression do not.
template <class Dense>
inline constexpr bool lies_in_memory = (std::remove_cvref_t<Dense>::Flags &
                                        Eigen::DirectAccessBit) != 0;

}  // namespace wane

namespace wane::impl {

// The elements of an Eigen matrix, and how far apart its rows and its columns lie.
template <class T>
struct matrix_memory {
  T* data;
  index rows, columns, row_stride, column_stride;
};

template <class Dense>
requires std::is_base_of_v<Eigen::DenseBase<std::remove_cvref_t<Dense>>, std::remove_cvref_t<Dense>>
auto memory_of_matrix(Dense&& values) {
  using matrix = std::remove_cvref_t<Dense>;
  static_assert(lies_in_memory<Dense>,
                "wane: an Eigen expression has no memory of its own; eval() it into a matrix");
  static_assert(std::is_lvalue_reference_v<Dense> ||
                    !std::is_base_of_v<Eigen::PlainObjectBase<matrix>, matrix>,
                "wane: this matrix is a temporary; the view would outlive it");
  auto const inner = static_cast<index>(values.innerStride());
  auto const outer = static_cast<index>(values.outerStride());
  bool const rows_together = matrix::IsRowMajor;
  return matrix_memory<std::remove_pointer_t<decltype(values.data())>>{
      values.data(), static_cast<index>(values.rows()), static_cast<index>(values.cols()),
      rows_together ? outer : inner, rows_together ? inner : outer};
}

// Throws wane::error unless `total` is a multiple of `parts`, and returns how many times.
inline index parts_of_matrix(char const* what, index total, char const* name, index parts) {
  require(parts > 0 && total % parts == 0, "the matrix has ", what, " ", total,
          "; their number must be a multiple of ", name, ", ", parts);
  return total / parts;
}

}  // namespace wane::impl

namespace wane {

//   wane::gla const memory({.query = wane::in_heads(q, B, H),
//                           .key = wane::in_heads(k, B, H),
//                           .value = wane::in_heads(v, B, H)}, wane::by_head(g, B));
//
// A view [B, T, H, C] of an Eigen matrix, array, map or block of B T rows, the T tokens of one
// sequence after the other, and H C columns, in either storage order. Nothing is copied, so the
// matrix must outlive the view. A const matrix gives a view of constants. Throws wane::error unless
// B divides the rows and H the columns.
template <class Dense>
auto in_heads(Dense&& values, index batch, index heads) {
  auto const m = impl::memory_of_matrix(std::forward<Dense>(values));
  index const time = impl::parts_of_matrix("rows", m.rows, "batch", batch);
  index const channels = impl::parts_of_matrix("columns", m.columns, "heads", heads);
  return sequence_view<std::remove_pointer_t<decltype(m.data)>>(
      m.data, {batch, time, heads, channels},
      {time * m.row_stride, m.row_stride, channels * m.column_stride, m.column_stride});
}

// The same for one number a head: a view [B, T, H] of a matrix of B T rows and H columns.
template <class Dense>
auto by_head(Dense&& values, index batch) {
  auto const m = impl::memory_of_matrix(std::forward<Dense>(values));
  index const time = impl::parts_of_matrix("rows", m.rows, "batch", batch);
  return token_view<std::remove_pointer_t<decltype(m.data)>>(
      m.data, {batch, time, m.columns}, {time * m.row_stride, m.row_stride, m.column_stride});
}

//   wane::run(op, wane::as_sequence(y));
//
// A view [1, T, 1, C] of a matrix of T rows (tokens) and C columns (channels): in_heads(values, 1,
// 1). A column vector is T tokens of one channel, and a row vector is one token.
template <class Dense>
auto as_sequence(Dense&& values) {
  return in_heads(std::forward<Dense>(values), 1, 1);
}

}  // namespace wane
