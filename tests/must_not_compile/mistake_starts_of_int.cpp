// expect: starts and lengths are arrays or vectors of wane::index, 64 bits
// first: lasting_indices|wane::index, 64 bits
// SPDX-License-Identifier: MIT
#include <vector>
#include <wane/operators/linear_recurrence.hpp>
#include <wane/run/run.hpp>

#ifdef WANE_CONTROL
using number = wane::index;
#else
using number = int;
#endif

template <class Op>
void use(Op const& op, wane::sequence_view<float> y, std::vector<number> const& starts) {
  wane::run(op, y, {.packed = {starts}});
}
using recurrence = wane::linear_recurrence<wane::decay_as::log, float>;
template void use(recurrence const&, wane::sequence_view<float>, std::vector<number> const&);
