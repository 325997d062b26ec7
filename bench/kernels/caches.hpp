// Sizes of problems: half of the second-level cache, or far beyond every cache.
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// The second-level cache of one core; 1 MiB if the system does not say.
inline index second_level_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  if (long const bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return bytes;
#endif
  return index{1} << 20;
}

// The elements of each of `arrays` arrays: a multiple of 1024.
enum class room { cache, memory };
inline index elements(room where, index arrays, index element_bytes) {
  if (where == room::memory) return index{1} << 25;
  return second_level_bytes() / 2 / arrays / element_bytes / 1024 * 1024;
}

}  // namespace wane::bench
