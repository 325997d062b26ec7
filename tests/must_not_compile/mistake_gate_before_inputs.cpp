// expect: gla
// first: gla
// SPDX-License-Identifier: MIT
#include <wane/operators/gla.hpp>

auto use(wane::sequence_view<float> q, wane::sequence_view<float> g) {
#ifdef WANE_CONTROL
  return wane::gla<float>({.query = q, .key = q, .value = q}, g);
#else
  return wane::gla<float>(g, {.query = q, .key = q, .value = q});
#endif
}
