// expect: has another type of numbers or another rank than the operator takes
// first: view<double, 4>.*"key"|view<double, 4>, wane::view<const float
// SPDX-License-Identifier: MIT
#include <wane/operators/gla.hpp>

#ifdef WANE_CONTROL
using other = float;
#else
using other = double;
#endif

auto use(wane::sequence_view<float> q, wane::sequence_view<other> k) {
  return wane::gla<float>({.query = q, .key = k, .value = q}, q);
}
