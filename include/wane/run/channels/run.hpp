// run for channelwise recurrences: selects how channels fill vectors and how threads share walks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/channels/in_series.hpp"
#include "wane/run/channels/team.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// A way to run channels: by column, in vectors of columns unless `how` is store_by::number.
template <class Op, class Out>
struct by_columns {
  Op const& op;
  sequence_view<Out> const& output;
  store_by how;

  void advance(walk const& w, index first, index last, accumulate_type<Op>* carry) const {
    walk_columns(op, w, first, last, output, how, carry);
  }
  index piece_tokens(index tokens) const { return tokens; }
  void effect(walk const& w, auto* effects) const {
    column_effects<Op, team_vector<Op>>(op, w, effects);
  }
};

// A way to run channels: C at a time, in vectors that hold several tokens of each.
template <int C, class Op, class Out>
struct by_series {
  Op const& op;
  sequence_view<Out> const& output;
  using T = accumulate_type<Op>;

  void advance(walk const& w, index first, index, T* carry) const {
    series_runner<C, Op, T, Out> const runner(op, output, first);
    runner(w, is_large<Out>(op.shape()), *reinterpret_cast<T(*)[C]>(carry));
  }
  // Rounds up to a multiple of 1024 tokens. This is a multiple of 16 vectors, which series_effect
  // needs, and keeps the alignment of vectors.
  index piece_tokens(index tokens) const { return (tokens + 1023) / 1024 * 1024; }
  void effect(walk const& w, auto* effects) const {
    series_effect<C, Op, team_vector<Op>>(op, w, effects);
  }
};

template <channelwise Op, class Out, class State>
void run_channels(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  int const threads = threads_to_use(options.threads);
  store_by const how = choose_stores(op, output);
  auto const in_pieces = [&](auto const& way, index piece) {
    for_each_piece(op, options, piece, threads,
                   [&](walk const& w, index first, index last, auto const& state) {
                     std::vector<T> carry = state.load_columns(first, last);
                     way.advance(w, first, last, carry.data());
                     state.save_columns(first, carry);
                   });
  };
  if constexpr (reads_lanes<Op>) {
    if (in_series(op, layout_of(output), [&]<int C>(std::integral_constant<int, C>) {
          by_series<C, Op, Out> const way{op, output};
          if (shape.columns > C || !run_as_teams(op, options, threads, way)) in_pieces(way, C);
        }))
      return;
    by_columns<Op, Out> const way{op, output, how};
    if (how != store_by::number && run_as_teams(op, options, threads, way)) return;
  }
  index const walks = walks_of(shape, options);
  in_pieces(by_columns<Op, Out>{op, output, how},
            columns_per_task(box_of(shape, options).columns, walks, threads, 256));
}

}  // namespace wane::impl
