// What --octaves found: the octaves of the texts and the conditions.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "shared/input.hpp"
#include "shared/progress.hpp"
#include "spectra/octaves/coarse_graining.hpp"
#include "spectra/octaves/conditions.hpp"
#include "spectra/octaves/measurement.hpp"
#include "spectra/options.hpp"
#include "spectra/text.hpp"

namespace wane::bench {

struct octave_report {
  std::vector<std::string> files;
  std::int64_t size = 0;  // tokens
  std::int64_t symbols = 0;
  octave_measurement found;
  std::vector<coarse_grained> coarse;

  equipartition equal() const { return equipartition_of(found.octaves); }
  information_decay decay() const { return information_decay_of(found.octaves); }
  self_similarity similar() const { return self_similarity_of(coarse); }
  double total() const {
    double sum = 0;
    for (auto const& octave : found.octaves) sum += octave.information();
    return sum;
  }
};

// The longest window: the largest power of two up to --horizon, by default up to 65536 and to a
// 50th of the text, which the law of the text is learned from.
inline std::int64_t longest_window_for(options const& asked, corpus const& texts) {
  constexpr std::int64_t usual = 1 << 16, most = 1 << 20, fewest = 4096;
  if (texts.longest() < fewest) {
    throw input_error("the longest text has " + std::to_string(texts.longest()) +
                      " bytes; --octaves needs one of at least " + std::to_string(fewest));
  }
  std::int64_t const limit = std::min(most, texts.longest() / 4);
  if (asked.horizon.value_or(4) > limit) {
    throw input_error("--horizon " + std::to_string(*asked.horizon) +
                      " is too long for octaves of " + std::to_string(texts.longest()) +
                      " bytes; give at most " + std::to_string(limit));
  }
  auto const horizon = asked.horizon.value_or(std::min(usual, texts.longest() / 50));
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(horizon)));
}

inline octave_report report_on_octaves(options const& asked, progress& shown) {
  corpus const texts = read_corpus(asked.text);
  std::int64_t const longest = longest_window_for(asked, texts);
  auto measured = measure_octaves(texts, longest, asked.threads, shown);
  if (measured.octaves.empty()) {
    throw input_error(
        "the texts in the latter half of what was given are too short for octaves; "
        "give longer ones, or the longest last");
  }
  return {.files = asked.text,
          .size = texts.tokens(),
          .symbols = static_cast<std::int64_t>(texts.symbols),
          .found = std::move(measured),
          .coarse = coarse_grain(texts, longest)};
}

}  // namespace wane::bench
