// expect: wane::adjoint: only an affine recurrence
// SPDX-License-Identifier: MIT
// A recurrence with a step of its own that is not taken back runs, but has no adjoint.
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

struct squares {
  using accumulate = float;
  wane::recurrence_shape shape() const { return {}; }
  void advance(wane::place<>, auto state, auto&& write) const {
    state(0, 0) = state(0, 0) * state(0, 0) + 1;
    write(0, state(0, 0));
  }
};
struct nobody {
  struct sink {};
  sink at(wane::place<>) const { return {}; }
};

void use(wane::sequence_view<float> x) {
#ifdef WANE_CONTROL
  wane::run(squares{}, x);
#else
  wane::adjoint(squares{}, x, nobody{});
#endif
}
