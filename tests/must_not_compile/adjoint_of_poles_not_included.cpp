// expect: include wane/run/poles/adjoint.hpp for the adjoint of a bank of poles
// SPDX-License-Identifier: MIT
// The adjoint of terms would not see that read-outs differ by channel.
#include "wane/operators/laplace.hpp"
#ifdef WANE_CONTROL
#include "wane/run/poles/adjoint.hpp"
#else
#include "wane/run/adjoint.hpp"
#endif

using operation = wane::laplace<float>;

void back(operation const& op, wane::sequence_view<float const> dy,
          operation::gradients const& gradients) {
  wane::adjoint(op, dy, gradients);
}
