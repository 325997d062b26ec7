// expect: are of heads, .B, T, H.; this operator takes those of rows, .B, T, H, K.
// first: gate_from.*view<float, 3>|are of heads
// SPDX-License-Identifier: MIT
#include <wane/operators/rwkv7.hpp>

#ifdef WANE_CONTROL
using gate = wane::sequence_view<float>;
#else
using gate = wane::token_view<float>;
#endif

auto use(wane::sequence_view<float> r, gate log_decay) {
  return wane::rwkv7({.query = r, .key = r, .value = r, .removal = r, .rate = r}, log_decay);
}
