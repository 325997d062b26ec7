// run in micro-chunks of four tokens. Loops: blocks of time, heads, panels of columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/panels/chunk_in_order.hpp"
#include "wane/run/panels/gather.hpp"
#include "wane/run/panels/panel.hpp"
#include "wane/run/panels/shares.hpp"
#include "wane/run/panels/step.hpp"
#include "wane/run/shared/lines_ahead.hpp"
#include "wane/run/shared/panel_columns.hpp"
#include "wane/run/shared/pieces.hpp"
#include "wane/run/shared/stores.hpp"

namespace wane::impl {

// Tokens of a block; their terms are gathered before the panels run.
inline constexpr index tokens_at_once = 32;

// Runs `heads` heads of one sequence, in the columns [first, last) of their states.
template <affine_recurrence Op, class Out, class State>
class panel_runner {
 public:
  using T = accumulate_type<Op>;
  using gatherer = term_gatherer<Op>;
  using form = typename gatherer::form;
  using vector = typename form::vector;
  static constexpr int width = form::width, tokens = micro_tokens;
  static constexpr index chunks_at_once = tokens_at_once / tokens;
  // Vectors of columns side by side: as many as leave registers for the tokens' sums.
  static constexpr int widest = simd_bytes == 64 ? 2 : 1;
  // Passes over the rows of a state for one chunk.
  static constexpr index passes = form::erasing == erasing::none ? 1 : 2;
  using panels = panel_columns<T, widest>;

  panel_runner(Op const& op, sequence_view<Out> const& output, index first, index last, index heads)
      : op_(op),
        output_(output),
        gather_(op),
        rows_(recurrence_shape(op.shape()).rows),
        panels_{first, last},
        columns_(panels_.padded()),
        states_(heads * rows_ * columns_),
        reads_(chunks_at_once * gather_.numbers_to_read()),
        writes_(chunks_at_once * gather_.numbers_to_write()),
        arrays_(gather_.numbers_in_arrays()),
        values_(tokens_at_once * columns_),
        outputs_(tokens_at_once * columns_),
        before_(rows_ * widest * width),
        stores_(choose_stores(op, output)),
        in_lanes_((layout_of(op) & layout_of(output)).columns) {}

  // Runs part w of the walk of the first head, and the same part of the other heads.
  void operator()(walk w, index heads, state_access<T, State> state) {
    index const first_head = w.head;
    auto const of_head = [&](index h) { return states_.data() + h * rows_ * columns_; };
    for (index h = 0; h < heads; ++h, ++state.head) load_state(state, of_head(h));
    state.head = first_head;
    for (index k = 0; k < w.count; k += tokens_at_once)
      for (index h = 0; h < heads; ++h) {
        w.head = first_head + h;
        walk next = w.part(k + (h + 1 < heads ? 0 : tokens_at_once), tokens_at_once);
        next.head = first_head + (h + 1) % heads;
        take(w.part(k, tokens_at_once), of_head(h), next);
      }
    for (index h = 0; h < heads; ++h, ++state.head) save_state(state, of_head(h));
  }

 private:
  // The panels of a state lie one after the other, each [rows, its columns]. Calls body(row, first
  // column, last column, numbers of the row) for each of them; padding is left out.
  template <class Body>
  void for_rows(auto* state, Body const& body) const {
    panels_.for_panels([&](index first, auto vectors) {
      constexpr index own = vectors * width;
      index const last = std::min(first + own, panels_.count());
      for (index i = 0; i < rows_; ++i)
        body(i, panels_.first + first, panels_.first + last, state + first * rows_ + i * own);
    });
  }
  void load_state(state_access<T, State> const& from, T* state) const {
    if (bool const given = from.before.present(); !given || columns_ != panels_.count()) {
      std::fill_n(state, rows_ * columns_, T(0));
      if (!given) return;
    }
    for_rows(state,
             [&](index i, index first, index last, T* row) { from.load_row(i, first, last, row); });
  }
  void save_state(state_access<T, State> const& to, T const* state) const {
    if (!to.after.present()) return;
    for_rows(state, [&](index i, index first, index last, T const* row) {
      to.save_row(i, first, last, row);
    });
  }

