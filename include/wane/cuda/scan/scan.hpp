// scan: the single-pass scan along time, as every thread of a block carries it out.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/positions.hpp"
#include "wane/cuda/call/run_arguments.hpp"
#include "wane/cuda/scan/tile_worker.hpp"

namespace wane::cuda::impl {

// Arguments of the scan kernel.
template <class Op, class Out, class State>
struct scan_arguments : run_arguments<Op, Out, State> {
  using V = accumulate_type<Op>;
  V* kept;  // receives the states before every tile, or null
  scan_plan plan;
  shared_layout layout;
  scan_workspace<V> work;

  index work_items() const { return plan.work_items(); }
  kernel_counters counters() const { return work.counters(); }
};

// Each thread holds a few consecutive tokens of one column. A tile is copied once to shared memory,
// while the block works on the tile before. The effects of its threads are joined, and the state
// before the tile comes from earlier tiles. Then every thread walks its tokens again, from the
// state before them, and writes their output. The first token of a sequence is a reset to the state
// after it, so the effect of all tokens before a tile is a state.
template <class Config, bool Packed, machine M, class Op, class Out, class State>
class scan : tile_worker<Config, Packed, M, scan_arguments<Op, Out, State>> {
  using base = tile_worker<Config, Packed, M, scan_arguments<Op, Out, State>>;
  using base::a_, base::count_, base::column_, base::machine_, base::slice_;
  using typename base::Token, typename base::V;

 public:
  WANE_HOST_DEVICE scan(M& machine, scan_arguments<Op, Out, State> const& a) : base(machine, a) {}

  WANE_HOST_DEVICE void operator()() {
    this->for_work([&](auto const& next, int half) { (void)staged(tile_of(next), half, true); },
                   [&](auto const& work, int half) { run_tile(tile_of(work), half); });
    write_positions(machine_, a_, a_.work.finished,
                    this->template shared<std::uint64_t>(a_.layout.ticket) + 1 - this->turn_);
  }

 private:
  template <class Work>
  WANE_HOST_DEVICE tile tile_of(Work const& work) const {
    return tile_at(a_.plan, work.strip, work.tile, a_.sequences.stride);
  }
  // The operator that reads the copies of a tile. `copies`: starts the copies.
  WANE_HOST_DEVICE Op staged(tile const& part, int half, bool copies) const {
    std::size_t used = 0;
    return this->staged_op(this->staging(part, half, &used, copies));
  }

  WANE_HOST_DEVICE void run_tile(tile const& part, int half) {
    Op const op = staged(part, half, false);
    this->count_tokens(part);
    this->read_start(part);
    V value[Config::tokens] = {}, y[Config::tokens] = {};
    this->for_tokens(op, part, [&](int k, auto const& x, auto const&) {
      value[k] = convert<V>(x.value(this->column(part)));
    });
    for (index i = 0; i < this->rows(); ++i) {
      auto const joined = this->join_tokens(op, part, i, value);
      if (a_.layout.keeps_threads) this->before_thread(i) = joined.before;
      if (this->last_slice_) *this->of_tile(i) = joined.through;
    }
    this->look_back(part.strip, part.number);
    machine_.barrier();
    if (a_.kept && slice_ == 0 && column_ < part.columns)
      for (index i = 0; i < this->rows(); ++i)
        a_.kept[a_.plan.place_of_state(part.strip, part.number, i) + column_] =
            machine_.read_shared(this->before_tile(i)).drive;
    if constexpr (has_direct<Token>)
      this->for_tokens(op, part, [&](int k, auto const& x, auto const&) {
        y[k] = multiply(convert<V>(x.direct()), value[k]);
      });
    if constexpr (has_skip<Token>)
      this->for_tokens(op, part, [&](int k, auto const& x, auto const&) {
        y[k] = add(y[k], convert<V>(x.skip(this->column(part))));
      });
    for (index i = 0; i < this->rows(); ++i) {
      auto const row = this->row_of_tokens(op, part, i);
      V s = state_after(this->before_tokens(op, part, i, value),
                        machine_.read_shared(this->before_tile(i)).drive);
      this->for_tokens(op, part, [&](int k, auto const& x, auto const& at) {
        if constexpr (Packed)
          if (at.begins()) s = this->initial(at.sequence(), part.head, i, this->column(part));
        auto const w = row.decay(x);
        V const after = carried(w, s, row.write(x, value[k]));
        V const read = read_from<Token>(w, s, after);
        if constexpr (has_query<Token> || has_element_query<Token>)
          y[k] = multiply_add(row.query(x), read, y[k]);
        else
          y[k] = add(y[k], read);
        s = after;
        if constexpr (Packed)
          if (at.ends()) save_final(at.sequence(), part, i, s);
      });
      if (this->ends_row(part)) save_final(part.batch, part, i, s);
    }
    if (part.number == 0) pass_empty_sequences(part);
    write_output(part, y);
  }

  WANE_HOST_DEVICE void save_final(index sequence, tile const& part, index i, V state) const {
    if (a_.final.data) a_.final(sequence, part.head, i, this->column(part)) = convert<State>(state);
  }
  // Sequences without tokens end as they begin.
  WANE_HOST_DEVICE void pass_empty_sequences(tile const& part) const {
    this->for_empty_sequences(part, [&](index n, index i) {
      save_final(n, part, i, this->initial(n, part.head, i, this->column(part)));
    });
  }

  WANE_HOST_DEVICE void write_output(tile const& part, V const (&y)[Config::tokens]) const {
    if (!a_.output.data) return;
    Out* const staged = this->template shared<Out>(a_.layout.output);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < Config::tokens; ++k) {
      int const walked = slice_ * Config::tokens + k;
      int const token = a_.sequences.stride > 0 ? walked : part.tokens - 1 - walked;
      if (k < count_)
        machine_.write_shared(staged + (token << a_.plan.columns_log2) + column_,
                              static_cast<Out>(convert<widened<Out>>(y[k])));
    }
    machine_.barrier();
    tile_cut(a_.output, part, a_.plan.columns())
        .for_units(a_.output, part, a_.plan.columns(), machine_.thread(), M::threads,
                   [&](std::byte* to, int offset, int unit) {
                     machine_.copy_out(to, reinterpret_cast<std::byte*>(staged) + offset, unit);
                   });
  }
};

}  // namespace wane::cuda::impl
