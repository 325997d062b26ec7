// Arrays for measurements, on pages of their own that are mapped already, at different offsets.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// Each array starts 1344 bytes further into its page than the one before: at equal places in their
// pages, loads of one would wait for stores to another.
class buffers {
 public:
  template <class T>
  T* add(index count) {
    constexpr std::size_t page = 4096, stagger = 1344;
    std::size_t const offset = held_.size() * stagger % page;
    std::size_t const bytes = static_cast<std::size_t>(count) * sizeof(T);
    std::size_t const whole = (bytes + 2 * page) / page * page;
    void* const memory = std::aligned_alloc(page, whole);
    if (!memory) throw std::bad_alloc();
    held_.emplace_back(memory, &std::free);
    std::memset(memory, 0, whole);
    return reinterpret_cast<T*>(static_cast<char*>(memory) + offset);
  }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*)>> held_;
};

// The same numbers on every machine, uniform in [low, high).
class numbers {
 public:
  double operator()(double low, double high) {
    state_ = state_ * 1664525u + 1013904223u;
    return low + (high - low) * static_cast<double>(state_ >> 8) / 16777216.0;
  }

 private:
  unsigned state_ = 12345;
};

}  // namespace wane::bench
