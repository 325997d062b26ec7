// aligned_numbers: memory for vectors, aligned to 64 bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <new>

#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

[[gnu::noinline]] inline void* allocate(std::size_t bytes) {
  return ::operator new(bytes, std::align_val_t{64});
}
[[gnu::noinline]] inline void release(void* numbers) {
  ::operator delete(numbers, std::align_val_t{64});
}

// `count` numbers of T, uninitialised, aligned to 64 bytes.
template <class T>
class aligned_numbers {
 public:
  explicit aligned_numbers(index count)
      : numbers_(static_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T)))) {}
  ~aligned_numbers() { release(numbers_); }
  aligned_numbers(aligned_numbers const&) = delete;
  aligned_numbers& operator=(aligned_numbers const&) = delete;

  T* data() const { return numbers_; }

 private:
  T* numbers_;
};

}  // namespace wane::impl
