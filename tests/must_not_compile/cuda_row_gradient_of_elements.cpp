// expect: row, whole and all of a sink take sums over columns
// SPDX-License-Identifier: MIT
// The gradient of a decay that a kernel would sum over columns which each have their own.
#include "wane/operators/mamba1.hpp"
#include "wane/testing/emulated_run.hpp"

struct receives {
  struct sink {
#ifdef WANE_CONTROL
    void column(wane::index, float) const {}
#else
    void row(wane::index, wane::row_gradient<float>) const {}
#endif
  };
  sink at(wane::place<>) const { return {}; }
};

void use(wane::mamba1<float> const& op, wane::sequence_view<float> x) {
  wane::testing::adjoint({}, op, x, receives{});
}
