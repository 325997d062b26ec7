// The mutual information between tokens at each lag, with its shuffled baseline and its noise.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/parallel.hpp"
#include "shared/progress.hpp"
#include "spectra/measurement.hpp"
#include "spectra/mutual_information.hpp"
#include "spectra/text.hpp"

namespace wane::bench {

using pair_counts = std::vector<std::uint64_t>;  // symbols x symbols, first symbol down

inline std::int64_t pairs_at(corpus const& source, std::int64_t lag) {
  std::int64_t pairs = 0;
  for (auto const& text : source.texts) {
    pairs += std::max<std::int64_t>(0, static_cast<std::int64_t>(text.size()) - lag);
  }
  return pairs;
}

// Counts of the pairs number begin..end-1, in the order of the texts and of the places in each.
inline pair_counts count_pairs(corpus const& source, std::int64_t lag, std::int64_t begin,
                               std::int64_t end) {
  pair_counts counts(source.symbols * source.symbols);
  std::int64_t before = 0;  // pairs in the texts before this one
  for (auto const& text : source.texts) {
    auto const here = std::max<std::int64_t>(0, static_cast<std::int64_t>(text.size()) - lag);
    std::int64_t const from = std::clamp<std::int64_t>(begin - before, 0, here);
    std::int64_t const to = std::clamp<std::int64_t>(end - before, 0, here);
    std::uint8_t const* first = text.data();
    std::uint8_t const* second = first + std::min<std::int64_t>(lag, std::ssize(text));
    for (std::int64_t i = from; i < to; ++i) ++counts[first[i] * source.symbols + second[i]];
    before += here;
  }
  return counts;
}

// The estimate from all pairs and from all but each block of them; no baseline yet.
inline measured_lag measure_lag(corpus const& source, std::int64_t lag) {
  measured_lag result{.lag = lag, .pairs = pairs_at(source, lag)};
  std::array<pair_counts, blocks> pieces;
  pair_counts all(source.symbols * source.symbols);
  for (std::size_t b = 0; b < blocks; ++b) {
    pieces[b] =
        count_pairs(source, lag, block_begin(result.pairs, b), block_begin(result.pairs, b + 1));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += pieces[b][i];
  }
  result.estimate = mutual_information(all, source.symbols);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t i = 0; i < all.size(); ++i) pieces[b][i] = all[i] - pieces[b][i];
    result.without[b] = mutual_information(pieces[b], source.symbols);
  }
  return result;
}

// Sets the baseline and its scatter from estimates on shuffled tokens, [lag][shuffle]. Under
// independence an estimate scatters as 1 / pairs, so lags near each other are pooled; around the
// mean of n estimates one more scatters sqrt(1 + 1 / n) times as much.
inline void set_baseline(std::vector<measured_lag>& lags,
                         std::vector<std::vector<double>> const& shuffled_estimates) {
  constexpr std::size_t reach = 5;
  std::vector<double> squares(lags.size());
  auto const n = static_cast<double>(shuffled_estimates[0].size());
  for (std::size_t i = 0; i < lags.size(); ++i) {
    auto const pairs = static_cast<double>(lags[i].pairs);
    for (double const x : shuffled_estimates[i]) lags[i].baseline += x / n;
    for (double const x : shuffled_estimates[i]) {
      squares[i] += std::pow(pairs * (x - lags[i].baseline), 2);
    }
  }
  for (std::size_t i = 0; i < lags.size(); ++i) {
    double sum = 0, freedom = 0;
    for (std::size_t j = i - std::min(i, reach); j < std::min(lags.size(), i + reach + 1); ++j) {
      sum += squares[j];
      freedom += n - 1;
    }
    lags[i].chance = std::sqrt(sum / freedom * (1 + 1 / n)) / static_cast<double>(lags[i].pairs);
  }
}

// The baseline comes from `shuffles` >= 2 permutations of the tokens within each text, drawn from
// `seed`. Every lag must leave a pair in every block: pairs_at(source, lag) >= blocks.
inline measurement measure_text(corpus const& source, std::span<std::int64_t const> lags,
                                std::uint64_t seed, unsigned threads, progress& shown,
                                std::size_t shuffles = 8) {
  std::vector<corpus> random(shuffles);
  for_each_task(shuffles, threads, [&](std::size_t i) { random[i] = shuffled(source, seed + i); });
  measurement result{.quantity = "mutual information",
                     .unit = "nats",
                     .baseline_name = "shuffled tokens",
                     .correlation_power = 0.5,
                     .lags = std::vector<measured_lag>(lags.size())};
  std::vector<std::vector<double>> estimates(lags.size(), std::vector<double>(shuffles));
  shown.begin("measuring the text", lags.size());
  for_each_task(lags.size(), threads, [&](std::size_t i) {
    result.lags[i] = measure_lag(source, lags[i]);
    for (std::size_t s = 0; s < shuffles; ++s) {
      estimates[i][s] = mutual_information(count_pairs(random[s], lags[i], 0, result.lags[i].pairs),
                                           source.symbols);
    }
    shown.advance();
  });
  set_baseline(result.lags, estimates);
  return result;
}

}  // namespace wane::bench
