// chunk_state_memory: the numbers of a state in memory that one thread of a warp holds.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/scalar.hpp"

namespace wane::cuda::impl {

// The place in memory of this thread's number 0 of fragment 0, the strides of rows and columns, and
// how many rows and columns the state has from there on.
template <class X>
struct chunk_state_memory {
  X* first;
  index row, column;
  int rows, columns;

  WANE_INLINE bool has(int r, int e) const { return 8 * r + e % 2 < rows && 8 * (e / 2) < columns; }
  WANE_INLINE X& at(int r, int e) const {
    return first[(8 * r + e % 2) * row + 8 * (e / 2) * column];
  }
  WANE_INLINE float read(int r, int e) const {
    return has(r, e) ? static_cast<float>(at(r, e)) : 0.f;
  }
};

}  // namespace wane::cuda::impl
