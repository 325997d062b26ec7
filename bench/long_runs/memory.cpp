// What the program holds: its calls of operator new, and its resident memory.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

#include "long_runs/measure.hpp"

namespace wane::bench {
namespace {

std::atomic<long> times = 0;

// Not inlined: g++ would see std::free take what an operator gave.
[[gnu::noinline]] void* take(std::size_t size, std::size_t alignment) {
  ++times;
  std::size_t const whole =
      (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  return memory ? memory : throw std::bad_alloc();
}

}  // namespace

long news() { return times; }

long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace wane::bench

// NOLINTBEGIN
void* operator new(std::size_t size) { return wane::bench::take(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return wane::bench::take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND
