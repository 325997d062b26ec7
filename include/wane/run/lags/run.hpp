// run for recurrences with constant decays by row, in chunks of tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/lags/chunk.hpp"
#include "wane/run/shared/lines_ahead.hpp"
#include "wane/run/shared/pieces.hpp"
#include "wane/run/shared/stores.hpp"

namespace wane::impl {

// Runs columns [first, last) of a walk.
template <has_lags Op, class Out>
class lag_runner {
 public:
  using T = accumulate_type<Op>;
  using vector = simd<T, simd_width<T>>;
  static constexpr int width = vector::width;

  lag_runner(Op const& op, sequence_view<Out> const& output, index head, index first, index last,
             bool streams)
      : op_(op), output_(output), state_(op, head, first, last), streams_(streams) {}

  template <class Access>
  void operator()(walk const& w, Access const& access) {
    state_.load(access);
    index k = 0;
    for (; k + lag_tokens <= w.count; k += lag_tokens) {
      if (k + (chunks_ahead + 1) * lag_tokens <= w.count) want(w, k + chunks_ahead * lag_tokens);
      take(state_.many, w, k);
    }
    for (; k < w.count; ++k) take(state_.one, w, k);
    state_.save(access);
  }

 private:
  static constexpr index chunks_ahead = 4;

  // Prefetches tokens k to k + lag_tokens - 1 where some of their columns are taken: a processor
  // does not foresee steps of whole rows.
  void want(walk const& w, index k) const {
    index const all = recurrence_shape(op_.shape()).columns;
    auto const& some = state_.columns;
    if (some.count() < all)
      prefetch_rows<0>(op_, w.part(k, lag_tokens), all, some.first, some.last);
  }

  template <int N>
  void take(lag_chunks<Op, N> const& chunks, walk const& w, index k) {
    auto const chunk = state_.held(chunks(w, k), k + N == w.count);
    if (streams_)
      answer<streamable<T, Out>>(chunk, w.part(k, N));
    else
      answer<false>(chunk, w.part(k, N));
  }
  template <bool Stream, int N>
  [[gnu::noinline]] void answer(one_pass<T, N, fading::row> const& chunk, walk const& w) const {
    // Copies that no store can change: their strides stay in registers.
    Op const op = op_;
    auto const x = tokens_at<N>(op, w, 0);
    Out* rows[N];
    for (index t = 0; t < N; ++t) rows[t] = output_.element(w.token(t), 0);
    state_.columns.for_lanes([&](index j, auto vectors, auto columns) WANE_INLINE_LAMBDA {
      chunk.template take<vectors>(
          state_.rows, state_.row(0) + j, state_.row_stride,
          [&](auto t, auto r) WANE_INLINE_LAMBDA { return x[t].value(columns(r)); },
          [&](auto t, auto r, vector y) WANE_INLINE_LAMBDA {
            if constexpr (Stream && std::is_same_v<decltype(columns(0)), lanes<width>>)
              stream(rows[t] + columns(r).first, y);
            else
              sequence_view<Out>(rows[t], 1, 1, 1, 1).write(place<>{}, columns(r), y);
          });
    });
  }

  Op const& op_;
  sequence_view<Out> const& output_;
  lag_state<Op> state_;
  bool streams_;
};

template <has_lags Op, class Out, class State>
void run_lags(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  recurrence_shape const shape = op.shape();
  bool const streams = choose_stores(op, output) == store_by::stream;
  int const threads = threads_to_use(options.threads);
  index const walks = walks_of(shape, options);
  index const piece = columns_per_task(box_of(shape, options).columns, walks, threads,
                                       lag_vectors * simd_width<accumulate_type<Op>>);
  for_each_piece(op, options, piece, threads,
                 [&](walk const& w, index first, index last, auto const& state) {
                   lag_runner<Op, Out>(op, output, w.head, first, last, streams)(w, state);
                 });
}

}  // namespace wane::impl
