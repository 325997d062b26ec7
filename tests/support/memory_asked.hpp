// What a test program asks of the heap, and requests that fail.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "support/thread_sanitizer.hpp"  // its operators new cannot be replaced: all counts are zero

namespace support {

// What this thread asked of the heap so far.
struct memory_asked {
  std::ptrdiff_t times = 0, bytes = 0, largest = 0;
};
extern thread_local memory_asked memory_taken;

// How many blocks all threads hold.
std::ptrdiff_t blocks_held();

enum class failing { once, from_then_on };

//   { allocation_fault const fault(3, failing::once); call(); }
//
// While it lives, the request number n of all threads fails, or all from number n on; they count
// from 1.
class allocation_fault {
 public:
  allocation_fault(std::ptrdiff_t n, failing how);
  allocation_fault(allocation_fault const&) = delete;
  ~allocation_fault();

  std::ptrdiff_t requests() const;  // so far
  bool has_struck() const;          // there were n requests
 private:
  std::ptrdiff_t n_;
};

}  // namespace support
