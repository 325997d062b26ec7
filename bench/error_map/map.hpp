// The cells of the map: how far an operator is from double, for a length, a decay and a cut.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "error_map/mapped_operator.hpp"

namespace wane::bench {

struct map_cell {
  std::string name;
  io_type io;
  index tokens;
  double log_decay;
  bool has_decay;  // false: the operator has its own
  index chunk;     // tokens of a piece; 1 is step, 0 is the whole in one run
  double error, bound;

  bool holds() const { return error <= bound; }
};

// A line that names operator, T, decay, cut, error and bound.
std::string text_of(map_cell const&);

// 1, 4, 16, ... up to most, and most.
std::vector<index> lengths(index most);
// The log decays of the map that an operator takes; {0} for one with its own.
std::vector<double> log_decays_of(mapped_operator const&);

// All cells of an operator for a type and a log decay. Bounds are multiplied by `allowance`.
std::vector<map_cell> cells_of(mapped_operator const&, io_type, double log_decay, index most_tokens,
                               double allowance = 1);

// A checksum of the bits of the outputs of so many tokens, cut so.
std::uint64_t bits_of(mapped_operator const&, io_type, index tokens, double log_decay, index chunk);

}  // namespace wane::bench
