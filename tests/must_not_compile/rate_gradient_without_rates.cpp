// expect: of gradients is for operators with rows that have rate
// SPDX-License-Identifier: MIT
// The gradient of rates that the operator does not have.
#include "wane/operators/gla.hpp"
#include "wane/run/adjoint.hpp"

struct with_rates {
  struct sink {
    void column(wane::index, float) const {}
  };
  sink at(wane::place<>) const { return {}; }
#ifndef WANE_CONTROL
  void rate(wane::index, wane::index, wane::index, wane::index, double) const {}
#endif
};

void use(wane::gla<float> const& op, wane::sequence_view<float> x) {
  wane::adjoint(op, x, with_rates{});
}
