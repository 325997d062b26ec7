// tile_worker: the common part of kernels over tiles: takes work, copies tiles in, walks tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/sequences.hpp"
#include "wane/cuda/scan/block_scan.hpp"
#include "wane/cuda/scan/look_back.hpp"
#include "wane/cuda/scan/row_terms.hpp"
#include "wane/cuda/scan/staging.hpp"

namespace wane::cuda::impl {

// One thread of a block. It holds a few consecutive tokens of one column of a tile. Arguments have
// op, initial, sequences, plan, layout, work and blocks.
template <class Config, bool Packed, machine M, class Arguments>
class tile_worker {
 protected:
  using Op = decltype(Arguments::op);
  using V = accumulate_type<Op>;
  using E = composed_effect<V>;
  using Token = token_of<Op>;

  WANE_HOST_DEVICE tile_worker(M& machine, Arguments const& a)
      : machine_(machine),
        a_(a),
        join_(machine, a.plan.columns_log2, shared<E>(a.layout.exchange)),
        column_(machine.thread() & (a.plan.columns() - 1)),
        slice_(machine.thread() >> a.plan.columns_log2),
        last_slice_(slice_ == (Config::threads >> a.plan.columns_log2) - 1) {}

  // A tile of a strip; strip -1: no work is left.
  struct work_item {
    index strip, tile;
  };

  // For each item of this block, calls stage(item, half) before the run of the previous item, and
  // run(item, half) after its copies have arrived.
  template <class Stage, class Run>
  WANE_HOST_DEVICE void for_work(Stage const& stage, Run const& run) {
    work_item next = take({-1, 0});
    if (next.strip >= 0) stage(next, 0);
    machine_.commit();
    for (int half = 0; next.strip >= 0; half = 1 - half) {
      work_item const current = next;
      next = take(current);
      // take passes a barrier, so no thread still reads the half that is overwritten.
      if (next.strip >= 0) stage(next, 1 - half);
      machine_.commit();
      machine_.template wait<1>();
      machine_.barrier();
      run(current, half);
    }
  }

  WANE_HOST_DEVICE index rows() const { return channelwise<Op> ? 1 : a_.plan.shape.rows; }

  template <class T>
  WANE_HOST_DEVICE T* shared(std::size_t at) const {
    return reinterpret_cast<T*>(machine_.shared() + at);
  }

  // One half of the staging memory, for the tensors of a tile. `copies`: starts the copies.
  WANE_HOST_DEVICE stage_tensors<M> staging(tile const& part, int half, std::size_t* used,
                                            bool copies) const {
    return {machine_,
            part,
            a_.plan.columns(),
            Config::threads * Config::tokens,
            shared<std::byte>(a_.layout.staged[half]),
            used,
            copies};
  }
  WANE_HOST_DEVICE Op staged_op(stage_tensors<M> const& staging) const {
    if constexpr (movable_tensors<Op>)
      return on_other_memory(a_.op, staging);
    else
      return a_.op;
  }

  WANE_HOST_DEVICE void count_tokens(tile const& part) {
    index const left = part.tokens - slice_ * Config::tokens;
    count_ = column_ >= part.columns || left <= 0 ? 0 : static_cast<int>(left);
    if (count_ > Config::tokens) count_ = Config::tokens;
  }
  WANE_HOST_DEVICE index column(tile const& part) const { return part.first_column + column_; }

  // Calls each(k, token, cursor) for the tokens of this thread, in an unrolled loop.
  template <class Each>
  WANE_HOST_DEVICE void for_tokens(Op const& op, tile const& part, Each const& each) const {
    // Leaving the loop saves operations, but takes registers, which these kernels have left.
    constexpr bool leaves = !Packed && sizeof(V) <= sizeof(float) && !constant_decays<Op>;
    if (count_ == 0) return;
    sequence_cursor<Packed> cursor(a_.sequences, part.batch,
                                   part.first_token + slice_ * Config::tokens);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < Config::tokens; ++k) {
      if (leaves && k >= count_) return;
      if (k < count_) {
        if (k > 0) cursor.next();
        each(k, op.at(cursor.at(part.batch, part.head)), cursor);
      }
    }
  }

  // Whether token k of this thread, at the cursor, is the first or the last of its sequence.
  template <class Cursor>
  WANE_HOST_DEVICE static bool begins(int k, Cursor const& at) {
    return (Packed || k == 0) && at.begins();
  }
  template <class Cursor>
  WANE_HOST_DEVICE bool ends(int k, Cursor const& at) const {
    return (Packed || k + 1 == count_) && at.ends();
  }

  // Whether the last token of this thread is that of a row, which is one sequence.
  WANE_HOST_DEVICE bool ends_row(tile const& part) const {
    return !Packed && count_ > 0 &&
           part.first_token + slice_ * Config::tokens + count_ == a_.plan.shape.time;
  }

  // The terms of row i for the tokens of this thread.
  WANE_HOST_DEVICE row_terms<Op, Packed> row_of_tokens(Op const& op, tile const& part,
                                                       index i) const {
    row_terms<Op, Packed> row(i, column(part));
    if constexpr (row_terms<Op, Packed>::fixed_decay)
      if (count_ > 0) {
        index const first = part.first_token + slice_ * Config::tokens;
        row.read(op.at(place<>{part.batch, a_.sequences.time_of(first), part.head, 1}));
      }
    return row;
  }

