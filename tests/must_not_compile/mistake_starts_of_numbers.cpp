// expect: packed|lasting_indices|could not convert|cannot convert|no matching|invalid init
// SPDX-License-Identifier: MIT
#include <wane/operators/linear_recurrence.hpp>
#include <wane/run/run.hpp>

using recurrence = wane::linear_recurrence<wane::decay_as::log, float>;

void use(recurrence const& op, wane::sequence_view<float> y) {
#ifdef WANE_CONTROL
  static wane::index const starts[] = {0, 5};
  wane::run(op, y, {.packed = {starts}});
#else
  wane::run(op, y, {.packed = {{0, 5}}});  // 0 is no pointer to starts
#endif
}
