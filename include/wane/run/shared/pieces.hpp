// How a run is divided into tasks by walk and column, and how a task reads and writes the state.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/call/run_options.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/threads.hpp"

namespace wane::impl {

// The state before and after a piece of a walk.
template <class V, class State>
struct state_access {
  state_view<State const> before;
  state_view<State> after;
  index sequence, head;

  V load(index i, index j) const {
    return before.present() ? static_cast<V>(before.values(sequence, head, i, j)) : V(0);
  }
  void save(index i, index j, V s) const {
    if (after.present()) after.values(sequence, head, i, j) = static_cast<State>(s);
  }

  // Columns [first, last) of `rows` rows, which lie `stride` apart in other memory.
  void load_rows(index rows, index first, index last, V* to, index stride) const {
    if (!before.present() && stride == last - first)
      return void(std::fill_n(to, rows * stride, V(0)));
    for (index i = 0; i < rows; ++i, to += stride) load_row(i, first, last, to);
  }
  void load_row(index i, index first, index last, V* to) const {
    index const count = last - first;
    if (!before.present()) return void(std::fill_n(to, count, V(0)));
    State const* const from = &before.values(sequence, head, i, first);
    index const step = before.values.stride[3];
    if constexpr (std::is_same_v<State, V>)
      if (step == 1) return void(std::copy_n(from, count, to));
    for (index j = 0; j < count; ++j) to[j] = static_cast<V>(from[j * step]);
  }
  void save_rows(index rows, index first, index last, V const* from, index stride) const {
    for (index i = 0; i < rows; ++i, from += stride) save_row(i, first, last, from);
  }
  void save_row(index i, index first, index last, V const* from) const {
    if constexpr (std::is_same_v<State, V>)
      if (after.present() && after.values.stride[3] == 1)
        return void(std::copy_n(from, last - first, &after.values(sequence, head, i, first)));
    save_each(i, first, last, [&](index j) { return from[j]; });
  }
  // Saves value(j - first) in column j.
  template <class Value>
  void save_each(index i, index first, index last, Value const& value) const {
    if (!after.present()) return;
    State* const to = &after.values(sequence, head, i, first);
    index const step = after.values.stride[3];
    for (index j = 0; j < last - first; ++j) to[j * step] = static_cast<State>(value(j));
  }

  // Columns [first, last) of a state of one row.
  std::vector<V> load_columns(index first, index last) const {
    std::vector<V> columns(static_cast<std::size_t>(last - first));
    load_row(0, first, last, columns.data());
    return columns;
  }
  void save_columns(index first, std::vector<V> const& columns) const {
    save_row(0, first, first + static_cast<index>(columns.size()), columns.data());
  }
};

// Copies the state of a walk without tokens, bit for bit.
template <class Access>
void keep(Access const& state, index rows, index first, index last) {
  for (index i = 0; i < rows; ++i)
    for (index j = first; j < last; ++j) state.save(i, j, state.load(i, j));
}

// Columns are cut so that every thread has work, in pieces of a multiple of `least`.
inline index columns_per_task(index columns, index walks, int threads, index least) {
  if (walks == 0 || walks >= threads || threads == 1) return columns;
  index const pieces = (threads + walks - 1) / walks;
  return ((columns + pieces - 1) / pieces + least - 1) / least * least;
}

// Calls task(part, state) for the parts of a walk between the states to keep, in their order.
template <class V, class State, class Task>
void for_each_part(walk const& w, run_options<State> const& options, Task const& task) {
  state_view<State const> before = options.initial;
  index done = 0;
  auto const go_to = [&](index end, state_view<State> const& after) {
    task(w.part(done, end - done), state_access<V, State>{before, after, w.sequence, w.head});
    before = after;
    done = end;
  };
  for (auto const& kept : options.keep) go_to(std::min(kept.tokens, w.count), kept.state);
  go_to(w.count, options.final);
}

// Calls task(walk, first, last, state) for pieces [first, last) of `piece` columns of every walk,
// cut where states are kept.
template <class Op, class State, class Task>
void for_each_piece(Op const& op, run_options<State> const& options, index piece, int threads,
                    Task const& task) {
  recurrence_shape const shape = op.shape();
  state_box const box = box_of(shape, options);
  index const pieces = (box.columns + piece - 1) / piece;
  for_each_task(walks_of(shape, options) * pieces, threads, [&](index i) {
    walk const w = walk_of(i / pieces, shape, options, options.initial.positions);
    index const begin = i % pieces * piece, end = std::min(begin + piece, box.columns);
    index const first = box.first_column + begin, last = box.first_column + end;
    for_each_part<accumulate_type<Op>>(w, options, [&](walk const& part, auto const& state) {
      if (part.count == 0) return keep(state, shape.rows, first, last);
      task(part, first, last, state);
      stream_fence();
    });
  });
}

}  // namespace wane::impl
