// What this thread asked of the heap so far.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace support {

struct memory_asked {
  std::ptrdiff_t times = 0, bytes = 0, largest = 0;
};
extern thread_local memory_asked memory_taken;

}  // namespace support