  // The effect of all tokens of this thread on row i.
  WANE_HOST_DEVICE E effect_of_tokens(Op const& op, tile const& part, index i,
                                      V const (&value)[Config::tokens]) const {
    auto const row = row_of_tokens(op, part, i);
    auto const walk = [&](auto const& token, auto const& reset) {
      for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
        auto const w = row.decay(x);
        V const b = row.write(x, value[k]);
        if (begins(k, at))
          reset(carried(w, Packed ? initial(at.sequence(), part.head, i, column(part)) : start(i),
                        b));
        else
          token(w, b);
      });
    };
    if constexpr (row_terms<Op, Packed>::fixed_decay && !std::is_same_v<V, double>) {
      effect_of_equal_decays<V, typename row_terms<Op, Packed>::decay_type> effect(row.decay());
      walk([&](auto const&, V b) { effect.token(b); }, [&](V b) { effect.reset(b); });
      return effect.effect();
    } else {
      E effect;
      walk([&](auto const& w, V b) { effect = then_token(effect, w, b); },
           [&](V b) { effect = reset_to(b); });
      return effect;
    }
  }

  WANE_HOST_DEVICE V initial(index sequence, index head, index i, index j) const {
    return a_.initial.data ? convert<V>(a_.initial(sequence, head, i, j)) : V(0);
  }
  // Initial and final states may share memory. The threads that begin a strip therefore keep its
  // initial state before a block can write the final state.
  WANE_HOST_DEVICE bool begins_strip(tile const& part) const {
    return !Packed && part.number == 0 && slice_ == 0 && count_ > 0;
  }
  WANE_HOST_DEVICE void read_start(tile const& part) const {
    for (index i = 0; begins_strip(part) && i < rows(); ++i)
      start(i) = initial(part.batch, part.head, i, column(part));
  }
  WANE_HOST_DEVICE V& start(index i) const {
    return shared<V>(a_.layout.start)[(i << a_.plan.columns_log2) + column_];
  }

  // The effects on row i of the tile's tokens before this thread, and through its last token.
  WANE_HOST_DEVICE auto join_tokens(Op const& op, tile const& part, index i,
                                    V const (&value)[Config::tokens]) {
    auto joined = join_(effect_of_tokens(op, part, i, value));
    if (begins_strip(part)) joined.before.drive = start(i);
    return joined;
  }
  // `before` of join_tokens, kept or computed again. Every thread of the block must call it.
  WANE_HOST_DEVICE E before_tokens(Op const& op, tile const& part, index i,
                                   V const (&value)[Config::tokens]) {
    return a_.layout.keeps_threads ? before_thread(i) : join_tokens(op, part, i, value).before;
  }

  // Calls each(sequence, row) for sequences without tokens, for this thread's column. The threads
  // of a column share the sequences.
  template <class Each>
  WANE_HOST_DEVICE void for_empty_sequences(tile const& part, Each const& each) const {
    if (column_ >= part.columns) return;
    index const first = Packed ? 0 : part.batch, last = Packed ? a_.sequences.count : first + 1;
    int const slices = Config::threads >> a_.plan.columns_log2;
    for (index n = first + slice_; n < last; n += slices)
      if (a_.sequences.length(n) == 0)
        for (index i = 0; i < rows(); ++i) each(n, i);
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

  // Finds the effect of all tokens before the tile. Threads of the last slice write it to
  // before_tile.
  WANE_HOST_DEVICE void look_back(index strip, index number) {
    if (a_.plan.in_order) {
      V* const carried_on = shared<V>(a_.layout.carried) + column_;
      for (index i = 0; last_slice_ && i < rows(); ++i) {
        V& state = carried_on[i << a_.plan.columns_log2];
        E before;
        if (number > 0) before.drive = state;
        machine_.write_shared(before_tile(i), before);
        state = state_after(*of_tile(i), before.drive);
      }
    } else {
      impl::look_back<Config, M, V> find(machine_, a_.plan, a_.work, join_, strip, number);
      find([&](index i) { return before_tile(i); }, [&](index i) { return of_tile(i); });
    }
  }

  M& machine_;
  Arguments const& a_;
  block_scan<M, E> join_;
  int column_, slice_;
  bool last_slice_;
  int count_ = 0;  // tokens of this thread in the tile
  int turn_ = 0;

 private:
  // The work item after `current`. Tiles are taken in the order of the walk, so a block waits only
  // for tiles that were taken earlier. Passes a barrier.
  WANE_HOST_DEVICE work_item take(work_item const& current) {
    scan_plan const& plan = a_.plan;
    bool const goes_on = plan.in_order && current.strip >= 0 && current.tile + 1 < plan.tiles;
    // With enough blocks for all items, no block takes a second item.
    bool const alone = current.strip >= 0 && plan.work_items() <= a_.blocks;
    // Calls alternate between two places: late threads may still read the other one.
    auto* const ticket = shared<std::uint64_t>(a_.layout.ticket) + (turn_ = 1 - turn_);
    if (machine_.thread() == 0 && !goes_on && !alone)
      machine_.write_shared(ticket, machine_.take(a_.work.tickets));
    machine_.barrier();
    if (goes_on) return {current.strip, current.tile + 1};
    if (alone) return {-1, 0};
    std::uint64_t const number = machine_.read_shared(ticket);
    if (number >= static_cast<std::uint64_t>(plan.work_items())) return {-1, 0};
    auto const taken = static_cast<index>(number);
    if (plan.in_order) return {taken, 0};
    return {taken % plan.strips, taken / plan.strips};
  }
};

}  // namespace wane::cuda::impl
