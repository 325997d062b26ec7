// expect: outputs are not divided by a denominator here; run wane::unnormalised
// SPDX-License-Identifier: MIT
// A device gives the numerators and denominators of linear attention, and leaves the division.
#include "wane/operators/linear_attention.hpp"
#include "wane/testing/emulated_run.hpp"

#ifdef WANE_CONTROL
using operation = wane::unnormalised<wane::linear_attention<float>>;
#else
using operation = wane::linear_attention<float>;
#endif

void use(operation const& op, wane::sequence_view<float> y) { wane::testing::run({}, op, y); }
