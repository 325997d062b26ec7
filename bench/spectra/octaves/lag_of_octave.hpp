// The lag within an octave at which symbols are equal most unlike chance.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wane::bench {

// How many of the places [begin, end) have the symbol of `lag` places before.
inline std::size_t agreements(std::span<std::uint8_t const> symbols, std::size_t begin,
                              std::size_t end, std::size_t lag) {
  std::uint8_t const* const now = symbols.data();
  std::size_t sum = 0;
  while (begin < end) {  // in short runs, whose sums fit into a byte: so that vectors can be used
    std::size_t const stop = std::min(end, begin + 255);
    std::uint8_t run = 0;
    for (std::size_t i = begin; i < stop; ++i) {
      run = static_cast<std::uint8_t>(run + (now[i] == now[i - lag]));
    }
    sum += run;
    begin = stop;
  }
  return sum;
}

// The lag in (window / 2, window] whose agreements depart most from their mean over the octave, on
// the places [begin, end); 0 where none departs by five standard deviations. Of 32768 lags of
// independent symbols one in 50 octaves does by chance. An octave of two lags or fewer has 0: its
// symbols are contexts anyway.
inline std::size_t lag_of_octave(std::span<std::uint8_t const> symbols, std::size_t begin,
                                 std::size_t end, std::size_t window) {
  if (window < 4 || begin < window || end <= begin) return 0;
  std::vector<double> counts;
  for (std::size_t lag = window / 2 + 1; lag <= window; ++lag) {
    counts.push_back(static_cast<double>(agreements(symbols, begin, end, lag)));
  }
  auto sorted = counts;
  auto const middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  double const usual = *middle, places = static_cast<double>(end - begin);
  double const scatter = std::sqrt(std::max(usual * (1 - usual / places), 1.0));
  auto const farthest = std::max_element(counts.begin(), counts.end(), [&](double a, double b) {
    return std::abs(a - usual) < std::abs(b - usual);
  });
  if (std::abs(*farthest - usual) < 5 * scatter) return 0;
  return window / 2 + 1 + static_cast<std::size_t>(farthest - counts.begin());
}

}  // namespace wane::bench
