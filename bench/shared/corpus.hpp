// Texts as tokens: bytes, numbered from 0 in the order of their value.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wane::bench {

// Several texts over one alphabet. They are never joined: no pair has its symbols in two texts.
struct corpus {
  std::vector<std::vector<std::uint8_t>> texts;
  std::size_t symbols = 0;

  std::int64_t tokens() const {
    std::int64_t n = 0;
    for (auto const& text : texts) n += static_cast<std::int64_t>(text.size());
    return n;
  }
  std::int64_t longest() const {
    std::size_t n = 0;
    for (auto const& text : texts) n = std::max(n, text.size());
    return static_cast<std::int64_t>(n);
  }
};

inline corpus corpus_of(std::span<std::string const> texts) {
  std::array<bool, 256> seen{};
  for (auto const& text : texts) {
    for (char const c : text) seen[static_cast<unsigned char>(c)] = true;
  }
  corpus result;
  std::array<std::uint8_t, 256> number{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (seen[byte]) number[byte] = static_cast<std::uint8_t>(result.symbols++);
  }
  for (auto const& text : texts) {
    std::vector<std::uint8_t> tokens(text.size());
    std::transform(text.begin(), text.end(), tokens.begin(),
                   [&](char c) { return number[static_cast<unsigned char>(c)]; });
    result.texts.push_back(std::move(tokens));
  }
  return result;
}

}  // namespace wane::bench
