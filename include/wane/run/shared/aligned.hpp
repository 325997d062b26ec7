// aligned_numbers: memory for vectors, aligned to 64 bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <new>

#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

// `count` numbers of T, uninitialised, aligned to 64 bytes.
template <class T>
class aligned_numbers {
 public:
  explicit aligned_numbers(index count)
      : numbers_(static_cast<T*>(
            ::operator new(static_cast<std::size_t>(count) * sizeof(T), alignment))) {}

  T* data() const { return numbers_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct release {
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T, release> numbers_;
};

}  // namespace wane::impl
