// run and step: the public door to the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/bank.hpp"
#include "wane/run/options.hpp"
#include "wane/run/sequential.hpp"
#include "wane/run/series.hpp"
#include "wane/run/threads.hpp"

namespace wane {

// The state before and after a run, element by element.
template <class V, class State>
struct state_access {
  run_options<State> const& options;
  index sequence, head;

  V load(index i, index j) const {
    return options.initial.present() ? static_cast<V>(options.initial.values(sequence, head, i, j))
                                     : V(0);
  }
  void save(index i, index j, V s) const {
    if (options.final.present()) options.final.values(sequence, head, i, j) = static_cast<State>(s);
  }
};

// Bytes beyond which stores go past the caches: several times a second-level cache.
inline constexpr index streaming_bytes = index{8} << 20;

template <class Op, class Out>
store_by choose_stores(Op const& op, sequence_view<Out> const& output) {
  if (!(layout_of(op) & layout_of(output)).columns) return store_by::number;
  recurrence_shape const shape = op.shape();
  index const bytes =
      shape.batch * shape.time * shape.heads * shape.columns * static_cast<index>(3 * sizeof(Out));
  bool const large = bytes >= streaming_bytes;
  return large && can_stream<accumulate_type<Op>>(output) ? store_by::stream : store_by::vector;
}

// Columns are cut so that every thread has work, in pieces of a multiple of `least`.
inline index columns_per_task(index columns, index walks, int threads, index least) {
  if (walks >= threads || threads == 1) return columns;
  index const pieces = (threads + walks - 1) / walks;
  return ((columns + pieces - 1) / pieces + least - 1) / least * least;
}

template <class Op, class Out>
int channels_in_series(Op const& op, sequence_view<Out> const& output) {
  if constexpr (reads_lanes<Op>) {
    constexpr int width = simd_width<accumulate_type<Op>>;
    recurrence_shape const shape = op.shape();
    layout const lies = layout_of(op) & layout_of(output);
    if (shape.time < 4 * width) return 0;
    if (lies.tokens && shape.columns < width && (shape.columns & (shape.columns - 1)) == 0)
      return static_cast<int>(shape.columns);
    if (lies.series) return 1;
  }
  return 0;
}

// The tasks of a channelwise run are pieces of `piece` columns of a walk.
template <class Op, class State, class Task>
void for_each_piece(Op const& op, run_options<State> const& options, index piece, int threads,
                    Task const& task) {
  using V = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  index const walks = sequences_of(shape, options.packed) * shape.heads;
  index const pieces = (shape.columns + piece - 1) / piece;
  for_each_task(walks * pieces, threads, [&](index i) {
    walk const w =
        walk_of(i / pieces, shape, options.packed, options.direction, options.initial.positions);
    index const first = i % pieces * piece;
    task(w, first, std::min(first + piece, shape.columns),
         state_access<V, State>{options, w.sequence, w.head});
    stream_fence();
  });
}

template <channelwise Op, class Out, class State>
void run_channels(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  using V = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  int const threads = threads_to_use(options.threads);
  store_by const how = choose_stores(op, output);
  if (int const channels = channels_in_series(op, output)) {
    if constexpr (reads_lanes<Op>) {
      auto const with = [&]<int C>(std::integral_constant<int, C>) {
        for_each_piece(op, options, C, threads,
                       [&](walk const& w, index first, index, auto const& state) {
                         V carry[C];
                         for (int c = 0; c < C; ++c) carry[c] = state.load(0, first + c);
                         series_runner<C, Op, V, Out> const runner(op, output, first);
                         runner(w, how == store_by::stream, carry);
                         for (int c = 0; c < C; ++c) state.save(0, first + c, carry[c]);
                       });
      };
      constexpr int half = simd_width<V> / 2;
      if (channels == 1) return with(std::integral_constant<int, 1>{});
      if constexpr (half >= 2)
        if (channels == 2) return with(std::integral_constant<int, 2>{});
      if constexpr (half >= 4)
        if (channels == 4) return with(std::integral_constant<int, 4>{});
      if constexpr (half >= 8)
        if (channels == 8) return with(std::integral_constant<int, 8>{});
    }
  }
  index const walks = sequences_of(shape, options.packed) * shape.heads;
  for_each_piece(op, options, columns_per_task(shape.columns, walks, threads, 256), threads,
                 [&](walk const& w, index first, index last, auto const& state) {
                   walk_columns(
                       op, w, first, last, output, how, [&](index j) { return state.load(0, j); },
                       [&](index j, V s) { state.save(0, j, s); });
                 });
}

template <diagonal_recurrence Op, class Out, class State>
void run_in_order(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  index const columns = recurrence_shape(op.shape()).columns;
  for_each_piece(op, options, columns, threads_to_use(options.threads),
                 [&](walk const& w, index, index, auto const& state) {
                   walk_in_order(
                       op, w, output, [&](index i, index j) { return state.load(i, j); },
                       [&](index i, index j, auto s) { state.save(i, j, s); });
                 });
}

template <time_invariant Op, class Out, class State>
void run_bank(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  using V = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  store_by const how = choose_stores(op, output);
  std::vector<bank_constants<V>> constants;
  bool usable = how != store_by::number;
  for (index h = 0; usable && h < shape.heads; ++h)
    usable = constants.emplace_back(op, h).usable(options.initial.present());
  if (!usable) return run_in_order(op, output, options);
  int const threads = threads_to_use(options.threads);
  index const walks = sequences_of(shape, options.packed) * shape.heads;
  for_each_piece(op, options, columns_per_task(shape.columns, walks, threads, simd_width<V>),
                 threads, [&](walk const& w, index first, index last, auto const& state) {
                   bank_runner<Op, V, Out> const runner(op, output,
                                                        constants[static_cast<std::size_t>(w.head)],
                                                        how == store_by::stream);
                   runner(
                       w, first, last, options.initial.present(),
                       [&](index s, index j) { return state.load(s, j); }, options.final.present(),
                       [&](index s, index j, V h) { state.save(s, j, h); });
                 });
}

template <diagonal_recurrence Op, class Out, class State>
void run_walks(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  if constexpr (channelwise<Op>)
    run_channels(op, output, options);
  else if constexpr (time_invariant<Op> && reads_lanes<Op>)
    run_bank(op, output, options);
  else
    run_in_order(op, output, options);
}

// Runs `op` over all its tokens: output [B, T, H, columns] receives y. The form of the operator
// and its shape choose the order of the work; step gives the same values.
// The output may be the memory of the operator's own per-token, per-column input of the same type
// and strides; otherwise inputs and outputs do not overlap.
// Throws wane::error, before anything is written, when a shape does not fit.
template <diagonal_recurrence Op, class Out, class State = accumulate_type<Op>>
void run(Op const& op, sequence_view<Out> output, run_options<State> const& options = {}) {
  recurrence_shape const shape = op.shape();
  check(shape);
  check("output", output, shape);
  check(options.packed, shape.batch, shape.time);
  index const sequences = sequences_of(shape, options.packed);
  check("initial", options.initial, sequences, shape);
  check("final", options.final, sequences, shape);
  run_walks(op, output, options);
  if (options.final.positions)
    for (index n = 0; n < sequences; ++n) {
      walk const w = walk_of(n * shape.heads, shape, options.packed, options.direction,
                             options.initial.positions);
      options.final.positions[n] = w.position - 1 + w.count;
    }
}

// Takes the tokens of `op` (most often one) into `state`, [B, H, rows, columns], and advances its
// positions; output [B, T, H, columns]. Allocates nothing: made for streaming.
template <diagonal_recurrence Op, class Out, class State>
void step(Op const& op, sequence_view<Out> output, state_view<State> state) {
  recurrence_shape const shape = op.shape();
  check(shape);
  check("output", output, shape);
  require(state.present(), "state has no data; step needs a state to update");
  check("state", state, shape.batch, shape);
  flush_denormals const guard;
  for (index i = 0; i < shape.batch * shape.heads; ++i) {
    walk const w = walk_of(i, shape, {}, direction::forward, state.positions);
    for (index k = 0; k < w.count; ++k) {
      auto const at = w.token(k);
      advance(op, at, state_of(state, w.sequence, w.head),
              [&](index j, accumulate_type<Op> y) { output.write(at, j, y); });
    }
  }
  if (state.positions)
    for (index n = 0; n < shape.batch; ++n) state.positions[n] += shape.time;
}

}  // namespace wane
