// sequence_cursor: finds the sequence of each token of a walk, and the token's position in it.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/place.hpp"
#include "wane/core/state/state.hpp"
#include "wane/cuda/machine/machine.hpp"

namespace wane::cuda::impl {

// The sequences of a run: the rows of the batch, or packed in one row. `starts` and positions are
// read where the kernel runs.
struct sequence_list {
  index time, count;
  index const* starts;     // count + 1 of them where sequences are packed
  index const* positions;  // tokens seen before, of each
  int stride;              // 1 forward, -1 in reverse

  // The time of token k of a walk over all tokens.
  WANE_HOST_DEVICE index time_of(index k) const { return stride > 0 ? k : time - 1 - k; }
  WANE_HOST_DEVICE index length(index n) const { return starts ? starts[n + 1] - starts[n] : time; }
};

// The tokens of one sequence, in the order of a walk.
struct sequence_tokens {
  index sequence, batch, begin, count, seen;
  int stride;

  WANE_HOST_DEVICE sequence_tokens(sequence_list const& all, index n)
      : sequence(n),
        batch(all.starts ? 0 : n),
        begin(all.starts ? all.starts[n] : 0),
        count(all.length(n)),
        seen(all.positions ? all.positions[n] : 0),
        stride(all.stride) {}

  WANE_HOST_DEVICE place<> at(index k, index head) const {
    return {batch, begin + (stride > 0 ? k : count - 1 - k), head, seen + k + 1, sequence};
  }
};

// Follows a walk token by token. Without packing, all tokens of a row are one sequence.
template <bool Packed>
class sequence_cursor {
 public:
  // At token k of row `batch`.
  WANE_HOST_DEVICE sequence_cursor(sequence_list const& all, index batch, index k)
      : all_(all), time_(all.time_of(k)), sequence_(batch), begin_(0), end_(all.time) {
    if constexpr (Packed) {
      index low = 0, high = all.count;  // the last sequence that begins at or before this time
      while (high - low > 1) {
        index const middle = low + (high - low) / 2;
        (all.starts[middle] <= time_ ? low : high) = middle;
      }
      enter(low);
    }
    seen_ = all.positions ? all.positions[sequence_] : 0;
  }

  WANE_HOST_DEVICE void next() { step(all_.stride); }
  WANE_HOST_DEVICE void previous() { step(-all_.stride); }

  WANE_HOST_DEVICE index sequence() const { return sequence_; }
  WANE_HOST_DEVICE bool begins() const { return time_ == (all_.stride > 0 ? begin_ : end_ - 1); }
  WANE_HOST_DEVICE bool ends() const { return time_ == (all_.stride > 0 ? end_ - 1 : begin_); }
  WANE_HOST_DEVICE place<> at(index batch, index head) const {
    index const walked = all_.stride > 0 ? time_ - begin_ : end_ - 1 - time_;
    return {batch, time_, head, seen_ + walked + 1, sequence_};
  }

 private:
  // One token on in time, or back.
  WANE_HOST_DEVICE void step(int by) {
    time_ += by;
    if constexpr (Packed) {
      if (time_ >= begin_ && time_ < end_) return;
      index n = sequence_ + by;
      while (n >= 0 && n < all_.count && all_.starts[n] == all_.starts[n + 1]) n += by;
      if (n < 0 || n >= all_.count) return;
      enter(n);
      seen_ = all_.positions ? all_.positions[n] : 0;
    }
  }
  WANE_HOST_DEVICE void enter(index n) {
    sequence_ = n;
    begin_ = all_.starts[n];
    end_ = all_.starts[n + 1];
  }

  sequence_list const& all_;
  index time_, sequence_, begin_, end_, seen_;
};

}  // namespace wane::cuda::impl
