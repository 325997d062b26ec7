// What a test asks of the heap, counted. A program that includes this has its operators new.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace support {

struct memory_asked {
  std::ptrdiff_t times = 0, bytes = 0, largest = 0;
};
inline thread_local memory_asked asked;

inline void* ask(std::size_t size, std::size_t alignment = 0) {
  auto const bytes = static_cast<std::ptrdiff_t>(size);
  ++asked.times, asked.bytes += bytes, asked.largest = std::max(asked.largest, bytes);
  void* const memory =
      alignment == 0
          ? std::malloc(std::max<std::size_t>(size, 1))
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return memory ? memory : throw std::bad_alloc();
}

}  // namespace support

// Weak: several files of a program may include this, and the standard forbids inline ones. Not
// inlined: g++ would see std::free take what an operator gave.
// NOLINTBEGIN
#define WANE_TEST_OPERATOR [[gnu::noinline, gnu::weak]]
WANE_TEST_OPERATOR void* operator new(std::size_t size) { return support::ask(size); }
WANE_TEST_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment) {
  return support::ask(size, static_cast<std::size_t>(alignment));
}
WANE_TEST_OPERATOR void operator delete(void* memory) noexcept { std::free(memory); }
WANE_TEST_OPERATOR void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
WANE_TEST_OPERATOR void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
WANE_TEST_OPERATOR void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#undef WANE_TEST_OPERATOR
// NOLINTEND
