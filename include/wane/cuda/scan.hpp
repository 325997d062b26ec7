// scan: the single-pass scan along time, as every thread of a block carries it out.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/look_back.hpp"
#include "wane/cuda/segment_scan.hpp"
#include "wane/cuda/sequences.hpp"
#include "wane/cuda/staging.hpp"

namespace wane::cuda {

// What every block knows.
template <class Op, class Out, class State>
struct scan_arguments {
  Op op;
  sequence_view<Out> output;
  view<State const, 4> initial;
  view<State, 4> final;
  index* final_positions;
  sequence_list sequences;
  scan_plan plan;
  shared_layout layout;
  scan_workspace<accumulate_type<Op>> work;
  index blocks;
};

// Each thread holds a few consecutive tokens of one column. A tile is read once, into shared
// memory, while the one before is worked on. The effects of its threads are joined; the state
// before it comes from the tiles before; then every thread walks its tokens again, from the right
// state, and writes what they give. The first token of a sequence is a reset that brings the
// initial state along, so that all that comes before a tile is in the end a state.
template <class Config, bool Packed, machine M, class Op, class Out, class State>
class scan {
 public:
  using V = accumulate_type<Op>;
  using E = composed_effect<V>;
  using Token = token_of<Op>;

  WANE_HOST_DEVICE scan(M& machine, scan_arguments<Op, Out, State> const& a)
      : machine_(machine),
        a_(a),
        join_(machine, a.plan.columns_log2, shared<E>(a.layout.exchange)),
        column_(machine.thread() & (a.plan.columns() - 1)),
        segment_(machine.thread() >> a.plan.columns_log2),
        last_segment_(segment_ == (Config::threads >> a.plan.columns_log2) - 1) {}

  WANE_HOST_DEVICE void operator()() {
    work_item next = take({-1, 0});
    stage(next, 0);
    machine_.commit();
    for (int half = 0; next.line >= 0; half = 1 - half) {
      work_item const current = next;
      next = take(current);
      stage(next, 1 - half);  // what it overwrites was read before the barrier of take
      machine_.commit();
      machine_.template wait<1>();
      machine_.barrier();
      run_tile(tile_of(current), half);
    }
    finish();
  }

 private:
  // A tile of a line; line -1: no work is left.
  struct work_item {
    index line, tile;
  };

  WANE_HOST_DEVICE index rows() const { return channelwise<Op> ? 1 : a_.plan.shape.rows; }

  template <class T>
  WANE_HOST_DEVICE T* shared(std::size_t at) const {
    return reinterpret_cast<T*>(machine_.shared() + at);
  }

  // The work after `current`. Tiles are taken in the order of time, so that a block only ever waits
  // for tiles that others have taken before. Passes a barrier.
  WANE_HOST_DEVICE work_item take(work_item const& current) {
    scan_plan const& plan = a_.plan;
    bool const goes_on = plan.in_order && current.line >= 0 && current.tile + 1 < plan.tiles;
    // Where every block has one item, none takes two.
    bool const alone = current.line >= 0 && plan.work_items() <= a_.blocks;
    // Two places in turn: one is written while threads that are late still read the other.
    auto* const ticket = shared<std::uint64_t>(a_.layout.ticket) + (turn_ = 1 - turn_);
    if (machine_.thread() == 0 && !goes_on && !alone)
      machine_.write_shared(ticket, machine_.take(a_.work.tickets));
    machine_.barrier();
    if (goes_on) return {current.line, current.tile + 1};
    if (alone) return {-1, 0};
    auto const taken = static_cast<index>(machine_.read_shared(ticket));
    if (taken >= plan.work_items()) return {-1, 0};
    if (plan.in_order) return {taken, 0};
    return {taken % plan.lines, taken / plan.lines};
  }

  WANE_HOST_DEVICE tile tile_of(work_item const& work) const {
    return tile_at(a_.plan, work.line, work.tile, a_.sequences.stride);
  }

