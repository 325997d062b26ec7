// The bound that docs/numerics.md states for a float state, and what an operator adds to it.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// Why the error of an operator grows as it does; each field that is not the default has its reason
// in the table.
struct error_growth {
  // The part of a state that a token erases, on average over the directions of a row.
  double erased = 0;
  // The slowest log decay, where the operator has decays of its own.
  double slowest = 0;
  // The most tokens that are remembered, whatever the decay.
  double most_tokens = std::numeric_limits<double>::infinity();
  // The most tokens in a row that round in the same direction, such as those in which a state fades
  // and nothing is written: errors add up, half a unit each.
  double idle = 0;
  // Roundings of a state by a token; where one is larger than half a unit, its square counts.
  double roundings = 1;
  // Products that are summed for an output.
  double summed = 16;
  // How many times a relative error of a state becomes larger in an output.
  double condition = 1;
  // The largest error of many over the largest output: 3 for drives of random sign, 5 for drives
  // of one sign (docs/numerics.md).
  double spread = 3;
};

inline constexpr double half_unit = 0x1p-24;  // of a float at 1

// Tokens that a state remembers: min(T, 1 / (1 - w)), where w is what a token leaves of it.
inline double memory_of(error_growth const& of, index tokens, double log_decay) {
  double const left = std::exp(std::min(log_decay + of.slowest, 0.)) * (1 - of.erased);
  double const all = std::min(static_cast<double>(tokens), of.most_tokens);
  return left < 1 ? std::min(all, 1 / (1 - left)) : all;
}

// Of the largest difference from double over the largest output. Inputs of 16 bits: a sum with one
// of them may be exact, so that what a slow decay takes is rounded in one direction, as in a state
// that nothing is written in.
inline double bound_of(error_growth const& of, index tokens, double log_decay,
                       bool inputs_of_16_bits = false) {
  double const memory = memory_of(of, tokens, log_decay);
  double const at_random = std::sqrt(of.roundings * memory) + std::sqrt(of.summed);
  double const in_one_direction = inputs_of_16_bits ? memory : std::min(of.idle, memory);
  return of.condition * half_unit * (of.spread * at_random + in_one_direction);
}

}  // namespace wane::bench
