// expect: the outputs are complex; a view of real numbers cannot take them
// SPDX-License-Identifier: MIT
// A real part is for operators that say so.
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/run.hpp"

#ifdef WANE_CONTROL
using output = std::complex<float>;
#else
using output = float;
#endif

void run_all(wane::linear_recurrence<wane::decay_as::log, std::complex<float>> const& op,
             wane::sequence_view<output> y) {
  wane::run(op, y);
}
