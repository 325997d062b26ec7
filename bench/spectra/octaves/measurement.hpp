// The octave-band predictive information of a text, from the code lengths of nested predictors.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/parallel.hpp"
#include "shared/progress.hpp"
#include "spectra/measurement.hpp"
#include "spectra/octaves/lag_of_octave.hpp"
#include "spectra/octaves/sequence.hpp"
#include "spectra/octaves/window_predictor.hpp"

namespace wane::bench {

// Sums over the places of one stretch of text that have the whole window before them.
struct octave_block {
  double before = 0, after = 0;  // bits to code a symbol by the last sigma, by the last 2 sigma
  std::int64_t places = 0;

  octave_block& operator+=(octave_block const& other) {
    before += other.before;
    after += other.after;
    places += other.places;
    return *this;
  }
  double gain() const { return places ? (before - after) / static_cast<double>(places) : 0; }
};

//   J(sigma) = I(x_t ; x_{t-2 sigma : t-sigma} | x_{t-sigma : t})          PoST, Definition 3.4
//
// in bits, as the code length that the farther half of the window saves. sigma = 0 is the last
// symbol alone, which the paper counts to no octave.
struct measured_octave {
  std::int64_t sigma = 0;
  std::int64_t window = 0;  // 2 sigma, or 1
  std::int64_t lag = 0;     // a lag of the octave whose symbol is a context, 0 for none
  std::array<octave_block, blocks> pieces{};

  octave_block all(std::size_t without = blocks) const {
    octave_block sum;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (b != without) sum += pieces[b];
    }
    return sum;
  }
  std::size_t pieces_measured() const {
    return static_cast<std::size_t>(
        std::count_if(pieces.begin(), pieces.end(), [](auto const& p) { return p.places > 0; }));
  }
  double information() const { return all().gain(); }
  double code_length() const {
    auto const sum = all();
    return sum.after / static_cast<double>(std::max<std::int64_t>(1, sum.places));
  }

  // By leaving out each stretch in turn.
  double standard_error() const {
    std::array<double, blocks> without{};
    for (std::size_t b = 0; b < blocks; ++b) without[b] = all(b).gain();
    return jackknife_error(without);
  }
  double reach() const { return student_95 * standard_error(); }  // of the 95 % interval
  bool above_noise() const { return information() > reach(); }
};

struct octave_measurement {
  double plain = 0;         // bits to code a symbol without any before it
  std::int64_t scored = 0;  // places whose code lengths count
  measured_octave last_symbol;
  std::vector<measured_octave> octaves;  // sigma = 1, 2, 4, ...
};

// Which places are predicted. The law is learned from all. Those of the latter half count, at most
// 2^20 of them, in as many stretches as there are blocks; some before the half train the mixture.
class scored_places {
 public:
  explicit scored_places(std::size_t size)
      : half_(size / 2),
        stretch_(std::max<std::size_t>(1, (size - half_) / blocks)),
        scored_(std::min(stretch_, (std::size_t{1} << 20) / blocks)),
        training_(std::min(size / 8, std::size_t{1} << 18)) {}

  std::size_t first() const { return half_; }
  std::size_t block_of(std::size_t t) const { return (t - half_) / stretch_; }
  bool counts(std::size_t t) const {
    return t >= half_ && block_of(t) < blocks && (t - half_) % stretch_ < scored_;
  }
  bool trains(std::size_t t) const { return t < half_ && t + training_ >= half_; }

 private:
  std::size_t half_, stretch_, scored_, training_;
};

// The lag of each level, from agreements before the half.
inline std::vector<std::size_t> lags_of_levels(sequence const& source, int last, unsigned threads) {
  std::vector<std::size_t> lags(static_cast<std::size_t>(last) + 1);
  std::size_t const half = source.size() / 2;
  for_each_task(lags.size(), threads, [&](std::size_t l) {
    std::size_t const places =
        std::min({source.size() / 4, std::size_t{1} << 18, (std::size_t{1} << 30) >> l});
    lags[l] = lag_of_octave(source.symbols, half - places, half, std::size_t{1} << l);
  });
  return lags;
}

// Windows of 1, 2, 4, ... up to `longest_window`, a power of two, at most a quarter of the text.
inline octave_measurement measure_octaves(corpus const& texts, std::int64_t longest_window,
                                          unsigned threads, progress& shown) {
  sequence const source = sequence_of(texts);
  auto const longest = static_cast<std::size_t>(longest_window);
  int const last = static_cast<int>(std::bit_width(longest)) - 1;
  auto const lags = lags_of_levels(source, last, threads);
  window_predictor predictor(source, last, lags);
  scored_places const places(source.size());
  octave_measurement result;
  std::vector<measured_octave> levels(lags.size());
  double plain = 0;
  constexpr std::size_t piece = 1 << 16;
  shown.begin("predicting the text, 65536 symbols at a time", source.size() / piece + 1);
  for (std::size_t t = 0; t < source.size(); ++t) {
    if (t >= longest) predictor.learn(t - longest);
    if (places.counts(t)) {
      auto const& p = predictor.predict(t);
      plain -= std::log2(p[0]);
      ++result.scored;
      for (std::size_t l = 0; l < levels.size() && (1u << l) <= source.history[t]; ++l) {
        levels[l].pieces[places.block_of(t)] += {-std::log2(p[l]), -std::log2(p[l + 1]), 1};
      }
    } else if (places.trains(t)) {
      predictor.predict(t);
    }
    predictor.enter(t);
    if (t % piece == 0) shown.advance();
  }
  result.plain = plain / static_cast<double>(std::max<std::int64_t>(1, result.scored));
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].window = std::int64_t{1} << l;
    levels[l].sigma = levels[l].window / 2;
    levels[l].lag = static_cast<std::int64_t>(lags[l]);
  }
  // Texts of the latter half may be shorter than the longest window.
  while (levels.size() > 1 && levels.back().pieces_measured() < blocks / 2) levels.pop_back();
  result.last_symbol = levels.front();
  result.octaves.assign(levels.begin() + 1, levels.end());
  return result;
}

}  // namespace wane::bench
