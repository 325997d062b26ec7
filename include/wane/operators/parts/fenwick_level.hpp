// fenwick_level: when a level of log-linear attention is written, and when it is read.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

// Level `number` >= 1 at a token, counted from 0: 2^(number-1) tokens write it, and the next
// 2^(number-1) read it.
struct fenwick_level {
  index number, token;

  WANE_INLINE bool is_read() const { return token >> (number - 1) & 1; }
  // Whether this token begins the level anew.
  WANE_INLINE bool begins() const { return (token & ((index{1} << number) - 1)) == 0; }
};

}  // namespace wane::impl
