// The texts of a corpus one after the other, and how much of its own text lies before each place.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/corpus.hpp"

namespace wane::bench {

struct sequence {
  std::vector<std::uint8_t> symbols;
  std::vector<std::uint32_t> history;  // symbols before this one in its own text
  std::size_t alphabet = 0;
  int bits = 0;  // binary decisions of a symbol

  std::size_t size() const { return symbols.size(); }
};

inline sequence sequence_of(corpus const& source) {
  sequence result{.symbols = {},
                  .history = {},
                  .alphabet = source.symbols,
                  .bits = std::max(1, static_cast<int>(std::bit_width(source.symbols - 1)))};
  for (auto const& text : source.texts) {
    result.symbols.insert(result.symbols.end(), text.begin(), text.end());
    for (std::size_t i = 0; i < text.size(); ++i) {
      result.history.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return result;
}

inline constexpr std::size_t longest_context = 20;

// Entry k is a hash of the last k symbols before place t, entry 0 a constant. Those with k above
// history[t] have no meaning.
using context_hashes = std::array<std::uint64_t, longest_context + 1>;

inline context_hashes contexts_at(sequence const& s, std::size_t t) {
  context_hashes result{1};
  for (std::size_t k = 1; k <= longest_context; ++k) {
    std::uint64_t const symbol = k <= t ? s.symbols[t - k] + 1u : 0u;
    result[k] = (result[k - 1] + symbol) * 0x9e3779b97f4a7c15u + k;
  }
  return result;
}

}  // namespace wane::bench
