// expect: of a sink is for channelwise recurrences
// SPDX-License-Identifier: MIT
// A gradient that would never arrive.
#include "wane/operators/exponential_bank.hpp"
#include "wane/run/adjoint.hpp"

struct by_element {
  struct sink {
#ifdef WANE_CONTROL
    void column(auto, auto) const {}
#else
    void element(auto, auto) const {}
#endif
  };
  sink at(wane::place<>) const { return {}; }
};

void use(wane::exponential_bank<float> const& op, wane::sequence_view<float> x) {
  wane::adjoint(op, x, by_element{});
}
