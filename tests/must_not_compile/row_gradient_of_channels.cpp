// expect: wane::adjoint: the gradients of a channelwise recurrence go to element
// SPDX-License-Identifier: MIT
// A gradient that would stay zero.
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/adjoint.hpp"

struct by_row {
  struct sink {
#ifdef WANE_CONTROL
    void element(auto, auto) const {}
#else
    void row(wane::index, wane::row_gradient<float>) const {}
#endif
  };
  sink at(wane::place<>) const { return {}; }
};

void use(wane::linear_recurrence<wane::decay_as::log, float> const& op,
         wane::sequence_view<float> x) {
  wane::adjoint(op, x, by_row{});
}
