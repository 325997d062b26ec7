// expect: inputs and gradients are given by name
// first: by_name|inputs and gradients are given by name
// SPDX-License-Identifier: MIT
#include <wane/operators/gla.hpp>

auto use(wane::sequence_view<float> q, wane::sequence_view<float> k) {
#ifdef WANE_CONTROL
  return wane::gla<float>({.query = q, .key = k, .value = k}, q);
#else
  return wane::gla<float>({k, q, k}, q);
#endif
}
