// Binary decisions: probabilities learned from counts, and their mixture in the logistic domain.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wane::bench {

// How often a decision was 0 and 1.
struct bit_counts {
  std::uint32_t zeros = 0, ones = 0;

  std::uint32_t total() const { return zeros + ones; }
};

inline constexpr float surest = 1.0f / 65536;  // no probability is nearer to 0 or 1

inline float squash(float x) { return std::clamp(1 / (1 + std::exp(-x)), surest, 1 - surest); }

// The inverse of squash, from a table: 4096 steps of the probability.
inline float stretch(float p) {
  static std::array<float, 4096> const table = [] {
    std::array<float, 4096> t{};
    for (std::size_t i = 0; i < t.size(); ++i) {
      double const x = (static_cast<double>(i) + 0.5) / 4096;
      t[i] = static_cast<float>(std::log(x / (1 - x)));
    }
    return t;
  }();
  constexpr float narrow = 1.0f / 64;  // the table is too coarse near the ends
  if (p > narrow && p < 1 - narrow) return table[static_cast<std::size_t>(p * 4096)];
  return std::log(p / (1 - p));
}

// What a pair of counts means is learned: a context that was seen once with a 1 after it predicts
// a 1 with a probability that depends on the text. Counts are told apart up to 4, then in steps.
class count_map {
 public:
  count_map() {
    for (std::size_t z = 0; z < steps; ++z) {
      for (std::size_t o = 0; o < steps; ++o) {
        cells_[z * steps + o] = {(first[o] + 0.4f) / (first[z] + first[o] + 0.8f), 0};
      }
    }
  }

  // The probability of a 1. Large counts of both give it without a table.
  float of(bit_counts const& n) const {
    if (speaks_for_itself(n)) {
      return (static_cast<float>(n.ones) + 0.4f) / (static_cast<float>(n.total()) + 0.8f);
    }
    return std::clamp(cells_[cell_of(n)].probability, surest, 1 - surest);
  }

  void learn(bit_counts const& n, int bit) {
    if (speaks_for_itself(n)) return;
    constexpr float most = 1023;
    auto& learned = cells_[cell_of(n)];
    learned.probability += (static_cast<float>(bit) - learned.probability) / (learned.seen + 1.5f);
    learned.seen = std::min(learned.seen + 1, most);
  }

 private:
  static constexpr std::size_t steps = 12;
  static constexpr std::array<float, steps> first{0, 1, 2, 3, 4, 5, 7, 10, 16, 32, 128, 1024};

  static bool speaks_for_itself(bit_counts const& n) {
    return n.total() >= 64 && n.zeros > 0 && n.ones > 0;
  }
  static std::size_t step_of(std::uint32_t n) {
    if (n < 5) return n;
    return n < 7 ? 5 : n < 10 ? 6 : n < 16 ? 7 : n < 32 ? 8 : n < 128 ? 9 : n < 1024 ? 10 : 11;
  }
  static std::size_t cell_of(bit_counts const& n) {
    return step_of(n.zeros) * steps + step_of(n.ones);
  }

  struct cell {
    float probability, seen;
  };
  std::array<cell, steps * steps> cells_;
};

// p = squash(w . x), the weights learned by the gradient of the code length, in sets that the
// caller chooses between. The first input has weight 1 at the start and the others 0, so that the
// mixture begins as the first input and departs from it only where that makes the code shorter.
template <std::size_t Inputs>
class mixer {
 public:
  explicit mixer(std::size_t sets) : sets_(sets) {}

  using inputs = std::array<float, Inputs>;

  float mix(inputs const& x, std::size_t set) const {
    float sum = 0;
    for (std::size_t i = 0; i < Inputs; ++i) sum += sets_[set].weights[i] * x[i];
    return squash(sum);
  }

  void learn(inputs const& x, std::size_t set, float mixed, int bit) {
    auto& [weights, seen] = sets_[set];
    float const rate = std::max(0.006f / std::sqrt(1 + seen / 64), 0.0001f);
    float const step = rate * (static_cast<float>(bit) - mixed);
    for (std::size_t i = 0; i < Inputs; ++i) weights[i] += step * x[i];
    seen += 1;
  }

 private:
  struct weight_set {
    inputs weights{1};
    float seen = 0;
  };
  std::vector<weight_set> sets_;
};

}  // namespace wane::bench
