// expect: this one has erase terms or a step of its own: wane::adjoint has it
// SPDX-License-Identifier: MIT
// The chunk kernel has no adjoint yet.
#include "wane/operators/delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/testing/emulated_run.hpp"

#ifdef WANE_CONTROL
using operation = wane::gla<float>;
#else
using operation = wane::delta_net<float>;
#endif

void use(operation const& op, wane::sequence_view<float> dy, operation::gradients const& to) {
  wane::testing::adjoint({}, op, dy, to);
}
