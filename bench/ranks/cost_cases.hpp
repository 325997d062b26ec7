// The constants of the curves in docs/ranks.md: memories and rates as fitted, networks by class.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <vector>

#include "ranks/cost_model.hpp"

namespace wane::bench {

// wane-bench-ranks --model check, one thread of an AMD EPYC, g++ 12.2 -O3 -march=native,
// 2026-11-28.
inline constexpr double fitted_multiply_adds = 2.45e10;

struct fitted_memory {
  memory_cost memory;
  rank_cost rank;
};
inline constexpr std::array<fitted_memory, 4> fitted_memories{{
    {{"gla", 8, 64, 64, false, 1.35, 8 * 5 * 64, 1400}, {2.6e5, 1.41, fitted_multiply_adds}},
    {{"gla", 32, 128, 128, false, 1.25, 32 * 5 * 128, 1400}, {2.6e4, 1.46, fitted_multiply_adds}},
    {{"gated_delta_net", 32, 128, 128, true, 1.83, 32 * (4 * 128 + 2)},
     {2.1e4, 1.35, fitted_multiply_adds}},
    {{"retention", 1, 16, 1024, false, .62, 2 * 1024 + 1, 69.4 * 65536},
     {8e5, 1, fitted_multiply_adds}},
}};

// Assumed. A rank is one such thread, or a GPU that is a hundred times as fast.
inline constexpr std::array<network_cost, 3> assumed_networks{{
    {"1 GbE", 50e-6, 0.118e9, 1},
    {"100 Gb", 2e-6, 12e9, 1},
    {"NVLink", 5e-6, 300e9, 100},
}};

inline constexpr std::array<double, 2> lengths_of_curves{1e9, 1e6};

// Every memory over every network, of one sequence, the longest first.
inline std::vector<cost_case> cases_of_curves() {
  std::vector<cost_case> all;
  for (auto const& [memory, rank] : fitted_memories)
    for (double tokens : lengths_of_curves)
      for (network_cost const& network : assumed_networks)
        all.push_back({memory, rank, network, tokens});
  return all;
}

}  // namespace wane::bench
