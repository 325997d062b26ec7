// The operators new of a test program: they count what is asked of them, and fail where told to.
// SPDX-License-Identifier: MIT
#include "support/memory_asked.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace support {

thread_local memory_asked memory_taken;

namespace {

constexpr std::ptrdiff_t never = std::numeric_limits<std::ptrdiff_t>::max();
// Requests count down from `before_failure`; those that find 1, or less than `last`, fail.
std::atomic<std::ptrdiff_t> held = 0, before_failure = never, last_failure = never;

#ifndef WANE_TESTS_THREAD_SANITIZER
bool fails_now() {
  if (before_failure.load(std::memory_order_relaxed) == never) return false;
  std::ptrdiff_t const left = before_failure.fetch_sub(1);
  return left <= 1 && left >= last_failure.load();
}

// Not inlined: g++ would see std::free take what an operator gave.
[[gnu::noinline]] void* ask(std::size_t size, std::size_t alignment = 0) {
  auto const bytes = static_cast<std::ptrdiff_t>(size);
  ++memory_taken.times, memory_taken.bytes += bytes,
      memory_taken.largest = std::max(memory_taken.largest, bytes);
  if (fails_now()) throw std::bad_alloc();
  void* const memory =
      alignment == 0
          ? std::malloc(std::max<std::size_t>(size, 1))
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  held.fetch_add(1, std::memory_order_relaxed);
  return memory;
}
void* ask_or_null(std::size_t size, std::size_t alignment = 0) noexcept {
  try {
    return ask(size, alignment);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}
[[gnu::noinline]] void give_back(void* memory) noexcept {
  if (!memory) return;
  held.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}
#endif

}  // namespace

std::ptrdiff_t blocks_held() { return held.load(); }

allocation_fault::allocation_fault(std::ptrdiff_t n, failing how) : n_(n) {
  last_failure = how == failing::once ? 1 : -never;
  before_failure = n;
}
allocation_fault::~allocation_fault() { before_failure = never; }
std::ptrdiff_t allocation_fault::requests() const { return n_ - before_failure.load(); }
bool allocation_fault::has_struck() const { return requests() >= n_; }

}  // namespace support

#ifndef WANE_TESTS_THREAD_SANITIZER
// All forms: sanitizers have their own of those that are not replaced.
// NOLINTBEGIN
void* operator new(std::size_t size) { return support::ask(size); }
void* operator new[](std::size_t size) { return support::ask(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return support::ask(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return support::ask(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  return support::ask_or_null(size);
}
void* operator new[](std::size_t size, std::nothrow_t const&) noexcept {
  return support::ask_or_null(size);
}
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return support::ask_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return support::ask_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { support::give_back(memory); }
void operator delete[](void* memory) noexcept { support::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { support::give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { support::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { support::give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { support::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  support::give_back(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  support::give_back(memory);
}
void operator delete(void* memory, std::nothrow_t const&) noexcept { support::give_back(memory); }
void operator delete[](void* memory, std::nothrow_t const&) noexcept { support::give_back(memory); }
// NOLINTEND
#endif
