// The adjoint of memories that do not erase, where decays have no gradient: no state is kept.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/row_products.hpp"
#include "wane/core/chunk/term_gradients.hpp"
#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/run/panels/ends.hpp"
#include "wane/run/panels/gather.hpp"
#include "wane/run/panels/one_pass.hpp"
#include "wane/run/panels/rows.hpp"
#include "wane/run/panels/step.hpp"
#include "wane/run/shared/lines_ahead.hpp"

namespace wane::impl {

template <class Op>
concept has_two_way_adjoint =
    runs_in_panels<Op> && scannable<Op> && !time_invariant<Op> && !channelwise<Op> &&
    (constant_decays<Op> || fading_of<token_of<Op>> == fading::none);

// With S the states and G the cotangents dL/dS of a walk, decays left out,
//   dL/dq_t = S_t dL/dy_t        from the first token to the last
//   dL/dk_t = G_t v_t, dL/dv_t = G_t^T k_t, G_{t-1} = G_t + q_t dL/dy_t^T    from the last back
// S and G are thus never needed at the same time. The first way keeps T x rows numbers.
template <has_two_way_adjoint Op, class Out, class Gradients, bool Lanes>
class two_way_adjoint {
 public:
  using T = accumulate_type<Op>;
  using Token = token_of<Op>;
  using gatherer = term_gatherer<Op>;
  using form = typename gatherer::form;
  using vector = typename form::vector;
  using of_state = state_products<form>;
  using panels = panel_columns<T, simd_bytes == 64 ? 2 : 1>;
  static constexpr int width = form::width, tokens = micro_tokens;

  two_way_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                  Gradients const& gradients, bool in_lanes, walk const& w)
      : ends_(op, output_gradient, gradients, in_lanes),
        walk_(w),
        gather_(ends_.op()),
        rows_(recurrence_shape(op.shape()).rows),
        row_blocks_((rows_ + width - 1) / width),
        panels_{0, recurrence_shape(op.shape()).columns},
        columns_(panels_.padded()),
        row_stride_(row_stride_of<T>(columns_)),
        chunks_((w.count + tokens - 1) / tokens),
        state_(row_blocks_ * width * row_stride_),
        of_queries_(has_query<Token> ? chunks_ * products_of_chunk() : 0),
        of_keys_(products_of_chunk()),
        reads_(gather_.numbers_to_read()),
        writes_(gather_.numbers_to_write()),
        turned_reads_(row_blocks_ * tokens * width),
        turned_writes_(gather_.numbers_to_write()),
        terms_(gather_.numbers_of_terms()),
        arrays_(gather_.numbers_in_arrays()),
        values_(tokens * columns_),
        output_gradients_(tokens * columns_),
        value_gradients_(tokens * columns_),
        row_gradients_(tokens * 5 * padded_rows()) {
    std::fill_n(state_.data(), padded_rows() * row_stride_, T(0));
    if (has_query<Token> && rows_ < padded_rows())
      std::fill_n(of_queries_.data(), chunks_ * products_of_chunk(), T(0));
    std::fill_n(of_keys_.data(), products_of_chunk(), T(0));
  }

  template <class State>
  void operator()(adjoint_options<State> const& options) {
    if constexpr (has_query<Token>) {
      ends_.load_state(options.initial, walk_, row_stride_, state_.data());
      for (index c = 0; c < chunks_; ++c) go_on(c);
    }
    ends_.load_state(options.final_gradient, walk_, row_stride_, state_.data());
    for (index c = chunks_ - 1; c >= 0; --c) come_back(c);
    ends_.save_state(options.initial_gradient, walk_, row_stride_, state_.data());
  }

 private:
  static constexpr int rows_together = simd_bytes == 64 ? 4 : 2;

  index padded_rows() const { return row_blocks_ * width; }
  index products_of_chunk() const { return tokens * padded_rows(); }
  walk part(index c) const { return walk_.part(c * tokens, tokens); }

  // Gathers chunk c, loads its values and output gradients, and lists the lines of chunk `next`, so
  // that they are prefetched.
  micro_chunk<T> take(index c, index next, T* terms) {
    walk const w = part(c);
    soon_.clear();
    if (next >= 0 && next < chunks_) {
      soon_.add(ends_.op(), part(next));
      if (ends_.in_lanes())
        for (index t = 0; t < part(next).count; ++t)
          soon_.add(ends_.output_gradient().element(part(next).token(t), 0), panels_.last);
    }
    auto const x = gather_.tokens_at(w, 0);
    for (index t = 0; t < tokens; ++t)
      panels_.template load<Lanes>(
          ends_.in_lanes(), values_.data() + t * columns_, t < w.count,
          [&](auto j) { return convert<T>(x[static_cast<std::size_t>(t)].value(j)); });
    ends_.load_output_gradients(w, output_gradients_.data());
    return gather_(x, static_cast<int>(w.count), reads_.data(), writes_.data(), arrays_.data(),
                   terms);
  }

