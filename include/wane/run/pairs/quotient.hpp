// From the gradient of a quotient of outputs to those of its numerators and its denominator.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/wider.hpp"
#include "wane/core/recurrence/view.hpp"

namespace wane::impl {

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

}  // namespace wane::impl
