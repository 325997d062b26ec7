// expect: only a scannable recurrence, whose tokens do not look at the state, runs as a scan
// SPDX-License-Identifier: MIT
// The delta rule erases what it reads: it is not run in parallel over time by a scan.
#include "wane/operators/delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/testing/emulated_run.hpp"

#ifdef WANE_CONTROL
using operation = wane::gla<float>;
#else
using operation = wane::delta_net<float>;
#endif

void use(operation const& op, wane::sequence_view<float> y) { wane::testing::run({}, op, y); }
