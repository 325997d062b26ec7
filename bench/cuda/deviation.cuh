// deviation: the largest difference from what was computed in double, found by many threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "cuda/shared/device_array.cuh"
#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// The largest difference and value of one thread.
struct largest {
  double difference = 0, value = 0;

  // A difference that is NaN counts as infinite.
  __device__ void add(double is, double should_be) {
    double const d = std::fabs(is - should_be);
    if (!(d <= difference)) difference = d == d ? d : HUGE_VAL;
    value = std::fmax(value, std::fabs(should_be));
  }
};

class deviation {
 public:
  // Threads merge their results here. Non-negative numbers compare like their bits.
  struct sink {
    unsigned long long* bits;

    __device__ void merge(largest const& of_thread) const {
      atomicMax(bits, static_cast<unsigned long long>(__double_as_longlong(of_thread.difference)));
      atomicMax(bits + 1, static_cast<unsigned long long>(__double_as_longlong(of_thread.value)));
    }
  };

  sink to() const { return {bits_.data()}; }
  // The largest difference over the largest value.
  double relative() const {
    auto const bits = bits_.download();
    return __builtin_bit_cast(double, bits[0]) / __builtin_bit_cast(double, bits[1]);
  }

 private:
  device_array<unsigned long long> bits_{std::vector<unsigned long long>(2)};
};

}  // namespace wane::bench
