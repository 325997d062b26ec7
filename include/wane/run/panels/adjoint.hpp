// The adjoint of affine recurrences in micro-chunks. Loops: blocks of time, heads, micro-chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/run_options.hpp"
#include "wane/core/chunk/term_gradients.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/run/panels/ends.hpp"
#include "wane/run/panels/replay.hpp"
#include "wane/run/panels/step.hpp"

namespace wane::impl {

template <class Op>
concept has_panel_adjoint = runs_in_panels<Op> && !time_invariant<Op> && !channelwise<Op>;

// The adjoint of `heads` heads of one sequence, from the head of the walk on. It keeps the states
// before every block of time, and within the current block the state after each micro-chunk. Lanes:
// whether the operator gives its columns in lanes and the sink takes them.
template <has_panel_adjoint Op, class Out, class Gradients, class State, bool Lanes>
class panels_adjoint {
 public:
  using T = accumulate_type<Op>;
  using Replay = replay<Op, Lanes>;
  using form = typename Replay::form;
  using vector = typename form::vector;
  using of_state = state_products<form>;
  using Token = token_of<Op>;
  static constexpr int width = form::width, tokens = micro_tokens;
  static constexpr index most_tokens = Replay::most_tokens;

  panels_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                 Gradients const& gradients, bool in_lanes, walk const& w, index heads)
      : ends_(op, output_gradient, gradients, in_lanes),
        walk_(w),
        replay_(ends_.op(), in_lanes),
        heads_(heads),
        rows_(recurrence_shape(op.shape()).rows),
        row_blocks_((rows_ + width - 1) / width),
        last_(replay_.panels().last),
        columns_(replay_.panels().padded()),
        row_stride_(row_stride_of<T>(last_)),
        blocks_(std::max<index>(1, (w.count + most_tokens - 1) / most_tokens)),
        kept_(heads * blocks_ * state_size()),
        states_(Replay::most_chunks * state_size()),
        cotangents_(heads * state_size()),
        later_(state_size()),
        output_gradients_(tokens * columns_),
        value_gradients_(tokens * columns_),
        erased_gradients_(tokens * columns_),
        packed_(of_state::packed_size(columns_)),
        products_(row_blocks_ * of_state::count * width),
        row_gradients_(tokens * 5 * padded_rows()) {
    // Kinds that the tokens do not have stay so, and are checked with the others.
    std::fill_n(row_gradients_.data(), tokens * 5 * padded_rows(), T(0));
  }

  // Bytes of the kept states of one head with `count` tokens.
  static index kept_bytes(recurrence_shape const& shape, index count) {
    return (count + most_tokens - 1) / most_tokens * shape.rows * row_stride_of<T>(shape.columns) *
           static_cast<index>(sizeof(T));
  }

  void operator()(adjoint_options<State> const& options) {
    for (index h = 0; h < heads_; ++h) {
      ends_.load_state(options.initial, of_head(h), row_stride_, kept(h, 0));
      ends_.load_state(options.final_gradient, of_head(h), row_stride_, cotangent(h));
    }
    for (index b = 0; b + 1 < blocks_; ++b)
      for (index h = 0; h < heads_; ++h) {
        soon_.clear();
        soon_.add(ends_.op(), h + 1 < heads_ ? block(h + 1, b) : block(0, b + 1));
        advance(block(h, b), kept(h, b), kept(h, b + 1), false);
      }
    for (index b = blocks_ - 1; b >= 0; --b)
      for (index h = 0; h < heads_; ++h) {
        walk const w = block(h, b);
        soon_.clear();
        advance(w, kept(h, b), states_.data(), true);
        want(h + 1 < heads_ ? block(h + 1, b) : block(0, std::max<index>(b - 1, 0)));
        int const each = soon_.spread(Replay::chunks_of(w) * rows_);
        void const* const* soon = soon_.begin();
        for (index c = Replay::chunks_of(w) - 1; c >= 0; --c, soon += each * rows_)
          take(w, h, c, c == 0 ? kept(h, b) : states_.data() + (c - 1) * state_size(), soon, each);
      }
    for (index h = 0; h < heads_; ++h)
      ends_.save_state(options.initial_gradient, of_head(h), row_stride_, cotangent(h));
  }

 private:
  index state_size() const { return rows_ * row_stride_; }
  index padded_rows() const { return row_blocks_ * width; }
  T* kept(index h, index b) const { return kept_.data() + (h * blocks_ + b) * state_size(); }
  T* cotangent(index h) const { return cotangents_.data() + h * state_size(); }
  walk of_head(index h) const {
    walk w = walk_;
    w.head += h;
    return w;
  }
  walk block(index h, index b) const { return of_head(h).part(b * most_tokens, most_tokens); }
  // Lists the cache lines that the adjoint of a block reads, so that they are prefetched.
  void want(walk const& w) {
    soon_.clear();
    soon_.add(ends_.op(), w);
    if (ends_.in_lanes())
      for (index k = 0; k < w.count; ++k)
        soon_.add(ends_.output_gradient().element(w.token(k), 0), last_);
  }

  void advance(walk const& w, T const* before, T* after, bool all) {
    replay_(w, before, after, all, soon_);
  }

