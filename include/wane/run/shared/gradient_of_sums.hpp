// From the gradient of normalised outputs to that of their numerators and denominators.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_parts.hpp"
#include "wane/run/run.hpp"

namespace wane {

// The run whose adjoint this is, but for what it gives.
template <class State>
run_options<State> run_of(adjoint_options<State> const& options) {
  return {.initial = options.initial,
          .packed = options.packed,
          .lengths = options.lengths,
          .direction = options.direction,
          .threads = options.threads};
}

// With y_j = n_j / m, m = max(d, floor) the divisor:  dL/dn_j = dy_j / m,  dL/dd = -sum_j dy_j y_j
// / m where d is not below the floor, and otherwise 0. The gradients take the place of n and d.
template <class Out, class T>
void gradient_of_quotient(sequence_view<Out const> const& dy, place<> at, T divisor, index columns,
                          T* n, T& d) {
  wider<T> along(0);
  for (index j = 0; j < columns; ++j) {
    T const g = static_cast<T>(dy.read(at, j)) / divisor;
    along += static_cast<wider<T>>(g) * static_cast<wider<T>>(n[j] / divisor);
    n[j] = g;
  }
  d = d < divisor ? T(0) : static_cast<T>(-along);
}

// Both of every token, [B, T, H, columns], d last.
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
  run(unnormalised(op), sums, run_of(options));
  for_each_place(shape, options, [&](place<> at) {
    T* const row = sums.element(at, 0);
    gradient_of_quotient(output_gradient, at, divisor_of(op, row[last]), last, row, row[last]);
  });
  return numbers;
}

}  // namespace wane
