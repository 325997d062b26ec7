// The data of a case in double, and the results of the CPU for them.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>

#include "selftest/scenario.hpp"

namespace wane::selftest {

inline constexpr index bank_rows = 8, memory_rows = 64;

// Wide is double or std::complex<double>.
template <class Wide>
struct problem {
  form what;
  scenario asked;
  std::vector<Wide> values;              // or the drive, [B, T, H, C]
  std::vector<Wide> decay;               // [B, T, H, C], or of a bank log_decay, [H, bank_rows],
                                         // or of a memory log_decay, [B, T, H]
  std::vector<Wide> key, query, direct;  // of a bank, or [B, T, H, memory_rows] of a memory, whose
                                         // strength, [B, T, H], direct is
  std::vector<Wide> initial;             // [N, H, rows, columns of the state]
  std::vector<index> positions;          // of the initial state

  index rows() const { return is_memory(what) ? memory_rows : what == form::bank ? bank_rows : 1; }
  index columns() const { return asked.columns + (what == form::vla ? memory_rows : 0); }
};

template <class Wide>
struct answer {
  std::vector<Wide> output, final;
  std::vector<index> positions;  // of the final state
};

// The same data on every machine.
template <class Wide>
problem<Wide> make_problem(form what, scenario const& asked);

// wane::run in double.
template <class Wide>
answer<Wide> oracle(problem<Wide> const& data);

}  // namespace wane::selftest