  // The operator on the copies of a tile in one half of the staging memory, perhaps still to come.
  WANE_HOST_DEVICE Op staged(tile const& part, int half, bool copies) const {
    if constexpr (movable_tensors<Op>) {
      std::size_t used = 0;
      return a_.op.with_tensors(
          stage_tensors<M>{machine_, part, a_.plan.columns(), Config::threads * Config::tokens,
                           shared<std::byte>(a_.layout.staged[half]), &used, copies});
    } else {
      return a_.op;
    }
  }
  WANE_HOST_DEVICE void stage(work_item const& work, int half) const {
    if (work.line >= 0) (void)staged(tile_of(work), half, true);
  }

  WANE_HOST_DEVICE void run_tile(tile const& part, int half) {
    Op const op = staged(part, half, false);
    index const left = part.tokens - segment_ * Config::tokens;
    count_ = column_ >= part.columns || left <= 0 ? 0 : static_cast<int>(left);
    if (count_ > Config::tokens) count_ = Config::tokens;

    V value[Config::tokens] = {}, y[Config::tokens] = {};
    for_tokens(op, part, [&](int k, auto const& x, auto const&) {
      value[k] = V(x.value(part.first_column + column_));
    });
    for (index i = 0; i < rows(); ++i) {
      auto const joined = join_(effect_of_tokens(op, part, i, value));
      before_thread(i) = joined.before;
      if (part.number == 0 && segment_ == 0) before_thread(i).drive = start(part, i);
      if (last_segment_) *of_tile(i) = joined.through;
    }
    look_back(part);
    machine_.barrier();
    if constexpr (has_direct<Token>)
      for_tokens(op, part, [&](int k, auto const& x, auto const&) {
        y[k] = multiply(V(x.direct()), value[k]);
      });
    for (index i = 0; i < rows(); ++i) {
      V s = state_after(before_thread(i), machine_.read_shared(before_tile(i)).drive);
      for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
        if constexpr (Packed)
          if (at.begins()) s = initial(at.sequence(), part.head, i, part.first_column + column_);
        s = carried(decay(x, part, i), s, write(x, i, value[k]));
        if constexpr (has_query<Token>)
          y[k] = multiply_add(V(x.query(i)), s, y[k]);
        else
          y[k] = y[k] + s;
        if (at.ends()) save_final(at.sequence(), part, i, s);
      });
    }
    if (part.number == 0) pass_empty_sequences(part);
    write_output(part, y);
  }

  // Calls each(k, token, cursor) for the tokens of this thread, written out.
  template <class Each>
  WANE_HOST_DEVICE void for_tokens(Op const& op, tile const& part, Each const& each) const {
    if (count_ == 0) return;
    sequence_cursor<Packed> cursor(a_.sequences, part.batch,
                                   part.first_token + segment_ * Config::tokens);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < Config::tokens; ++k)
      if (k < count_) {
        if (k > 0) cursor.next();
        each(k, op.at(cursor.at(part.batch, part.head)), cursor);
      }
  }

  WANE_HOST_DEVICE auto decay(Token const& x, tile const& part, index i) const {
    return decay_of(x, i, part.first_column + column_);
  }
  WANE_HOST_DEVICE V write(Token const& x, index i, V value) const {
    if constexpr (has_key<Token>)
      return multiply(V(x.key(i)), value);
    else
      return value;
  }

  // Of all tokens of this thread on row i.
  WANE_HOST_DEVICE E effect_of_tokens(Op const& op, tile const& part, index i,
                                      V const (&value)[Config::tokens]) const {
    E effect;
    for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
      auto const w = decay(x, part, i);
      V b = write(x, i, value[k]);
      if (at.begins()) {
        b = carried(w, initial(at.sequence(), part.head, i, part.first_column + column_), b);
        effect = reset_to(b);
      } else {
        effect = then_token(effect, w, b);
      }
    });
    return effect;
  }

  WANE_HOST_DEVICE V initial(index sequence, index head, index i, index j) const {
    return a_.initial.data ? static_cast<V>(a_.initial(sequence, head, i, j)) : V(0);
  }
  // What a line starts from. It is read before anybody can have written a final state there.
  WANE_HOST_DEVICE V start(tile const& part, index i) const {
    if (Packed || count_ == 0) return V(0);
    return initial(part.batch, part.head, i, part.first_column + column_);
  }
  WANE_HOST_DEVICE void save_final(index sequence, tile const& part, index i, V state) const {
    if (a_.final.data)
      a_.final(sequence, part.head, i, part.first_column + column_) = static_cast<State>(state);
  }
  // Sequences without tokens end as they begin.
  WANE_HOST_DEVICE void pass_empty_sequences(tile const& part) const {
    if (column_ >= part.columns) return;
    index const first = Packed ? 0 : part.batch, last = Packed ? a_.sequences.count : first + 1;
    int const segments = Config::threads >> a_.plan.columns_log2;
    for (index n = first + segment_; n < last; n += segments)
      if (a_.sequences.length(n) == 0)
        for (index i = 0; i < rows(); ++i)
          save_final(n, part, i, initial(n, part.head, i, part.first_column + column_));
  }

  WANE_HOST_DEVICE E& before_thread(index i) const {
    return shared<E>(a_.layout.before_thread)[i * Config::threads + machine_.thread()];
  }
  WANE_HOST_DEVICE E* before_tile(index i) const {
    return shared<E>(a_.layout.before_tile) + (i << a_.plan.columns_log2) + column_;
  }
  WANE_HOST_DEVICE E* of_tile(index i) const {
    return shared<E>(a_.layout.of_tile) + (i << a_.plan.columns_log2) + column_;
  }

  // Finds what lies before the tile; the threads of the last segment write it.
  WANE_HOST_DEVICE void look_back(tile const& part) {
    if (a_.plan.in_order) {
      V* const carried_on = shared<V>(a_.layout.carried) + column_;
      for (index i = 0; last_segment_ && i < rows(); ++i) {
        V& state = carried_on[i << a_.plan.columns_log2];
        E before;
        if (part.number > 0) before.drive = state;
        machine_.write_shared(before_tile(i), before);
        state = state_after(*of_tile(i), before.drive);
      }
    } else {
      cuda::look_back<Config, M, V> find(machine_, a_.plan, a_.work, join_, part.line, part.number);
      find([&](index i) { return before_tile(i); }, [&](index i) { return of_tile(i); });
    }
  }

  WANE_HOST_DEVICE void write_output(tile const& part, V const (&y)[Config::tokens]) const {
    Out* const staged = shared<Out>(a_.layout.output);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < Config::tokens; ++k) {
      int const walked = segment_ * Config::tokens + k;
      int const token = a_.sequences.stride > 0 ? walked : part.tokens - 1 - walked;
      if (k < count_)
        machine_.write_shared(staged + (token << a_.plan.columns_log2) + column_,
                              static_cast<Out>(convert<widened<Out>>(y[k])));
    }
    machine_.barrier();
    if (a_.output.data)
      tile_cut(a_.output, part, a_.plan.columns())
          .for_units(a_.output, part, a_.plan.columns(), machine_.thread(), M::threads,
                     [&](std::byte* to, int offset, int unit) {
                       machine_.copy_out(to, reinterpret_cast<std::byte*>(staged) + offset, unit);
                     });
  }

  // The last block to end writes the positions, which others may have read from the same memory.
  WANE_HOST_DEVICE void finish() {
    if (!a_.final_positions) return;
    auto* const ended = shared<std::uint64_t>(a_.layout.ticket) + (turn_ = 1 - turn_);
    machine_.barrier();
    if (machine_.thread() == 0) machine_.write_shared(ended, machine_.count(a_.work.finished));
    machine_.barrier();
    if (machine_.read_shared(ended) != static_cast<std::uint64_t>(a_.blocks - 1)) return;
    for (index n = machine_.thread(); n < a_.plan.sequences; n += Config::threads)
      a_.final_positions[n] =
          (a_.sequences.positions ? a_.sequences.positions[n] : 0) + a_.sequences.length(n);
  }

  M& machine_;
  scan_arguments<Op, Out, State> const& a_;
  segment_scan<M, E> join_;
  int column_, segment_;
  bool last_segment_;
  int count_ = 0;  // tokens of this thread in the tile
  int turn_ = 0;
};

}  // namespace wane::cuda
