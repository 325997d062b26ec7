// expect: all\(...\) of a sink is not there for a time-invariant recurrence
// SPDX-License-Identifier: MIT
// Sums over tokens too, which the kernels hand over a row at a time.
#include "wane/operators/exponential_bank.hpp"
#include "wane/testing/emulated_run.hpp"

struct receives {
  struct sink {
#ifdef WANE_CONTROL
    void row(wane::index, wane::row_gradient<float>) const {}
#else
    void all(wane::all_gradients<float> const&) const {}
#endif
  };
  sink at(wane::place<>) const { return {}; }
};

void use(wane::exponential_bank<float> const& op, wane::sequence_view<float> x) {
  wane::testing::adjoint({}, op, x, receives{});
}