  // One block of one head; the tokens of the next block are prefetched meanwhile.
  void take(walk const& w, T* state, walk const& next) {
    index const count = (w.count + tokens - 1) / tokens;
    for (index c = 0; c < count; ++c) {
      index const k = c * tokens;
      auto const x = gather_.tokens_at(w, k);
      int const present = static_cast<int>(std::min<index>(tokens, w.count - k));
      chunks_[c] = gather_(x, present, reads_.data() + c * gather_.numbers_to_read(),
                           writes_.data() + c * gather_.numbers_to_write(), arrays_.data());
      for (int t = 0; t < tokens; ++t)
        load_values(x[static_cast<std::size_t>(t)], t < present,
                    values_.data() + (k + t) * columns_);
    }
    int const each = want(next, count);
    void const* const* soon = soon_.begin();
    panels_.for_panels([&](index first, auto vectors) {
      for (index c = 0; c < count; ++c, soon += each * passes * row_blocks())
        take_chunk<vectors>(w, c, first, state + first * rows_, soon, each);
    });
    store_outputs(w);
  }

  template <int R>
  void take_chunk(walk const& w, index c, index first, T* state, void const* const* soon,
                  int each) {
    index const at = c * tokens * columns_ + first, numbers = rows_ * R * width;
    auto const& chunk = chunks_[c];
    T *const value = values_.data() + at, *const output = outputs_.data() + at;
    if (chunk.resets) std::copy_n(state, numbers, before_.data());
    take_at_once<R>(chunk, state, value, output, soon, each);
    if (chunk.resets && !(all_finite(static_cast<T const*>(state), numbers) &&
                          outputs_finite(chunk, output, R * width)))
      in_order(w, c, R * width, state, value, output);
  }
  template <int R>
  WANE_HOST_INLINE void take_at_once(micro_chunk<T> const& chunk, T* state, T* value, T* output,
                                     void const* const* soon, int each) {
    if constexpr (has_reads<typename gatherer::Token> && form::erasing == erasing::none)
      if (chunk.reads_nothing)
        return take_panel<form, R, tokens, false>(chunk, rows_, state, value, output, columns_,
                                                  soon, each);
    if constexpr (has_writes<typename gatherer::Token>)
      if (chunk.first_writes_alone)
        return take_panel<form, R, 1>(chunk, rows_, state, value, output, columns_, soon, each);
    take_panel<form, R>(chunk, rows_, state, value, output, columns_, soon, each);
  }
  [[gnu::noinline]] bool outputs_finite(micro_chunk<T> const& chunk, T const* output,
                                        index count) const {
    bool good = true;
    for (int t = 0; !chunk.reads_nothing && t < tokens; ++t)
      good = good && all_finite(output + t * columns_, count);
    return good;
  }

  // Runs a chunk again, token by token from the state before it: it has a reset, and at once gave
  // numbers that are not finite.
  [[gnu::noinline]] void in_order(walk const& w, index c, index count, T* state, T const* value,
                                  T* out) {
    auto const terms =
        gather_.read(gather_.tokens_at(w, c * tokens), chunks_[c].count, arrays_.data());
    chunk_in_order<form>(chunks_[c], terms, rows_, reading_of<token_of<Op>>, value, columns_)
        .advance(0, count, before_.data(), state, count, out);
  }

  // Lists the cache lines of the tokens of w, which the panels of `chunks` micro-chunks prefetch.
  // Returns the number of lines for one block of rows in one pass.
  int want(walk const& w, index chunks) {
    soon_.clear();
    soon_.add(op_, w);
    return soon_.spread(passes * panels_.panels() * chunks * row_blocks());
  }
  index row_blocks() const { return (rows_ + width - 1) / width; }

  void load_values(typename gatherer::Token const& x, bool present, T* row) const {
    auto const value = [&](auto j) { return convert<T>(x.value(j)); };
    if constexpr (reads_lanes<Op>)
      if (in_lanes_) return panels_.template load<true>(row, present, value);
    panels_.template load<false>(row, present, value);
  }

