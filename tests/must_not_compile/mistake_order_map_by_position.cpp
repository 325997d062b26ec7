// expect: inputs and gradients are given by name
// first: by_name|inputs and gradients are given by name
// SPDX-License-Identifier: MIT
#include <wane/operators/order_map.hpp>

void use(wane::view<float, 3> x, wane::view<float, 2> weight, wane::view<float, 1> bias,
         wane::token_view<float> alpha) {
#ifdef WANE_CONTROL
  wane::order_map<float>({.x = x, .weight = weight, .bias = bias}, 0.1, alpha);
#else
  wane::order_map<float>({x, weight, bias}, 0.1, alpha);
#endif
}
