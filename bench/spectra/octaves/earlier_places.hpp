// Where the last k symbols stood before, and what followed there, octave by octave.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "spectra/octaves/law_counts.hpp"

namespace wane::bench {

// Of the symbols that followed, how many share exactly their first i decisions with the right one.
// Counts of each decision follow from it without a look at the rest of the right symbol.
class followers {
 public:
  void add(std::uint8_t follower, std::uint8_t right, int bits) {
    auto const differ = static_cast<unsigned>(follower ^ right);
    ++shared_[static_cast<std::size_t>(bits) - static_cast<std::size_t>(std::bit_width(differ))];
    ++total_;
  }
  std::uint32_t total() const { return total_; }

  // Before decision b: those that went on as the right symbol does, and those that did not.
  bit_counts at(int b, int right_bit) const {
    std::uint32_t wrong = shared_[static_cast<std::size_t>(b)], right = 0;
    for (std::size_t i = static_cast<std::size_t>(b) + 1; i < shared_.size(); ++i) {
      right += shared_[i];
    }
    return right_bit ? bit_counts{wrong, right} : bit_counts{right, wrong};
  }

 private:
  std::array<std::uint16_t, 9> shared_{};
  std::uint32_t total_ = 0;
};

// Every place of a sequence by its last k symbols, linked to the place before with the same ones.
class earlier_places {
 public:
  using place = std::uint32_t;
  static constexpr place none = std::numeric_limits<place>::max();

  // Links reach back at least `reach` places.
  earlier_places(std::size_t length, std::size_t symbols, std::size_t reach)
      : length_(length),
        heads_(std::bit_ceil(std::min(symbols / 2 + 1, std::size_t{1} << 24)), none),
        links_(std::bit_ceil(std::min(symbols, reach)), none) {}

  std::size_t length() const { return length_; }

  // Calls visit(p) for the places p < t after the same `length` symbols, the latest first, while it
  // returns true, at most `most` of them.
  template <class Visit>
  void visit(std::span<std::uint8_t const> sequence, std::size_t t, std::uint64_t context,
             std::size_t most, Visit const& go_on) const {
    place p = heads_[head_of(context)];
    for (std::size_t i = 0; i < most && p != none; ++i) {
      std::uint8_t const* const here = sequence.data() + t - length_;
      bool const same = std::memcmp(sequence.data() + p - length_, here, length_) == 0;
      if (same && !go_on(std::size_t{p})) return;
      if (t - p > links_.size()) return;  // its link was overwritten
      p = links_[p & (links_.size() - 1)];
    }
  }

  void add(std::size_t t, std::uint64_t context) {
    auto& head = heads_[head_of(context)];
    links_[t & (links_.size() - 1)] = head;
    head = static_cast<place>(t);
  }

 private:
  std::size_t head_of(std::uint64_t context) const {
    return static_cast<std::size_t>(mixed_bits(context) >> 24) & (heads_.size() - 1);
  }

  std::size_t length_;
  std::vector<place> heads_, links_;
};

}  // namespace wane::bench
