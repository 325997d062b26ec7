// Channelwise recurrences in order of time, as many channels at once as the vectors hold.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/shared/stores.hpp"

namespace wane::impl {

// One strip of R vectors of columns over a walk; the states live in registers.
template <int R, bool Stream, channelwise Op, class Columns, class V, class Out>
WANE_HOST_INLINE void walk_strip(Op const& op, walk w, Columns const (&columns)[R], V (&state)[R],
                                 sequence_view<Out> const& output) {
  for (index k = 0; k < w.count; ++k) {
    auto const at = w.token(k);
    auto const x = op.at(at);
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      state[r] = carried(decay_of(x, 0, columns[r]), state[r], x.value(columns[r]));
      if constexpr (Stream)
        stream(output.element(at, columns[r].first), state[r]);
      else
        output.write(at, columns[r], state[r]);
    });
  }
}

// Advances columns [first, last) of a walk in vectors; carry[j - first] is the state of column j.
template <bool Stream, channelwise Op, class T, class Out>
class column_runner {
 public:
  static constexpr int width = simd_width<T>;
  using vector = simd<T, width>;

  column_runner(Op const& op, sequence_view<Out> const& output) : op_(op), output_(output) {}

  void operator()(walk const& w, index first, index last, T* carry) const {
    index j = first;
    if (j + 16 * width <= last) j = strips<16>(w, j, last, carry - first);
    if (j + 8 * width <= last) j = strips<8>(w, j, last, carry - first);
    if (j + 4 * width <= last) j = strips<4>(w, j, last, carry - first);
    if (j + 2 * width <= last) j = strips<2>(w, j, last, carry - first);
    if (j + width <= last) j = strips<1>(w, j, last, carry - first);
    if (j == last) return;
    int const count = static_cast<int>(last - j);
    partial_lanes<width> const columns[] = {{j, count}};
    vector state[] = {load_first<T, width>(carry - first + j, count)};
    walk_strip<1, false>(op_, w, columns, state, output_);
    store_first(carry - first + j, count, state[0]);
  }

 private:
  template <int R>
  [[gnu::noinline]] index strips(walk const& w, index j, index last, T* carry) const {
    Op const op = op_;
    sequence_view<Out> const output = output_;
    for (; j + R * width <= last; j += R * width) {
      lanes<width> columns[R];
      vector state[R];
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        columns[r].first = j + r * width;
        state[r] = vector::load(carry + columns[r].first);
      });
      walk_strip<R, Stream>(op, w, columns, state, output);
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { state[r].store(carry + columns[r].first); });
    }
    return j;
  }

  Op const& op_;
  sequence_view<Out> const& output_;
};

// Advances columns [first, last) of a walk one by one, for complex types, for operators without
// lanes, and where columns are not neighbours in memory.
template <channelwise Op, class T, class Out>
void walk_columns_one_by_one(Op const& op, walk const& w, index first, index last, T* carry,
                             sequence_view<Out> const& output) {
  for (index k = 0; k < w.count; ++k) {
    auto const at = w.token(k);
    auto const x = op.at(at);
    for (index j = first; j < last; ++j) {
      T& s = carry[j - first];
      s = carried(decay_of(x, 0, j), s, x.value(j));
      output.write(at, j, s);
    }
  }
}

// Tokens that a strip takes before the next strip's turn. A streaming run takes one, so that memory
// is accessed row by row. Data in cache needs no such order.
inline constexpr index rows_streaming = 1, rows_cached = 64;
// Columns whose states are held in the first-level cache at a time.
inline constexpr index columns_at_once = 2048;

// Advances columns [first, last) of a walk. carry[j - first] is the state of column j, before and
// after.
template <channelwise Op, class Out>
void walk_columns(Op const& op, walk const& w, index first, index last,
                  sequence_view<Out> const& output, store_by how, accumulate_type<Op>* carry) {
  using T = accumulate_type<Op>;
  if constexpr (reads_lanes<Op>) {
    if (how != store_by::number) {
      bool const streaming = how == store_by::stream;
      for (index j = first; j < last; j += columns_at_once) {
        index const end = std::min(last, j + columns_at_once);
        bool const one_strip = end - j <= 16 * simd_width<T>;
        index const rows = one_strip ? w.count : streaming ? rows_streaming : rows_cached;
        for (index k = 0; k < w.count; k += rows) {
          walk const part = w.part(k, rows);
          T* const states = carry + (j - first);
          if (streaming)
            column_runner<streamable<T, Out>, Op, T, Out>(op, output)(part, j, end, states);
          else
            column_runner<false, Op, T, Out>(op, output)(part, j, end, states);
        }
      }
      return;
    }
  }
  walk_columns_one_by_one(op, w, first, last, carry, output);
}

}  // namespace wane::impl
