// The adjoint of normalised memories: that of a quotient, then that of its sums.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/run/pairs/places.hpp"
#include "wane/run/pairs/quotient.hpp"
#include "wane/run/shared/by_table.hpp"

namespace wane::impl {

// Gradients of the sums of every token, [B, T, H, columns]; the denominator is the last column.
template <normalised_recurrence Op, class Out, class State>
std::vector<accumulate_type<Op>> gradient_of_sums(Op const& op, sequence_view<Out const> const& dy,
                                                  adjoint_options<State> const& options) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  index const last = shape.columns - 1;
  std::vector<T> numbers(
      static_cast<std::size_t>(shape.batch * shape.time * shape.heads * shape.columns));
  sequence_view<T> const sums(numbers.data(), shape.batch, shape.time, shape.heads, shape.columns);
  run_by_table(unnormalised(op), sums, run_of(options));
  for_each_place(shape, options, [&](place<> at) {
    T* const row = sums.element(at, 0);
    T const given = row[last], size = compared_with_floor<Op>(given);
    row[last] = size;
    gradient_of_quotient(dy, at, divisor_of(op, at, given), last, row, row[last]);
    if (size != given) row[last] = -row[last];
  });
  return numbers;
}

// The sums are computed again and held, B T H columns numbers. A denominator below the floor has
// gradient 0.
template <normalised_recurrence Op, class Out, class Gradients, class State>
void adjoint_normalised(Op const& op, sequence_view<Out const> const& dy,
                        Gradients const& gradients, adjoint_options<State> const& options) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  std::vector<T> const of_sums = gradient_of_sums(op, dy, options);
  adjoint_by_table(
      unnormalised(op),
      sequence_view<T const>(of_sums.data(), shape.batch, shape.time, shape.heads, shape.columns),
      gradients, options);
}

}  // namespace wane::impl
