// Random numbers that are the same on every standard library: a permutation for a seed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace wane::bench {

using random_bits = std::mt19937_64;

// A number in [0, bound), bound >= 1, without bias (Lemire, 2019). std::uniform_int_distribution
// differs between standard libraries.
inline std::uint64_t below(random_bits& bits, std::uint64_t bound) {
  __extension__ using wide = unsigned __int128;
  std::uint64_t const reject = (0 - bound) % bound;
  for (;;) {
    wide const product = static_cast<wide>(bits()) * bound;
    if (static_cast<std::uint64_t>(product) >= reject) {
      return static_cast<std::uint64_t>(product >> 64);
    }
  }
}

template <class T>
void shuffle(std::span<T> items, random_bits& bits) {
  for (std::size_t n = items.size(); n > 1; --n) {
    std::swap(items[n - 1], items[static_cast<std::size_t>(below(bits, n))]);
  }
}

}  // namespace wane::bench
