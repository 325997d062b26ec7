// expect: adjoint
// first: adjoint
// SPDX-License-Identifier: MIT
#include <wane/operators/gla.hpp>
#include <wane/run/run.hpp>
#ifdef WANE_CONTROL
#include <wane/run/adjoint.hpp>
#endif

void use(wane::gla<float> const& op, wane::sequence_view<float> dy) {
  wane::adjoint(op, dy, {.query = dy});
}
