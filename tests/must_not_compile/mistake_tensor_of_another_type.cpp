// expect: has another type of numbers or another rank than the operator takes
// first: view<double, 4>, .*"key".*View = wane::view<const float, 4>|view<double, 4>,
// wane::view<const float, 4>> SPDX-License-Identifier: MIT
#include <wane/operators/gla.hpp>

#ifdef WANE_CONTROL
using other = float;
#else
using other = double;
#endif

auto use(wane::sequence_view<float> q, wane::sequence_view<other> k) {
  return wane::gla<float>({.query = q, .key = k, .value = q}, q);
}
