// mapped_operator: a row of the table of wane-error-map.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "error_map/bound.hpp"

namespace wane::bench {

enum class io_type { float32, bfloat16 };
inline char const* name_of(io_type io) { return io == io_type::float32 ? "float" : "bfloat16"; }

// The log decays that an operator takes: none but its own; all that are finite; or also -inf.
enum class takes_decays { none, finite, all };

struct mapped_operator {
  std::string name;
  takes_decays takes;
  error_growth growth;
  // The outputs [T, heads, columns] of the first tokens with a float state, in pieces of so many
  // tokens with the state carried on: 1 is step, 0 is one run of all.
  std::vector<float> (*outputs)(io_type, index tokens, double log_decay, index chunk);
  // The same inputs through the same operator in double, one token after the other.
  std::vector<double> (*reference)(io_type, index tokens, double log_decay);
};

// The table.
std::vector<mapped_operator> gated_operators();
std::vector<mapped_operator> scanning_operators();
std::vector<mapped_operator> erasing_operators();
std::vector<mapped_operator> leading_operators();
std::vector<mapped_operator> channel_operators();
std::vector<mapped_operator> order_operators();
std::vector<mapped_operator> solving_operators();
std::vector<mapped_operator> all_operators();

}  // namespace wane::bench
