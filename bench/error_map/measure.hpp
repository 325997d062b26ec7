// Errors of the memories with keys in float against double, for one decay and one way to cut a run.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

enum class memory { gla, gated_delta_net, rwkv7 };
inline constexpr memory memories[] = {memory::gla, memory::gated_delta_net, memory::rwkv7};
inline char const* name_of(memory which) {
  return which == memory::gla ? "gla" : which == memory::rwkv7 ? "rwkv7" : "gated_delta_net";
}

// Where a run is cut: after so many tokens each, the state carried on; 1 is step, 0 not at all.
inline constexpr index chunks[] = {1, 4, 64, 0};

// Of every token, head and row. e^-87 is about the least normal float, e^-104 is below all floats.
inline std::vector<float> log_decays() {
  return {0,      -1e-6f, -1e-5f, -1e-4f, -1e-3f,
          -1e-2f, -0.1f,  -1.,    -10,    -50,
          -87,    -88,    -104,   -205,   -std::numeric_limits<float>::infinity()};
}

// The largest difference from double over the largest value of double: of all outputs, and of the
// state after the last token.
struct errors {
  double output, state;
};

// One head with a state of 32 x 32; queries, keys and removals of length 1, the same numbers
// for any other arguments.
errors measure(memory which, index tokens, float log_decay, index chunk);

}  // namespace wane::bench
