// The operators new of a test program: they count what is asked of them.
// SPDX-License-Identifier: MIT
#include "support/memory_asked.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace support {

thread_local memory_asked memory_taken;

// Not inlined: g++ would see std::free take what an operator gave.
[[gnu::noinline]] static void* ask(std::size_t size, std::size_t alignment = 0) {
  auto const bytes = static_cast<std::ptrdiff_t>(size);
  ++memory_taken.times, memory_taken.bytes += bytes,
      memory_taken.largest = std::max(memory_taken.largest, bytes);
  void* const memory =
      alignment == 0
          ? std::malloc(std::max<std::size_t>(size, 1))
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return memory ? memory : throw std::bad_alloc();
}

}  // namespace support

// NOLINTBEGIN
void* operator new(std::size_t size) { return support::ask(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return support::ask(size, static_cast<std::size_t>(alignment));
}
// As the library makes it of the others, but for sanitizers, which have their own.
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  try {
    return support::ask(size);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND
