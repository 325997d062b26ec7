// expect: memories that erase and compute in float, run on a GPU
// SPDX-License-Identifier: MIT
// Matrix units multiply numbers of 21 bits at most: memories that erase run there in float.
#include "wane/operators/delta_net.hpp"
#include "wane/testing/emulated_run.hpp"

#ifdef WANE_CONTROL
using number = float;
#else
using number = double;
#endif

void use(wane::delta_net<number> const& op, wane::sequence_view<number> y) {
  wane::testing::run({}, op, y);
}
