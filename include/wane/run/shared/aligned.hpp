// aligned_numbers: memory for vectors, aligned to 64 bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <utility>

#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

[[gnu::noinline]] inline void* allocate_numbers(std::size_t bytes) {
  return ::operator new (bytes, std::align_val_t{64});
}
[[gnu::noinline]] inline void release_numbers(void* numbers) {
  ::operator delete (numbers, std::align_val_t{64});
}

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

}  // namespace wane::impl
