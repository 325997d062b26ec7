// Counts of binary decisions in contexts, in a table of fixed size.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectra/octaves/mixing.hpp"

namespace wane::bench {

inline std::uint64_t mixed_bits(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  return x * 0x9e3779b97f4a7c15u;
}

// A symbol of `bits` binary decisions, the highest first: before decision b the decisions made form
// the number (1 << b) | (symbol >> (bits - b)).
inline std::uint32_t node_of(std::uint8_t symbol, int b, int bits) {
  return (1u << b) | (static_cast<std::uint32_t>(symbol) >> (bits - b));
}

// One line of cache holds the counts of several decisions of a context. In a full line a new
// decision replaces the least frequent one.
class law_counts {
 public:
  // Room for `decisions` different ones, within 64 MiB.
  explicit law_counts(std::size_t decisions)
      : lines_(std::bit_ceil(std::clamp<std::size_t>(decisions / 4, 16, most_lines))) {}

  bit_counts of(std::uint64_t context, std::uint32_t node) const {
    auto const key = key_of(context, node);
    for (auto const& s : lines_[line_of(context, node)]) {
      if (s.key == key) return {s.zeros, s.ones};
    }
    return {};
  }

  void add(std::uint64_t context, std::uint32_t node, int bit) {
    auto& slots = lines_[line_of(context, node)];
    auto const key = key_of(context, node);
    auto found =
        std::find_if(slots.begin(), slots.end(), [&](slot const& s) { return s.key == key; });
    if (found == slots.end()) {
      found = std::min_element(slots.begin(), slots.end(), [](slot const& a, slot const& b) {
        return a.zeros + a.ones < b.zeros + b.ones;
      });
      *found = {key, 0, 0};
    }
    std::uint16_t& count = bit ? found->ones : found->zeros;
    if (++count == 65535) found->zeros /= 2, found->ones /= 2;
  }

 private:
  static constexpr std::size_t most_lines = std::size_t{1} << 20;

  struct slot {
    std::uint32_t key = 0;
    std::uint16_t zeros = 0, ones = 0;
  };
  using line = std::array<slot, 8>;

  static std::uint32_t key_of(std::uint64_t context, std::uint32_t node) {
    return static_cast<std::uint32_t>(mixed_bits(context + node * 0x2545f491u) >> 32) | 1u;
  }
  // Three decisions in a row share a line.
  std::size_t line_of(std::uint64_t context, std::uint32_t node) const {
    int const depth = static_cast<int>(std::bit_width(node)) - 1;
    std::uint64_t const group = node >> (depth % 3);
    return static_cast<std::size_t>(mixed_bits(context ^ (group << 40)) >> 20) &
           (lines_.size() - 1);
  }

  std::vector<line> lines_;
};

}  // namespace wane::bench
