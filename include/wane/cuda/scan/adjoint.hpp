// scan_adjoint: gradients of a scan, by a backward scan that computes the states again.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay_derivative.hpp"
#include "wane/cuda/scan/adjoint_sums.hpp"
#include "wane/cuda/scan/tile_worker.hpp"

namespace wane::cuda::impl {

template <class Op, class Out, class Gradients, class State>
struct adjoint_arguments {
  using V = accumulate_type<Op>;
  Op op;
  sequence_view<Out const> output_gradient;
  Gradients gradients;
  view<State const, 4> initial, final_gradient;
  view<State, 4> initial_gradient;
  sequence_list sequences;
  V const* kept;           // the states before every tile
  row_sums<V>* tile_sums;  // [strip][tile][rows + 1]: each row, then the head
  V* token_sums;           // [strip][token of the walk][token_sums::numbers]
  scan_plan plan;
  shared_layout layout;
  scan_workspace<V> work;
  index blocks;

  index work_items() const { return plan.work_items(); }
  kernel_counters counters() const { return work.counters(); }
};

// g_t = q_t dy_t + c_{t+1} is the gradient of the state after token t, and c_t = w_t g_t is the
// gradient of the state before it. c is a recurrence with the same decays, walked from the last
// token to the first. Its tiles are those of the run in the opposite order. At the last token of a
// sequence, c_{t+1} is replaced by the gradient of the final state. (Complex factors are
// conjugates.) Where a token reads before it writes, g_t is the gradient of the decayed state and
// c_{t+1} the gradient of what the token writes. The recurrence is the same. Where it reads before
// its decay, g_t = c_{t+1} and c_t = w_t g_t + q_t dy_t.
template <class Config, bool Packed, machine M, class Op, class Out, class Gradients, class State>
class scan_adjoint : tile_worker<Config, Packed, M, adjoint_arguments<Op, Out, Gradients, State>> {
  using base = tile_worker<Config, Packed, M, adjoint_arguments<Op, Out, Gradients, State>>;
  using base::a_, base::count_, base::column_, base::machine_, base::slice_;
  using typename base::E, typename base::Token, typename base::V;
  using Sink = sink_of<Gradients, Op>;
  using sums_type = row_sums<V>;
  using wide = typename sums_type::wide;
  using kinds = token_sums<Op>;
  static constexpr bool sums_rows = takes_sums<Gradients, Op> && time_invariant<Op>;
  static constexpr bool sums_tokens = takes_sums<Gradients, Op> && !time_invariant<Op>;

 public:
  WANE_HOST_DEVICE scan_adjoint(M& machine, adjoint_arguments<Op, Out, Gradients, State> const& a)
      : base(machine, a) {}

  WANE_HOST_DEVICE void operator()() {
    this->for_work(
        [&](auto const& next, int half) {
          std::size_t used = 0;
          auto const to = this->staging(tile_of(next), half, &used, true);
          (void)this->staged_op(to);
          (void)to.by_column(a_.output_gradient);
        },
        [&](auto const& work, int half) {
          tile const part = tile_of(work);
          std::size_t used = 0;
          auto const in = this->staging(part, half, &used, false);
          Op const op = this->staged_op(in);
          run_tile(op, in.by_column(a_.output_gradient), part, work.tile);
        });
  }

 private:
  using numbers = V[Config::tokens];

  template <class Work>
  WANE_HOST_DEVICE tile tile_of(Work const& work) const {
    return tile_at(a_.plan, work.strip, a_.plan.tiles - 1 - work.tile, a_.sequences.stride);
  }

