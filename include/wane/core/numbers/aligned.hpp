// aligned_numbers, aligned_vector: memory for vectors, aligned to 64 bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

// Ordinary memory, aligned by hand: aligned `operator new` takes ten times as long in glibc, and a
// short run takes memory six times. The address of the block lies before the numbers.
#ifdef WANE_ADDRESS_SANITIZER  // which sees more of blocks without a margin
inline void* allocate_numbers(std::size_t bytes) {
  return ::operator new (bytes, std::align_val_t{64});
}
inline void release_numbers(void* numbers) { ::operator delete (numbers, std::align_val_t{64}); }
#else
[[gnu::noinline]] inline void* allocate_numbers(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  char* const block = static_cast<char*>(::operator new(bytes + alignment));
  std::size_t const skip = alignment - reinterpret_cast<std::uintptr_t>(block) % alignment;
  std::memcpy(block + skip - sizeof block, &block, sizeof block);
  return block + skip;
}
[[gnu::noinline]] inline void release_numbers(void* numbers) {
  if (!numbers) return;
  char* block;
  std::memcpy(&block, static_cast<char*>(numbers) - sizeof block, sizeof block);
  ::operator delete(block);
}
#endif

// `count` numbers of T, uninitialised, aligned to 64 bytes.
template <class T>
class aligned_numbers {
 public:
  explicit aligned_numbers(index count)
      : numbers_(static_cast<T*>(allocate_numbers(static_cast<std::size_t>(count) * sizeof(T)))) {}
  ~aligned_numbers() { release_numbers(numbers_); }
  aligned_numbers(aligned_numbers&& other) noexcept
      : numbers_(std::exchange(other.numbers_, nullptr)) {}

  T* data() const { return numbers_; }

 private:
  T* numbers_;
};

template <class T>
struct aligned_allocator {
  using value_type = T;

  aligned_allocator() = default;
  template <class Other>
  aligned_allocator(aligned_allocator<Other> const&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_numbers(count * sizeof(T))); }
  void deallocate(T* numbers, std::size_t) { release_numbers(numbers); }
  bool operator==(aligned_allocator const&) const { return true; }
};

// A std::vector whose memory is aligned; copied from and to those whose memory is not.
template <class T>
class aligned_vector : public std::vector<T, aligned_allocator<T>> {
  using base = std::vector<T, aligned_allocator<T>>;

 public:
  using base::base;
  aligned_vector() = default;
  aligned_vector(std::vector<T> const& x) : base(x.begin(), x.end()) {}
  operator std::vector<T>() const { return {this->begin(), this->end()}; }
};

}  // namespace wane::impl
