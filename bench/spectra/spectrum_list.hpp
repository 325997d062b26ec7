// The spectra by name: description, colour, rates.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace wane::bench {

struct named_spectrum {
  std::string name;
  std::string meaning;
  std::string colour;  // in the picture; kin have kindred ones
};

inline std::vector<named_spectrum> const& spectrum_list() {
  static std::vector<named_spectrum> const list{
      {"random-log-uniform", "log-uniform on [1/T, 1]; the median of 5 draws", "#f0a030"},
      {"random-uniform", "uniform on [1/T, 1]; the median of 5 draws", "#b06a00"},
      {"linear", "r = 1, 2, ..., N (S4D-Real with a step of 1)", "#e05050"},
      {"hippo-legs", "r = 1/T, 2/T, ..., N/T (HiPPO-LegS at position T)", "#c8507e"},
      {"linear-best", "r = c, 2c, ..., Nc, the best c searched", "#901818"},
      {"geometric", "a geometric sequence on [1/T, 1]", "#9ecbf0"},
      {"geometric-wide", "a geometric sequence on [0.3/T, 4]", "#3f8fd2"},
      {"geometric-best", "a geometric sequence, the best range searched", "#0b3c78"},
      {"soe", "a sum of exponentials, rates free; only for kernels in closed form", "#b0206a"},
      {"retnet", "1 - 2^-(5+h), h = 0..N-1 (RetNet)", "#b48ad6"},
      {"retnet-fixed", "1 - 2^-(5+3h/(N-1)) (RetNet as PoST has it)", "#6a3d9a"},
      {"rwkv7", "e^-0.5 sigmoid(w0), w0 even, the slowest 1/T (RWKV-7 in PoST)", "#8a8a20"},
      {"rwkv7-own", "as RWKV-7's own code begins, a middle layer, heads of up to 64", "#50501a"},
      {"post-static", "geometric-wide as it is, fitted on lags 1..t (--at)", "#8fbf6a"},
      {"post", "PoST: geometric-wide, stretched to position t (--at)", "#1a8f4c"}};
  return list;
}

inline std::string const& colour_of(std::string const& name) {
  for (auto const& s : spectrum_list()) {
    if (s.name == name) return s.colour;
  }
  throw std::logic_error("no colour for " + name);
}

// Fitted on lags 1..t for each position t of --at, not on the whole horizon.
inline bool is_positional(std::string const& name) { return name.starts_with("post"); }

inline bool is_random(std::string const& name) { return name.starts_with("random"); }

}  // namespace wane::bench
