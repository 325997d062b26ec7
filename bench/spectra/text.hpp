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

#include "shared/input.hpp"
#include "shared/random.hpp"

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

// The same tokens in a random order within each text: what each text is made of stays, all
// dependence between places goes.
inline corpus shuffled(corpus source, std::uint64_t seed) {
  random_bits bits(seed);
  for (auto& text : source.texts) shuffle(std::span(text), bits);
  return source;
}

// The bytes of the files. Refuses texts without dependence to measure.
inline corpus read_corpus(std::span<std::string const> paths) {
  std::vector<std::string> texts;
  for (auto const& path : paths) texts.push_back(read_file(path, "--text"));
  corpus result = corpus_of(texts);
  constexpr std::int64_t fewest = 256;
  std::string const given = paths.size() == 1
                                ? "--text " + in_quotes(paths[0])
                                : "the longest of the " + std::to_string(paths.size()) + " texts";
  if (result.longest() < fewest) {
    throw input_error(given + " has " + std::to_string(result.longest()) +
                      " bytes; a mutual information needs a text of at least " +
                      std::to_string(fewest));
  }
  if (result.symbols < 2) {
    throw input_error(given + " is one byte repeated; a mutual information needs two or more");
  }
  return result;
}

}  // namespace wane::bench
