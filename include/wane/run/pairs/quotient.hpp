// gradient_of_quotient: from dL/dy to the gradients of the numerators and of the denominator.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/wider.hpp"
#include "wane/core/recurrence/view.hpp"

namespace wane::impl {

// With y_j = n_j / m and the divisor m = max(d, floor):
//   dL/dn_j = dy_j / m,   dL/dd = -sum_j dy_j y_j / m, or 0 where d is below the floor.
// The gradients replace n and d.
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
