// Umbrella of the parts that need Eigen: as_sequence for matrices, watch for penalised memories.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "wane/core/recurrence/view.hpp"
#include "wane/run/penalty/health.hpp"

namespace wane {

// Whether the elements of an Eigen type lie in memory. Those of an expression do not.
template <class Dense>
inline constexpr bool lies_in_memory = (std::remove_cvref_t<Dense>::Flags &
                                        Eigen::DirectAccessBit) != 0;

//   wane::run(op, wane::as_sequence(y));
//
// A view [1, T, 1, C] of an Eigen matrix, array, map or block of T rows (tokens) and C columns
// (channels), in either storage order. Nothing is copied, so the matrix must outlive the view. A
// column vector is T tokens of one channel, and a row vector is one token. A const matrix gives a
// view of constants.
template <class Dense>
requires std::is_base_of_v<Eigen::DenseBase<std::remove_cvref_t<Dense>>, std::remove_cvref_t<Dense>>
auto as_sequence(Dense&& values) {
  using matrix = std::remove_cvref_t<Dense>;
  static_assert(
      lies_in_memory<Dense>,
      "as_sequence: an Eigen expression has no memory of its own; eval() it into a matrix");
  static_assert(std::is_lvalue_reference_v<Dense> ||
                    !std::is_base_of_v<Eigen::PlainObjectBase<matrix>, matrix>,
                "as_sequence: this matrix is a temporary; the view would outlive it");
  using T = std::remove_pointer_t<decltype(values.data())>;
  auto const inner = static_cast<index>(values.innerStride());
  auto const outer = static_cast<index>(values.outerStride());
  bool const rows_together = matrix::IsRowMajor;
  return sequence_view<T>(
      values.data(), {1, static_cast<index>(values.rows()), 1, static_cast<index>(values.cols())},
      {0, rows_together ? outer : inner, 0, rows_together ? inner : outer});
}

}  // namespace wane
