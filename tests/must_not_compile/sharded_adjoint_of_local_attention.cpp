// expect: the adjoint of local attention begins with an empty window
// SPDX-License-Identifier: MIT
// Local attention runs over ranks, but has no adjoint there: a window reaches over the cut.
#include "wane/operators/local_attention.hpp"
#include "wane/ranks.hpp"

using operation = wane::local_attention<float>;

void use(operation const& op, wane::sequence_view<float> x) {
#ifdef WANE_CONTROL
  wane::sharded_run(wane::one_rank(), op, x);
#else
  wane::sharded_adjoint(wane::one_rank(), op, x, {.value = x});
#endif
}
