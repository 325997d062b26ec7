// Where an upper triangle lies in memory: its rows one after the other.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/place.hpp"

namespace wane::cuda::impl {

// A warp reads 32 neighbours of a row from 32 different banks. The same holds for neighbours of a
// column where `rows` is a multiple of 32.
WANE_HOST_DEVICE inline index numbers_of_triangle(index rows) { return rows * (rows + 1) / 2; }
WANE_HOST_DEVICE inline int place_in_triangle(int rows, int i, int j) {
  return i * (2 * rows - i - 1) / 2 + j;
}

}  // namespace wane::cuda::impl
