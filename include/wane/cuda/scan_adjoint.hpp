// scan_adjoint: gradients of a scan; the same scan backward, the states computed again.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/tile_worker.hpp"
#include "wane/run/adjoint_parts.hpp"

namespace wane::cuda {

// Sums over tokens and columns of the gradients of a row; for the head, in `key`, of direct.
template <class V>
struct row_sums {
  using wide = typename composed_effect<V>::wide;
  wide decay{0}, key{0}, query{0};
};

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
  row_sums<V>* tile_sums;  // of every tile: its rows, and the head
  scan_plan plan;
  shared_layout layout;
  scan_workspace<V> work;
  index blocks;
};

// With g_t = q_t dy_t + c_{t+1}, the gradient of the state after token t, c_t = w_t g_t goes back
// to the token before: c is a recurrence with the same decays, walked from the last token to the
// first. Tiles are those of the run, taken in the opposite order. The last token of a sequence is a
// reset that brings the gradient of the final state along. (Conjugates where numbers are complex.)
template <class Config, bool Packed, machine M, class Op, class Out, class Gradients, class State>
class scan_adjoint : tile_worker<Config, Packed, M, adjoint_arguments<Op, Out, Gradients, State>> {
  using base = tile_worker<Config, Packed, M, adjoint_arguments<Op, Out, Gradients, State>>;
  using base::a_, base::count_, base::column_, base::machine_, base::segment_;
  using typename base::E, typename base::Token, typename base::V;
  using Sink = decltype(std::declval<Gradients const&>().at(place<>{}));
  using sums_type = row_sums<V>;
  using wide = typename sums_type::wide;
  static constexpr bool sums_rows = takes_rows<Sink, V> || takes_tokens<Sink, V>;

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
    return tile_at(a_.plan, work.line, a_.plan.tiles - 1 - work.tile, a_.sequences.stride);
  }

  // `number` counts tiles from the end.
  WANE_HOST_DEVICE void run_tile(Op const& op, sequence_view<Out const> const& output_gradient,
                                 tile const& part, index number) {
    this->count_tokens(part);
    numbers value = {}, dy = {}, value_gradient = {};
    sums_type of_head;
    this->for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
      index const j = this->column(part);
      value[k] = V(x.value(j));
      dy[k] = convert<V>(output_gradient.read(at.at(part.batch, part.head), j));
      if constexpr (has_direct<Token>) {
        value_gradient[k] = multiply(conjugate(V(x.direct())), dy[k]);
        of_head.key += wide(multiply(conjugate(value[k]), dy[k]));
      }
    });
    for (index i = 0; i < this->rows(); ++i) {
      auto const joined = this->join_(this->effect_of_tokens(op, part, i, value));
      this->before_thread(i) = joined.before;
      if (part.number == 0 && segment_ == 0) this->before_thread(i).drive = this->start(part, i);
      join_backward(i, backward_effect(op, part, i, dy));
    }
    this->look_back(part.line, number);
    machine_.barrier();
    for (index i = 0; i < this->rows(); ++i) {
      sums_type const of_row = run_row(op, part, i, value, dy, value_gradient);
      of_head.decay += of_row.decay;
      if constexpr (sums_rows) save_sums(part, i, of_row);
    }
    if constexpr (sums_rows) save_sums(part, this->rows(), of_head);
    if constexpr (takes_columns<Sink, index, V>)
      this->for_tokens(op, part, [&](int k, auto const&, auto const& at) {
        a_.gradients.at(at.at(part.batch, part.head)).column(this->column(part), value_gradient[k]);
      });
    if (part.number == 0) pass_empty_sequences(part);
  }

  // Calls each(k, token, cursor) from the last token of this thread to the first, written out.
  template <class Each>
  WANE_HOST_DEVICE void for_tokens_backward(Op const& op, tile const& part,
                                            Each const& each) const {
    if (count_ == 0) return;
    sequence_cursor<Packed> cursor(a_.sequences, part.batch,
                                   part.first_token + segment_ * Config::tokens + count_ - 1);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = Config::tokens - 1; k >= 0; --k)
      if (k < count_) {
        each(k, op.at(cursor.at(part.batch, part.head)), cursor);
        if (k > 0) cursor.previous();
      }
  }

  // q_t dy_t, and at the end of a sequence the gradient of its final state.
  template <class Cursor>
  WANE_HOST_DEVICE V arriving(Token const& x, Cursor const& at, tile const& part, index i,
                              V dy) const {
    V g = dy;
    if constexpr (has_query<Token>) g = multiply(conjugate(V(x.query(i))), dy);
    if (at.ends()) g = g + final_gradient(at.sequence(), part, i);
    return g;
  }
  WANE_HOST_DEVICE V final_gradient(index sequence, tile const& part, index i) const {
    if (!a_.final_gradient.data) return V(0);
    return static_cast<V>(a_.final_gradient(sequence, part.head, i, this->column(part)));
  }

  // What the tokens of this thread do to the c that comes from later ones.
  WANE_HOST_DEVICE E backward_effect(Op const& op, tile const& part, index i,
                                     numbers const& dy) const {
    E effect;
    for_tokens_backward(op, part, [&](int k, auto const& x, auto const& at) {
      auto const w = conjugate(this->decay(x, part, i));
      V const c = carried(w, arriving(x, at, part, i, dy[k]), V(0));
      effect = at.ends() ? reset_to(c) : then_token(effect, w, c);
    });
    return effect;
  }

  WANE_HOST_DEVICE E* after_thread(index i, int thread) const {
    return this->template shared<E>(a_.layout.after_thread) + i * Config::threads + thread;
  }
  // Joins from the last segment to the first: every thread takes the part of its mirror image.
  WANE_HOST_DEVICE void join_backward(index i, E const& own) {
    int const columns = a_.plan.columns(), segments = Config::threads >> a_.plan.columns_log2;
    int const mirrored = (segments - 1 - segment_) * columns + column_;
    machine_.write_shared(after_thread(i, mirrored), own);
    machine_.barrier();
    auto const joined = this->join_(machine_.read_shared(after_thread(i, machine_.thread())));
    machine_.barrier();
    machine_.write_shared(after_thread(i, mirrored), joined.before);
    if (this->last_segment_) *this->of_tile(i) = joined.through;
  }

  // The gradients of the tokens of this thread on row i.
  WANE_HOST_DEVICE sums_type run_row(Op const& op, tile const& part, index i, numbers const& value,
                                     numbers const& dy, numbers& value_gradient) {
    sums_type sums;
    if (count_ == 0) return sums;
    numbers before = {};
    V s = state_after(this->before_thread(i),
                      a_.kept[a_.plan.place_of_state(part.line, part.number, i) + column_]);
    this->for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
      if constexpr (Packed)
        if (at.begins()) s = this->initial(at.sequence(), part.head, i, this->column(part));
      before[k] = s;
      s = carried(this->decay(x, part, i), s, this->write(x, i, value[k]));
    });
    V c = state_after(machine_.read_shared(after_thread(i, machine_.thread())),
                      machine_.read_shared(this->before_tile(i)).drive);
    for_tokens_backward(op, part, [&](int k, auto const& x, auto const& at) {
      if (at.ends()) c = V(0);
      V const g = arriving(x, at, part, i, dy[k]) + c;
      auto const w = this->decay(x, part, i);
      V const decay_gradient = multiply(conjugate(decay_derivative(w, before[k])), g);
      if constexpr (has_key<Token>)
        value_gradient[k] = multiply_add(conjugate(V(x.key(i))), g, value_gradient[k]);
      else
        value_gradient[k] = value_gradient[k] + g;
      if constexpr (sums_rows) {
        sums.decay += wide(decay_gradient);
        sums.key += wide(multiply(conjugate(value[k]), g));
        V const after = carried(w, before[k], this->write(x, i, value[k]));
        sums.query += wide(multiply(conjugate(after), dy[k]));
      }
      if constexpr (takes_elements<Sink, index, V>)
        a_.gradients.at(at.at(part.batch, part.head))
            .element(this->column(part), element_gradient<V>{g, decay_gradient});
      c = carried(conjugate(w), g, V(0));
      if (at.begins()) save_initial(at.sequence(), part, i, c);
    });
    return sums;
  }

  WANE_HOST_DEVICE void save_initial(index sequence, tile const& part, index i, V c) const {
    if (a_.initial_gradient.data)
      a_.initial_gradient(sequence, part.head, i, this->column(part)) = static_cast<State>(c);
  }
  WANE_HOST_DEVICE void pass_empty_sequences(tile const& part) const {
    this->for_empty_sequences(
        part, [&](index n, index i) { save_initial(n, part, i, final_gradient(n, part, i)); });
  }

  // Adds up over the block, in a fixed order.
  WANE_HOST_DEVICE void save_sums(tile const& part, index i, sums_type sums) {
    sums = sum_of_block(machine_, sums, this->template shared<sums_type>(a_.layout.exchange));
    if (machine_.thread() == 0)
      a_.tile_sums[(part.line * a_.plan.tiles + part.number) * (this->rows() + 1) + i] = sums;
  }
};

