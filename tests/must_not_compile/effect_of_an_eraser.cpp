// expect: a piece of sequence has an effect of its own only where no token looks at the state
// SPDX-License-Identifier: MIT
// The delta rule erases what it reads, so that a piece of it has no effect that composes.
#include "wane/operators/delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/run/effects.hpp"

#ifdef WANE_CONTROL
using operation = wane::gla<float>;
#else
using operation = wane::delta_net<float>;
#endif

void use(operation const& op) { wane::effects(op, {}); }
