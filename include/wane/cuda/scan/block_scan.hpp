// block_scan: the effects of the threads of a block, joined in the order of their tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/composed_effect.hpp"
#include "wane/cuda/machine/machine.hpp"

namespace wane::cuda::impl {

// A slice is the consecutive tokens of one column that a thread holds: thread (s, c) =
// s * columns + c has slice s of column c. Effects are joined within warps by
// shuffles, then across them through shared memory.
template <class M, class E>
class block_scan {
 public:
  // `exchange` has room for 2 M::threads effects.
  WANE_HOST_DEVICE block_scan(M& machine, int columns_log2, E* exchange)
      : machine_(machine), columns_(1 << columns_log2), exchange_(exchange) {}

  struct result {
    E before, through;  // effect of the earlier slices of the column, without and with this one
  };

  // Called by every thread of the block. Passes one barrier, where there is more than one warp.
  WANE_HOST_DEVICE result operator()(E const& own) {
    int const thread = machine_.thread(), lane = thread % warp_size;
    E through = own;
    for (int by = columns_; by < warp_size; by *= 2) {
      E const earlier = machine_.shuffle_up(through, by);
      if (lane >= by) through = then(earlier, through);
    }
    E before;
    if (columns_ < warp_size) {
      E const earlier = machine_.shuffle_up(through, columns_);
      if (lane >= columns_) before = earlier;
    }
    if constexpr (M::threads > warp_size) {
      // Calls alternate between two halves: late threads may still read the half of the last call.
      E* const totals = exchange_ + turn_ * M::threads;
      turn_ = 1 - turn_;
      if (lane + columns_ >= warp_size) machine_.write_shared(totals + thread, through);
      machine_.barrier();
      // Joins the last slices of all warps that hold earlier slices of the same column.
      E others;
      int const step = columns_ < warp_size ? warp_size : columns_;
      int const last = columns_ < warp_size ? warp_size - columns_ + lane % columns_ : lane;
      int const warp = thread - lane;
      for (int w = warp % step; w < warp; w += step)
        others = then(others, machine_.read_shared(totals + w + last));
      before = then(others, before);
      through = then(others, through);
    }
    return {before, through};
  }

 private:
  M& machine_;
  int columns_;
  E* exchange_;
  int turn_ = 0;
};

}  // namespace wane::cuda::impl