  // Takes the cotangent back through micro-chunk c of a block.
  void take(walk const& block, index h, index c, T const* before, void const* const* soon,
            int each) {
    walk const w = block.part(c * tokens, tokens);
    ends_.load_output_gradients(w, output_gradients_.data());
    T* const later = cotangent(h);
    bool const resets = replay_.chunk(c).resets;
    if (resets) std::copy_n(later, state_size(), later_.data());
    if (!replay_.in_order(c)) take_at_once(c, before, later, soon, each);
    if (replay_.in_order(c) || (resets && !gradients_finite(later))) {
      std::copy_n(later_.data(), state_size(), later);
      take_in_order(block, h, c, before);
    }
    ends_.give(w, value_gradients_.data(), output_gradients_.data(), row_gradients_.data(),
               padded_rows());
  }
  // Brings the cotangent `later` back, and computes the gradients of the terms.
  WANE_HOST_INLINE void take_at_once(index c, T const* before, T* later, void const* const* soon,
                                     int each) {
    auto const& chunk = replay_.chunk(c);
    replay_.panels().for_panels([&](index first, auto vectors) {
      bring_back<vectors>({chunk, rows_, row_stride_}, later + first, first);
    });
    chunk_columns<T> const columns{output_gradients_.data(), replay_.written(c),
                                   erased_gradients_.data(), replay_.erased(c)};
    of_state::take(chunk, columns, rows_, columns_, row_stride_, before, later, packed_.data(),
                   products_.data(), soon, each);
    token_products<T> pairs;
    of_state::multiply(columns, columns_, pairs);
    if constexpr (strictly_causal<Token>)
      for (int t = 0; t < tokens; ++t) pairs.query_key[t][t] = pairs.query_write[t][t] = T(0);
    for (index i = 0; i < row_blocks_; ++i)
      term_gradients<form, reading_of<Token>, decays_in_logs<Token>>::take(
          replay_.terms(c) + i * form::terms * width,
          products_.data() + i * of_state::count * width, pairs, row_gradients_.data() + i * width,
          5 * padded_rows(), padded_rows());
  }
  template <int R>
  [[gnu::noinline]] void bring_back(panel_rows<form, R> const& rows, T const* later, index first) {
    panel_adjoint<form, R>{rows,
                           later,
                           output_gradients_.data() + first,
                           value_gradients_.data() + first,
                           erased_gradients_.data() + first,
                           columns_}
        .take();
  }

  [[gnu::noinline]] bool gradients_finite(T const* later) const {
    return all_finite(later, state_size()) &&
           all_finite(value_gradients_.data(), tokens * columns_) &&
           all_finite(row_gradients_.data(), tokens * 5 * padded_rows());
  }
  // The same token by token, for a chunk with a reset that at once gives numbers that are not
  // finite.
  [[gnu::noinline]] void take_in_order(walk const& block, index h, index c, T const* before) {
    replay_.again_in_order(block, c).take_back(
        last_, before, cotangent(h), row_stride_, output_gradients_.data(),
        {value_gradients_.data(), row_gradients_.data(), padded_rows(), decays_in_logs<Token>});
  }

  adjoint_ends<Op, Out, Gradients, Lanes> const ends_;
  walk const walk_;
  Replay replay_;
  index heads_, rows_, row_blocks_, last_, columns_, row_stride_, blocks_;
  aligned_numbers<T> kept_, states_, cotangents_, later_, output_gradients_, value_gradients_,
      erased_gradients_, packed_, products_, row_gradients_;
  lines_ahead soon_;
};

// A task takes as many heads as keep their states in so many bytes, but at least one. It reads a
// block of time for all of them while the translations of its pages are cached.
inline constexpr index kept_bytes_per_task = index{24} << 20;

template <bool Lanes, has_panel_adjoint Op, class Out, class Gradients, class State>
void adjoint_by_heads(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      bool in_lanes, adjoint_options<State> const& options) {
  using Adjoint = panels_adjoint<Op, Out, Gradients, State, Lanes>;
  recurrence_shape const shape = op.shape();
  int const threads = threads_to_use(options.threads);
  state_box const box = box_of(shape, options);
  index const bytes = std::max<index>(1, Adjoint::kept_bytes(shape, shape.time));
  index const share =
      std::max<index>(1, (threads + box.sequences - 1) / std::max<index>(box.sequences, 1));
  index const at_most_heads = std::max<index>(1, (box.heads + share - 1) / share);
  index const together = std::clamp<index>(kept_bytes_per_task / bytes, 1, at_most_heads);
  index const tasks = (box.heads + together - 1) / together;
  for_each_task(box.sequences * tasks, threads, [&](index task) {
    index const first = task % tasks * together;
    walk const w =
        walk_of(task / tasks * box.heads + first, shape, options, options.initial.positions);
    Adjoint(op, dy, gradients, in_lanes, w, std::min(together, box.heads - first))(options);
  });
}

template <has_panel_adjoint Op, class Out, class Gradients, class State>
void adjoint_panels(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                    adjoint_options<State> const& options) {
  constexpr bool lanes = gives_lanes<Op, Gradients>();
  bool in_lanes = false;
  if constexpr (lanes) in_lanes = (layout_of(op) & layout_of(dy) & gradients.layout()).columns;
  adjoint_by_heads<lanes>(op, dy, gradients, in_lanes, options);
}

}  // namespace wane::impl
