// expect: one here takes another, and would not be called
// SPDX-License-Identifier: MIT
#include "wane/operators/exponential_bank.hpp"
#include "wane/run/adjoint.hpp"

#ifdef WANE_CONTROL
using computed = double;
#else
using computed = float;
#endif

struct by_row {
  struct sink {
    void row(wane::index, wane::row_gradient<computed>) const {}
  };
  sink at(wane::place<>) const { return {}; }
};

void use(wane::exponential_bank<double> const& op, wane::sequence_view<double> x) {
  wane::adjoint(op, x, by_row{});
}