// The sum of what the threads of a block have, for thread 0. Passes two barriers.
template <class M, class V>
WANE_HOST_DEVICE row_sums<V> sum_of_block(M& machine, row_sums<V> sums, row_sums<V>* exchange) {
  int const thread = machine.thread();
  auto const add = [](row_sums<V> const& a, row_sums<V> const& b) {
    return row_sums<V>{a.decay + b.decay, a.key + b.key, a.query + b.query};
  };
  for (int by = 1; by < warp_size; by *= 2) {
    auto const lower = machine.shuffle_up(sums, by);
    if (thread % warp_size >= by) sums = add(lower, sums);
  }
  machine.barrier();
  if (thread % warp_size == warp_size - 1)
    machine.write_shared(exchange + thread / warp_size, sums);
  machine.barrier();
  if (thread == 0) {
    sums = machine.read_shared(exchange);
    for (int w = 1; w < M::threads / warp_size; ++w)
      sums = add(sums, machine.read_shared(exchange + w));
  }
  return sums;
}

// One block a head and row: adds up the sums of all tiles, in a fixed order, and hands them over.
template <machine M, class Op, class Out, class Gradients, class State>
WANE_HOST_DEVICE void sum_tiles(M& machine, adjoint_arguments<Op, Out, Gradients, State> const& a,
                                index block) {
  using V = accumulate_type<Op>;
  using Sink = decltype(a.gradients.at(place<>{}));
  index const rows = a.plan.shape.rows, heads = a.plan.shape.heads;
  index const head = block / (rows + 1), i = block % (rows + 1);
  index const of_head = a.plan.column_tiles * a.plan.tiles;  // tiles of a row of the batch
  row_sums<V> sums;
  for (index n = machine.thread(); n < a.plan.lines / (heads * a.plan.column_tiles) * of_head;
       n += M::threads) {
    index const tile = (n / of_head * heads + head) * of_head + n % of_head;
    auto const& more = a.tile_sums[tile * (rows + 1) + i];
    sums = {sums.decay + more.decay, sums.key + more.key, sums.query + more.query};
  }
  sums = sum_of_block(machine, sums, reinterpret_cast<row_sums<V>*>(machine.shared()));
  if (machine.thread() != 0) return;
  auto const sink = a.gradients.at({0, 0, head});
  auto const as_v = [](auto const& x) { return static_cast<V>(x); };
  if constexpr (takes_rows<Sink, V>)
    if (i < rows)
      sink.row(i, row_gradient<V>{as_v(sums.decay), as_v(sums.key), as_v(sums.query), V(0), V(0)});
  if constexpr (takes_tokens<Sink, V>)
    if (i == rows) sink.whole(token_gradient<V>{as_v(sums.decay), as_v(sums.key)});
}

}  // namespace wane::cuda
