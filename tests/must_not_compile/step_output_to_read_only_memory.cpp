// expect: wane::step: the output is a view of constants; it must be writable
// SPDX-License-Identifier: MIT
#include <wane/operators/linear_recurrence.hpp>
#include <wane/run/run.hpp>

#ifdef WANE_CONTROL
using output = float;
#else
using output = float const;
#endif

void use(wane::sequence_view<float const> x, wane::sequence_view<output> y,
         wane::state_view<float> s) {
  wane::step(wane::linear_recurrence<wane::decay_as::log, float>({.decay = x, .drive = x}), y, s);
}
