// expect: the gate has another type than the operator names
// first: gate_from.*view<double, 3>|view<double, 3> &, wane::view<const float
// SPDX-License-Identifier: MIT
#include <wane/operators/gated_delta_net.hpp>

#ifdef WANE_CONTROL
using other = float;
#else
using other = double;
#endif

auto use(wane::sequence_view<float> q, wane::token_view<float> beta, wane::token_view<other> g) {
  return wane::gated_delta_net<float>({.query = q, .key = q, .value = q, .strength = beta}, g);
}
