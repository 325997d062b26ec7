// expect: of gradients is const and takes double, or the wider type
// SPDX-License-Identifier: MIT
// A member rate that cannot be called would leave the gradient unwritten.
#include "wane/operators/mamba1.hpp"
#include "wane/run/adjoint.hpp"

struct with_rates : wane::mamba1<float>::gradients {
#ifndef WANE_CONTROL
  void rate(wane::index, wane::index, wane::index, wane::index, double) {}
#endif
};

void use(wane::mamba1<float> const& op, wane::sequence_view<float> x) {
  wane::adjoint(op, x, with_rates{});
}
