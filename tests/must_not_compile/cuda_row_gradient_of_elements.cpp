// expect: gradients by row or token are sums over columns
// SPDX-License-Identifier: MIT
// A keyed memory has gradients of its keys at every token, which no kernel sums over columns yet.
#include "support/memory_problems.hpp"
#include "wane/testing/emulated_run.hpp"

#ifdef WANE_CONTROL
using problem = wane::testing::bank_problem<float>;
#else
using problem = wane::testing::gla_problem<float>;
#endif

void use(problem& p, wane::sequence_view<float> dy) {
  wane::testing::adjoint({}, p.make(0, p.time()), dy, p.gradients());
}
