// penalty_directions: one thread of the kernel that finds the write directions a_t.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/penalty/walk.hpp"

namespace wane::cuda::impl {

template <class Config, machine M, class Op, class State>
class penalty_directions : penalty_walk<Config, M, Op, State> {
  using base = penalty_walk<Config, M, Op, State>;
  using base::a_, base::fades, base::for_tokens, base::head_, base::of_given, base::of_own;
  using base::over_, base::present, base::row_, base::scale, base::sum_of_rows;

 public:
  using base::base, base::link;

  WANE_HOST_DEVICE void operator()() {
    this->walk([&](auto const&... chunk) WANE_INLINE_LAMBDA { give(chunk...); });
  }

 private:
  // Writes a_t = by_t M_t^-1 k_t for every token of the chunk. The rule gives the factor by_t.
  WANE_INLINE void give(sequence_tokens const& of, index k, int count, token_numbers const& key,
                        token_numbers const& direction) const {
    bool const own = a_.op.penalises_keys();
    token_numbers found = own ? of_own(direction) : of_given(direction, key);
    if constexpr (fades) {
      scale(found, over_);
      if (!own) scale(found, over_);
    }
    token_numbers by;
    if constexpr (Op::rule != write_rule::rls) {
      by = found;
      scale(by, Op::rule == write_rule::unit ? found : key);
      by = sum_of_rows(by);
      for_tokens([&](auto t)
                     WANE_INLINE_LAMBDA { by.of[t] = write_factor<Op::rule>(by.of[t], by.of[t]); });
      scale(found, by);
    }
    if (!present()) return;
    for_tokens([&](auto t) WANE_INLINE_LAMBDA {
      if (t >= count) return;
      a_.output.write(of.at(k + t, head_), row_, found.of[t]);
      if constexpr (Op::rule != write_rule::rls)
        if (row_ == 0) a_.marks.factors.write(of.at(k + t, head_), by.of[t]);
    });
  }
};

}  // namespace wane::cuda::impl
