// How a run is divided into tasks by walk and column, and how a task reads and writes the state.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/call/run_options.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/threads.hpp"

namespace wane::impl {

// The state before and after a piece of a walk, element by element.
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
    for (index i = 0; i < rows; ++i)
      for (index j = first; j < last; ++j) to[i * stride + j - first] = load(i, j);
  }
  void save_rows(index rows, index first, index last, V const* from, index stride) const {
    for (index i = 0; i < rows; ++i)
      for (index j = first; j < last; ++j) save(i, j, from[i * stride + j - first]);
  }

  // Columns [first, last) of a state of one row.
  std::vector<V> load_columns(index first, index last) const {
    std::vector<V> columns(static_cast<std::size_t>(last - first), V(0));
    if (before.present())
      for (index j = first; j < last; ++j)
        columns[static_cast<std::size_t>(j - first)] = load(0, j);
    return columns;
  }
  void save_columns(index first, std::vector<V> const& columns) const {
    if (after.present())
      for (V const& s : columns) save(0, first++, s);
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
  index const walks = sequences_of(shape, options.packed) * shape.heads;
  index const pieces = (shape.columns + piece - 1) / piece;
  for_each_task(walks * pieces, threads, [&](index i) {
    walk const w = walk_of(i / pieces, shape, options, options.initial.positions);
    index const first = i % pieces * piece, last = std::min(first + piece, shape.columns);
    for_each_part<accumulate_type<Op>>(w, options, [&](walk const& part, auto const& state) {
      if (part.count == 0) return keep(state, shape.rows, first, last);
      task(part, first, last, state);
      stream_fence();
    });
  });
}

}  // namespace wane::impl
