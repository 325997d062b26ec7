// The mutual information of two symbols from counts of their pairs, corrected for bias.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wane::bench {

// In nats, of a square table of counts (first symbol down, second across).
//
//   I = sum_ab (n_ab / N) log(n_ab N / (n_a n_b)) - (K_ab - K_a - K_b + 1) / (2 N)
//
// The plug-in estimate is too large; the second term is its bias to first order (Miller 1955), with
// K the number of cells that occur at all. Cells seen less than about once are corrected too
// little by it: the shuffled baseline shows the remainder. An empty table has no
// information: 0.
inline double mutual_information(std::span<std::uint64_t const> counts, std::size_t symbols) {
  auto const n_log_n = [](std::uint64_t n) {
    auto const x = static_cast<double>(n);
    return n > 1 ? x * std::log(x) : 0.0;
  };
  std::vector<std::uint64_t> second(symbols);
  std::uint64_t total = 0;
  double joint = 0, apart = 0, occupied = 0;
  for (std::size_t a = 0; a < symbols; ++a) {
    std::uint64_t first = 0;
    for (std::size_t b = 0; b < symbols; ++b) {
      std::uint64_t const n = counts[a * symbols + b];
      if (n == 0) continue;
      first += n;
      second[b] += n;
      joint += n_log_n(n);
      occupied += 1;
    }
    total += first;
    apart += n_log_n(first);
    occupied -= first > 0;
  }
  for (std::uint64_t const n : second) {
    apart += n_log_n(n);
    occupied -= n > 0;
  }
  if (total == 0) return 0;
  return (joint - apart + n_log_n(total) - (occupied + 1) / 2) / static_cast<double>(total);
}

}  // namespace wane::bench
