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

// Scratch memory of one thread, kept from a call for the next: at most 16 blocks of 256 KiB.
// Without it a C library may give the pages back to the system after every call; a run of 16 tokens
// with a 128 x 128 state then takes twice as long. Only a block of the size asked for is taken,
// because calls repeat.
class kept_memory {
 public:
  ~kept_memory() { clear(), gone_ = true; }

  void clear() {
    for (block& b : blocks_) release_numbers(b.numbers), b = {};
  }

  void* take(std::size_t bytes) {
    for (block& b : blocks_)
      if (b.numbers && b.bytes == bytes) return std::exchange(b.numbers, nullptr);
    return allocate_numbers(bytes);
  }
  void give(void* numbers, std::size_t bytes) {
    if (!numbers) return;
    if (gone_ || bytes > largest) return release_numbers(numbers);
    for (block& b : blocks_)
      if (!b.numbers) return void(b = {numbers, bytes});
    release_numbers(std::exchange(blocks_[oldest_], {numbers, bytes}).numbers);
    oldest_ = (oldest_ + 1) % count;
  }

 private:
  struct block {
    void* numbers = nullptr;
    std::size_t bytes = 0;
  };
#ifdef WANE_ADDRESS_SANITIZER  // which sees a use after a release only where memory is released
  static constexpr std::size_t largest = 0;
#else
  static constexpr std::size_t largest = std::size_t{1} << 18;
#endif
  static constexpr int count = 16;
  block blocks_[count];
  int oldest_ = 0;
  bool gone_ = false;
};
inline thread_local kept_memory memory_of_thread;

// `count` numbers of T, uninitialised, aligned to 64 bytes.
template <class T>
class aligned_numbers {
 public:
  explicit aligned_numbers(index count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
        numbers_(static_cast<T*>(memory_of_thread.take(bytes_))) {}
  ~aligned_numbers() { memory_of_thread.give(numbers_, bytes_); }
  aligned_numbers(aligned_numbers&& other) noexcept
      : bytes_(other.bytes_), numbers_(std::exchange(other.numbers_, nullptr)) {}

  T* data() const { return numbers_; }

 private:
  std::size_t bytes_;
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