  void store_outputs(walk const& w) {
    for (index k = 0; k < w.count; ++k) {
      auto const at = w.token(k);
      T* const row = outputs_.data() + k * columns_;
      index const first = panels_.first;
      index j = 0, count = panels_.count();
      if constexpr (normalised_recurrence<Op>) {
        T const divisor = divisor_of(op_, at, row[--count]);
        for (index c = 0; c < count; ++c) row[c] /= divisor;
      }
      if constexpr (std::is_same_v<T, Out>)
        if (stores_ == store_by::stream)
          for (; j + width <= count; j += width)
            stream(output_.element(at, first + j), vector::load(row + j));
      if (in_lanes_) {
        for (; j + width <= count; j += width)
          output_.write(at, lanes<width>{first + j}, vector::load(row + j));
      }
      for (; j < count; ++j) output_.write(at, first + j, row[j]);
    }
  }

  Op const& op_;
  sequence_view<Out> const& output_;
  gatherer gather_;
  index rows_;
  panels panels_;
  index columns_;  // with padding
  aligned_numbers<T> states_, reads_, writes_, arrays_, values_, outputs_, before_;
  micro_chunk<T> chunks_[chunks_at_once];
  lines_ahead soon_;
  store_by stores_;
  bool in_lanes_;
};

// Compiled once for each form, not for each operator.
template <class Form, int R, int Writers = micro_tokens, bool Reads = true,
          class T = typename Form::scalar>
[[gnu::noinline]] void take_panel(micro_chunk<T> const& chunk, index rows, T* state, T const* value,
                                  T* output, index token_stride, void const* const* soon,
                                  int each) {
  panel<Form, R, Writers, Reads>{
      {chunk, rows, R * Form::width, soon, each}, state, value, output, token_stride}
      .take();
}

// Runs one token of some heads, in some columns of their states, without micro-chunks. The final
// state is advanced in place where it can be, otherwise a copy.
template <runs_in_panels Op, class Out, class State>
void run_token(Op const& op, walk w, sequence_view<Out> const& output, panel_share const& share,
               state_access<accumulate_type<Op>, State> state) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  auto const& final = state.after.values;
  bool const in_place = std::is_same_v<State, T> && final.data && final.stride[3] == 1;
  aligned_numbers<T> const own(in_place ? 0 : shape.rows * shape.columns);
  token_panel<Op, Out> panel(op, output);
  for (index const end = share.head + share.heads; w.head < end; ++w.head, ++state.head) {
    view<T, 2> rows(own.data(), shape.rows, shape.columns);
    if constexpr (std::is_same_v<State, T>)
      if (in_place) rows = state_of(state.after, w.sequence, w.head);
    T* const first = &rows(0, share.first);
    if (!in_place || state.before.values.data != final.data)
      state.load_rows(shape.rows, share.first, share.last, first, rows.stride[0]);
    panel(op, w, 0, rows, share.first, share.last);
    if (!in_place) state.save_rows(shape.rows, share.first, share.last, first, rows.stride[0]);
  }
}

template <runs_in_panels Op, class Out, class State>
void run_panels(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  using T = accumulate_type<Op>;
  using in_chunks = panel_runner<Op, Out, State>;
  recurrence_shape const shape = op.shape();
  // A denominator divides all columns, so one task takes all of them.
  index const strip = normalised_recurrence<Op> ? shape.columns : in_chunks::panels::strip;
  int const threads = threads_to_use(options.threads);
  state_box const box = box_of(shape, options);
  panel_shares const shares(box, threads, strip);
  index const count = shares.count();
  bool const in_lanes = (layout_of(op) & layout_of(output)).columns;
  for_each_task(box.sequences * count, threads, [&](index task) {
    panel_share const share = shares[task % count];
    index const walk_of_box = task / count * box.heads + share.head - box.first_head;
    walk const w = walk_of(walk_of_box, shape, options, options.initial.positions);
    std::optional<in_chunks> runner;
    for_each_part<T>(w, options, [&](walk const& part, auto state) {
      if (part.count == 1 && reads_lanes<Op> && in_lanes)
        return run_token(op, part, output, share, state);
      if (part.count > 0) {
        if (!runner) runner.emplace(op, output, share.first, share.last, share.heads);
        return (*runner)(part, share.heads, state);
      }
      for (index const end = share.head + share.heads; state.head < end; ++state.head)
        keep(state, shape.rows, share.first, share.last);
    });
    stream_fence();
  });
}

}  // namespace wane::impl
