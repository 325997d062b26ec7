// What the past and the future of a two-sided sum have to do with each other.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/run_options.hpp"
#include "wane/core/recurrence/poles.hpp"

namespace wane::impl {

// The weight of lag 0 in a bank of poles: Re sum_i c_ij of a sequence.
template <pole_bank Op>
double own_weight(Op const& op, index sequence, index head, index j) {
  double own = 0;
  for (index i = 0; i < op.poles(); ++i) own += op.weight(sequence, head, i, j).real();
  return own;
}

inline direction opposite(direction way) {
  return way == direction::forward ? direction::reverse : direction::forward;
}

// Throws wane::error unless both banks read the same values.
template <pole_bank Past, pole_bank Future>
void check_sides(Past const& past, Future const& future) {
  auto const x = past.values(), ahead = future.values();
  bool same = x.data == ahead.data;
  for (int i = 0; i < 4; ++i)
    same = same && x.extent[i] == ahead.extent[i] && x.stride[i] == ahead.stride[i];
  require(same, "past and future read different values; they must be two banks over the same");
}

}  // namespace wane::impl
