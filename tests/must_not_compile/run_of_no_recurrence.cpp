// expect: wane::run: this type is no recurrence
// first: run\(const Op&|wane::run: this type is no recurrence
// SPDX-License-Identifier: MIT
// A type without shape() and at() cannot be run, and is told what is missing.
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/run.hpp"

#ifdef WANE_CONTROL
using operation = wane::linear_recurrence<wane::decay_as::log, float>;
#else
struct operation {
  wane::sequence_view<float const> decay, drive;
};
#endif

void use(wane::sequence_view<float> x) { wane::run(operation({.decay = x, .drive = x}), x); }