  // `number` counts tiles from the end.
  WANE_HOST_DEVICE void run_tile(Op const& op, sequence_view<Out const> const& output_gradient,
                                 tile const& part, index number) {
    this->count_tokens(part);
    this->read_start(part);
    numbers value = {}, dy = {}, value_gradient = {};
    sums_type of_head;
    this->for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
      index const j = this->column(part);
      value[k] = convert<V>(x.value(j));
      dy[k] = convert<V>(output_gradient.read(at.at(part.batch, part.head), j));
      if constexpr (has_direct<Token>) {
        value_gradient[k] = multiply(conjugate(convert<V>(x.direct())), dy[k]);
        V const direct = multiply(conjugate(value[k]), dy[k]);
        if constexpr (sums_rows) of_head.key = add(of_head.key, convert<wide>(direct));
        if constexpr (sums_tokens) put_down(0, k, direct);
      }
    });
    if constexpr (sums_tokens && has_direct<Token>)
      add_columns(part, 1, kinds::kinds * this->rows(), 0);
    for (index i = 0; i < this->rows(); ++i) {
      E const before = this->join_tokens(op, part, i, value).before;
      auto const later = join_backward(backward_effect(op, part, i, dy));
      if (a_.layout.keeps_threads) this->before_thread(i) = before, after_thread(i) = later.before;
      if (this->last_slice_) *this->of_tile(i) = later.through;
    }
    this->look_back(part.strip, number);
    machine_.barrier();
    for (index i = 0; i < this->rows(); ++i) {
      sums_type const of_row = run_row(op, part, i, value, dy, value_gradient);
      of_head.decay = add(of_head.decay, of_row.decay);
      if constexpr (sums_rows) save_sums(part, i, of_row);
      if constexpr (sums_tokens && kinds::kinds > 0)
        add_columns(part, kinds::kinds, i, this->rows());
    }
    if constexpr (sums_rows) save_sums(part, this->rows(), of_head);
    if constexpr (takes_columns<Sink, index, V>)
      this->for_tokens(op, part, [&](int k, auto const&, auto const& at) {
        sink_at(a_.gradients, op, at.at(part.batch, part.head))
            .column(this->column(part), value_gradient[k]);
      });
    if (part.number == 0) pass_empty_sequences(part);
  }

  // Calls each(k, token, cursor) from the last token of this thread to the first, in an unrolled
  // loop.
  template <class Each>
  WANE_HOST_DEVICE void for_tokens_backward(Op const& op, tile const& part,
                                            Each const& each) const {
    if (count_ == 0) return;
    sequence_cursor<Packed> cursor(a_.sequences, part.batch,
                                   part.first_token + slice_ * Config::tokens + count_ - 1);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = Config::tokens - 1; k >= 0; --k)
      if (k < count_) {
        each(k, op.at(cursor.at(part.batch, part.head)), cursor);
        if (k > 0) cursor.previous();
      }
  }

  // q_t dy_t
  WANE_HOST_DEVICE static V read_gradient(row_terms<Op, Packed> const& row, Token const& x, V dy) {
    if constexpr (has_query<Token> || has_element_query<Token>)
      return multiply(conjugate(row.query(x)), dy);
    else
      return dy;
  }
  WANE_HOST_DEVICE V final_gradient(index sequence, tile const& part, index i) const {
    if (!a_.final_gradient.data) return V(0);
    return convert<V>(a_.final_gradient(sequence, part.head, i, this->column(part)));
  }

  // The effect of this thread's tokens on the c of later tokens.
  WANE_HOST_DEVICE E backward_effect(Op const& op, tile const& part, index i,
                                     numbers const& dy) const {
    auto const row = this->row_of_tokens(op, part, i);
    E effect;
    for_tokens_backward(op, part, [&](int k, auto const& x, auto const& at) {
      auto const w = conjugate(row.decay(x));
      bool const ends = this->ends(k, at);
      V const read = read_gradient(row, x, dy[k]);
      V const c = before_token(w, read, ends ? final_gradient(at.sequence(), part, i) : V(0));
      effect = ends ? reset_to(c) : then_token(effect, w, c);
    });
    return effect;
  }

  // Of the state after the token: what its query adds to the gradient c of what it writes.
  WANE_HOST_DEVICE static V after_token(V read, V c) {
    return reads_before_decay<Token> ? c : add(read, c);
  }
  // The gradient of the state before the token.
  WANE_HOST_DEVICE static V before_token(auto const& w, V read, V c) {
    return carried(w, after_token(read, c), reads_before_decay<Token> ? read : V(0));
  }

  WANE_HOST_DEVICE E& after_thread(index i) const {
    return this->template shared<E>(
        a_.layout.after_thread)[i * Config::threads + machine_.thread()];
  }
  // Joins effects from the last slice to the first. Each thread joins the effect of its mirror
  // image, and the results are mirrored back.
  WANE_HOST_DEVICE auto join_backward(E const& own) {
    int const columns = a_.plan.columns(), slices = Config::threads >> a_.plan.columns_log2;
    int const mirrored = (slices - 1 - slice_) * columns + column_;
    E* const there = this->template shared<E>(a_.layout.mirror);
    E* const back = there + Config::threads;
    machine_.write_shared(there + mirrored, own);
    machine_.barrier();
    auto joined = this->join_(machine_.read_shared(there + machine_.thread()));
    machine_.write_shared(back + mirrored, joined.before);
    machine_.barrier();
    joined.before = machine_.read_shared(back + machine_.thread());
    return joined;  // `before` is the effect of the tokens after this thread
  }
  // `before` of join_backward, kept or computed again. Every thread of the block must call it.
  WANE_HOST_DEVICE E after_tokens(Op const& op, tile const& part, index i, numbers const& dy) {
    return a_.layout.keeps_threads ? after_thread(i)
                                   : join_backward(backward_effect(op, part, i, dy)).before;
  }

  // The gradients of the tokens of this thread on row i.
  WANE_HOST_DEVICE sums_type run_row(Op const& op, tile const& part, index i, numbers const& value,
                                     numbers const& dy, numbers& value_gradient) {
    sums_type sums;
    E const before_tokens = this->before_tokens(op, part, i, value);
    E const after_tokens = this->after_tokens(op, part, i, dy);
    if (count_ == 0) return sums;
    auto const row = this->row_of_tokens(op, part, i);
    numbers before = {};
    V s = state_after(before_tokens,
                      a_.kept[a_.plan.place_of_state(part.strip, part.number, i) + column_]);
    this->for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
      if constexpr (Packed)
        if (at.begins()) s = this->initial(at.sequence(), part.head, i, this->column(part));
      before[k] = s;
      s = carried(row.decay(x), s, row.write(x, value[k]));
    });
    V c = state_after(after_tokens, machine_.read_shared(this->before_tile(i)).drive);
    for_tokens_backward(op, part, [&](int k, auto const& x, auto const& at) {
      if (this->ends(k, at)) c = final_gradient(at.sequence(), part, i);
      V const of_read = read_gradient(row, x, dy[k]), g = after_token(of_read, c);
      V const written = strictly_causal<Token> ? c : g;
      auto const w = row.decay(x);
      V const decay_gradient = multiply(conjugate(decay_derivative(w, before[k])), g);
      if constexpr (has_key<Token>)
        value_gradient[k] = multiply_add(conjugate(row.key(x)), written, value_gradient[k]);
      else
        value_gradient[k] = add(value_gradient[k], written);
      if constexpr (sums_rows || sums_tokens) {
        V const key_gradient = multiply(conjugate(value[k]), written);
        V const after = carried(w, before[k], row.write(x, value[k]));
        V const query_gradient = multiply(conjugate(read_from<Token>(w, before[k], after)), dy[k]);
        if constexpr (sums_rows) {
          sums = added(sums, {convert<wide>(decay_gradient), convert<wide>(key_gradient),
                              convert<wide>(query_gradient)});
        } else {
          if constexpr (kinds::decay) put_down(0, k, decay_gradient);
          if constexpr (has_key<Token>) put_down(kinds::decay, k, key_gradient);
          if constexpr (has_query<Token>) put_down(kinds::kinds - 1, k, query_gradient);
        }
      }
      if constexpr (takes_elements<Sink, index, V>)
        sink_at(a_.gradients, op, at.at(part.batch, part.head))
            .element(this->column(part), element_gradient<V>{written, decay_gradient});
      c = before_token(conjugate(w), of_read, c);
      if (this->begins(k, at)) save_initial(at.sequence(), part, i, c);
    });
    return sums;
  }

  WANE_HOST_DEVICE void save_initial(index sequence, tile const& part, index i, V c) const {
    if (a_.initial_gradient.data)
      a_.initial_gradient(sequence, part.head, i, this->column(part)) = convert<State>(c);
  }
  WANE_HOST_DEVICE void pass_empty_sequences(tile const& part) const {
    this->for_empty_sequences(
        part, [&](index n, index i) { save_initial(n, part, i, final_gradient(n, part, i)); });
  }

  // Stores the sum over the block, in a fixed order.
  WANE_HOST_DEVICE void save_sums(tile const& part, index i, sums_type sums) {
    sums = sum_of_block(machine_, sums, this->template shared<sums_type>(a_.layout.output));
    if (machine_.thread() == 0)
      a_.tile_sums[(part.strip * a_.plan.tiles + part.number) * (this->rows() + 1) + i] = sums;
  }

  // The place of a gradient that add_columns sums over columns.
  WANE_HOST_DEVICE V* of_token(int kind, int token, int column) const {
    return this->template shared<V>(a_.layout.output) +
           (((kind * a_.plan.tile_tokens + token) << a_.plan.columns_log2) + column);
  }
  WANE_HOST_DEVICE void put_down(int kind, int k, V gradient) const {
    machine_.write_shared(of_token(kind, slice_ * Config::tokens + k, column_), gradient);
  }
  // Sums over the columns of the tile what put_down has stored. The order of a sum depends only on
  // its place. The sum of a kind becomes number first + kind * step of its token.
  WANE_HOST_DEVICE void add_columns(tile const& part, int kinds_there, index first,
                                    index step) const {
    machine_.barrier();
    for (int n = machine_.thread(); n < kinds_there * part.tokens; n += M::threads) {
      int const kind = n / part.tokens, token = n % part.tokens, columns = a_.plan.columns();
      wide sum{0};
      for (int c = 0; c < columns; ++c) {
        int const j = (c + n) & (columns - 1);  // so that threads read different banks
        if (j < part.columns)
          sum = add(sum, convert<wide>(machine_.read_shared(of_token(kind, token, j))));
      }
      index const place = part.strip * a_.plan.shape.time + part.first_token + token;
      a_.token_sums[place * kinds::numbers(this->rows()) + first + kind * step] = convert<V>(sum);
    }
    machine_.barrier();
  }
};

}  // namespace wane::cuda::impl
