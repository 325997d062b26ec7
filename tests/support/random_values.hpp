// Numbers that look random and are the same on every machine (splitmix64, Steele et al. 2014).
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

namespace support {

class random_values {
 public:
  explicit random_values(std::uint64_t seed = 1) : state_(seed << 40) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
  }
  // A negative number whose size is spread evenly in the logarithm.
  double log_decay(double least = 1e-6, double most = 3) {
    return -std::exp(uniform(std::log(least), std::log(most)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace support