  void go_on(index c) {
    auto const chunk = take(c, c + 1, nullptr);
    multiply(output_gradients_.data(), of_queries_.data() + c * products_of_chunk());
    int const each = soon_.spread(panels_.panels() * row_blocks_);
    void const* const* soon = soon_.begin();
    panels_.for_panels([&](index first, auto vectors) {
      write<vectors>({chunk, rows_, row_stride_, soon, each}, first);
      soon += each * row_blocks_;
    });
  }
  template <int R>
  [[gnu::noinline]] void write(panel_rows<form, R> rows, index first) const {
    vector v[tokens][R];
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        v[t][r] = vector::load(values_.data() + t * columns_ + first + r * width);
      });
    });
    rows.write(state_.data() + first, state_.data() + first, v, v);
  }

  void come_back(index c) {
    walk const w = part(c);
    auto const chunk = take(c, c - 1, terms_.data());
    multiply(values_.data(), of_keys_.data());
    token_products<T> pairs;
    row_products<tokens, tokens>(output_gradients_.data(), columns_, values_.data(), columns_,
                                 columns_, &pairs.query_key[0][0]);
    if constexpr (strictly_causal<Token>)
      for (int t = 0; t < tokens; ++t) pairs.query_key[t][t] = T(0);
    auto back = turned(chunk);
    back.each = soon_.spread(panels_.panels() * row_blocks_);
    back.soon = soon_.begin();
    panels_.for_panels([&](index first, auto vectors) {
      answer<vectors>(back, first);
      back.soon += back.each * row_blocks_;
    });
    give_terms(c, pairs);
    ends_.give(w, value_gradients_.data(), output_gradients_.data(), row_gradients_.data(),
               padded_rows());
  }

  // to[row / width][t][row % width] = the product of that row of the state with the columns of
  // token t.
  [[gnu::noinline]] void multiply(T const* columns, T* to) const {
    for (index i = 0; i < rows_; i += rows_together) {
      T all[tokens * rows_together];
      row_products<tokens, rows_together>(columns, columns_, state_.data() + i * row_stride_,
                                          row_stride_, columns_, all);
      for (int t = 0; t < tokens; ++t)
        std::copy_n(all + t * rows_together, rows_together,
                    to + (i / width * tokens + t) * width + i % width);
    }
  }

  // The chunk with time reversed: it takes output gradients from the last token to the first.
  one_pass<T, tokens, form::fading> turned(micro_chunk<T> const& chunk) const {
    T *read = turned_reads_.data(), *write = turned_writes_.data();
    constexpr int decays = form::writes - form::keys;
    for (index i = 0; i < row_blocks_; ++i) {
      T const *reads = chunk.reads + i * form::reads * width,
              *writes = chunk.writes + i * form::writes * width;
      unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
        vector::load(writes + (tokens - 1 - t) * width).store(read + t * width);
        vector::load(reads + (tokens - 1 - t) * width).store(write + t * width);
      });
      std::copy_n(writes + tokens * width, decays * width, write + tokens * width);
      read += tokens * width, write += form::writes * width;
    }
    one_pass<T, tokens, form::fading> back{turned_reads_.data(), turned_writes_.data()};
    for (int t = 0; t < tokens; ++t) {
      for (int s = 0; s <= t; ++s)
        back.pairs[t][s] = chunk.products.query_key[tokens - 1 - s][tokens - 1 - t];
      if (chunk.has_direct) back.pairs[t][t] += chunk.direct[tokens - 1 - t];
    }
    return back;
  }
  template <int R>
  [[gnu::noinline]] void answer(one_pass<T, tokens, form::fading> const& back, index first) const {
    auto const at = [&](int t, int r) { return (tokens - 1 - t) * columns_ + first + r * width; };
    back.template take<R>(
        rows_, state_.data() + first, row_stride_,
        [&](auto t, auto r)
            WANE_INLINE_LAMBDA { return vector::load(output_gradients_.data() + at(t, r)); },
        [&](auto t, auto r, vector g)
            WANE_INLINE_LAMBDA { g.store(value_gradients_.data() + at(t, r)); });
  }

  [[gnu::noinline]] void give_terms(index c, token_products<T> const& pairs) const {
    T products[of_state::count * width] = {};
    for (index i = 0; i < row_blocks_; ++i) {
      index const at = i * tokens * width;
      if constexpr (has_query<Token>)
        std::copy_n(of_queries_.data() + c * products_of_chunk() + at, tokens * width,
                    products + of_state::of_query * width);
      std::copy_n(of_keys_.data() + at, tokens * width, products + of_state::of_key * width);
      term_gradients<form, reading_of<Token>, decays_in_logs<Token>>::take(
          terms_.data() + i * form::terms * width, products, pairs,
          row_gradients_.data() + i * width, 5 * padded_rows(), padded_rows());
    }
  }

  adjoint_ends<Op, Out, Gradients, Lanes> const ends_;
  walk const walk_;
  gatherer const gather_;
  index const rows_, row_blocks_;
  panels const panels_;
  index const columns_, row_stride_, chunks_;
  aligned_numbers<T> state_;  // S, and then G
  aligned_numbers<T> of_queries_, of_keys_, reads_, writes_, turned_reads_, turned_writes_, terms_,
      arrays_, values_, output_gradients_, value_gradients_, row_gradients_;
  lines_ahead soon_;
};

// The fewest columns for which this adjoint is used. With fewer, kept states are small: they take
// rows x columns numbers every 64 tokens.
inline constexpr index least_two_way_columns = 32;

// Constant decays must only fade.
template <has_two_way_adjoint Op>
bool two_ways_fit(Op const& op) {
  if constexpr (constant_decays<Op>) return only_fades(op);
  return true;
}

template <has_two_way_adjoint Op, class Out, class Gradients, class State>
void adjoint_two_ways(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  recurrence_shape const shape = op.shape();
  constexpr bool lanes = gives_lanes<Op, Gradients>();
  bool in_lanes = false;
  if constexpr (lanes) in_lanes = (layout_of(op) & layout_of(dy) & gradients.layout()).columns;
  for_each_task(walks_of(shape, options), threads_to_use(options.threads), [&](index task) {
    walk const w = walk_of(task, shape, options, options.initial.positions);
    two_way_adjoint<Op, Out, Gradients, lanes>(op, dy, gradients, in_lanes, w)(options);
  });
}

}  // namespace wane::impl
