// expect: all_of_column.j, .... of a sink is for recurrences with rows that decay by element
// SPDX-License-Identifier: MIT
// Gradients that would never arrive.
#include "wane/operators/mamba2.hpp"
#include "wane/run/adjoint.hpp"

struct by_column {
  struct sink {
#ifdef WANE_CONTROL
    void column(auto, auto) const {}
#else
    void all_of_column(auto, auto) const {}
#endif
  };
  sink at(wane::place<>) const { return {}; }
};

void use(wane::mamba2<float> const& op, wane::sequence_view<float> x) {
  wane::adjoint(op, x, by_column{});
}
