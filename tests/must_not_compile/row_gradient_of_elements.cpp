// expect: the gradients of decays by element and of a skip go to all_of_column
// SPDX-License-Identifier: MIT
// The gradient of a decay that would be summed over columns which each have their own.
#include "wane/operators/mamba1.hpp"
#include "wane/run/adjoint.hpp"

struct by_row {
  struct sink {
    void row(wane::index, wane::row_gradient<float>) const {}
#ifdef WANE_CONTROL
    void all_of_column(auto, auto) const {}
#endif
  };
  sink at(wane::place<>) const { return {}; }
};

void use(wane::mamba1<float> const& op, wane::sequence_view<float> x) {
  wane::adjoint(op, x, by_row{});
}
