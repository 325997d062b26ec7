// Texts from files, and the same texts without their order.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/corpus.hpp"
#include "shared/input.hpp"
#include "shared/random.hpp"

namespace wane::bench {

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
