// expect: recurrent_state
// first: recurrent_state
// SPDX-License-Identifier: MIT
#include <wane/operators/gla.hpp>
#include <wane/run/run.hpp>

#ifdef WANE_CONTROL
using other = float;
#else
using other = double;
#endif

void use(wane::gla<float> const& op, wane::sequence_view<float> y) {
  wane::recurrent_state<other> state(op);
  wane::run_options<float> options;
  options.final = state;
  wane::run(op, y, options);
}
