// expect: a piece of sequence has an effect of its own only where no token looks at the state
// SPDX-License-Identifier: MIT
// The delta rule erases what it reads, so that a piece of it has no effect that composes.
#include "support/keyed_operators.hpp"
#include "wane/run/effects.hpp"

#ifdef WANE_CONTROL
using operation = wane::testing::decay_by_row<float>;
#else
using operation = wane::testing::delta_rule<float>;
#endif

void use(operation const& op) { wane::effects(op, {}); }
