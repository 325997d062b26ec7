// From the gradient of normalised outputs to that of their numerators and denominators.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/adjoint_parts.hpp"
#include "wane/run/run.hpp"

namespace wane {

// With y_j = n_j / m, m = max(d, floor):  dL/dn_j = dy_j / m,  dL/dd = -sum_j dy_j y_j / m where
// d is not below the floor, and otherwise 0. Returns both, [B, T, H, columns], d last.
template <normalised_recurrence Op, class Out, class State>
std::vector<accumulate_type<Op>> gradient_of_sums(Op const& op,
                                                  sequence_view<Out const> const& output_gradient,
                                                  adjoint_options<State> const& options) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  index const last = shape.columns - 1;
  std::vector<T> numbers(
      static_cast<std::size_t>(shape.batch * shape.time * shape.heads * shape.columns));
  sequence_view<T> const sums(numbers.data(), shape.batch, shape.time, shape.heads, shape.columns);
  run(unnormalised(op), sums,
      run_options<State>{.initial = options.initial,
                         .packed = options.packed,
                         .lengths = options.lengths,
                         .direction = options.direction,
                         .threads = options.threads});
  int const threads = threads_to_use(options.threads);
  for_each_task(shape.batch * shape.heads, threads, [&](index task) {
    index const end = options.lengths.empty()
                          ? shape.time
                          : options.lengths[static_cast<std::size_t>(task / shape.heads)];
    for (index t = 0; t < end; ++t) {
      place<> const at{task / shape.heads, t, task % shape.heads};
      T* const row = sums.element(at, 0);
      T const denominator = row[last], divisor = divisor_of(op, denominator);
      wider<T> along(0);
      for (index j = 0; j < last; ++j) {
        T const g = T(output_gradient.read(at, j)) / divisor;
        along += static_cast<wider<T>>(g) * static_cast<wider<T>>(row[j] / divisor);
        row[j] = g;
      }
      row[last] = denominator < divisor ? T(0) : static_cast<T>(-along);
    }
  });
  return numbers;
}

}  // namespace wane
