// step_update: one thread of the kernel that takes one token of many sequences.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"
#include "wane/cuda/call/positions.hpp"
#include "wane/cuda/call/run_arguments.hpp"
#include "wane/cuda/machine/kernel.hpp"
#include "wane/cuda/machine/lane_sums.hpp"

namespace wane::cuda::impl {

// MostRows: the most rows of a state. Each column of a block has `groups` threads. They share its
// rows and hold them in registers, so that loads of the whole state overlap.
template <int MostRows>
struct step_config {
  static constexpr int columns = 64, groups = 4, threads = columns * groups;
  static constexpr int most_rows = MostRows, rows = MostRows / groups;
  static constexpr int blocks = rows > 32 ? 1 : 2;  // for which a multiprocessor has registers
};

// Offsets of the parts of shared memory in bytes: terms of rows, numbers of columns, and numbers of
// columns and groups.
struct step_layout : room {
  std::size_t query, key, read, write, decay, value, erased, output, count;

  template <class Config, class Token>
  static step_layout of(index rows) {
    step_layout at;
    at.query = at.take(rows), at.key = at.take(rows);
    at.read = at.take(has_erase<Token> ? rows : 0),
    at.write = at.take(has_erase_write<Token> ? rows : 0);
    at.decay = at.take(rows, sizeof(split_decay<float>));
    at.value = at.take(Config::columns);
    at.erased = at.take(has_erase<Token> ? Config::threads : 0),
    at.output = at.take(Config::threads);
    at.count = at.take(1, sizeof(std::uint64_t));
    return at;
  }
};

template <class Op, class Out, class State>
struct step_arguments : run_arguments<Op, Out, State> {
  recurrence_shape shape;
  index pieces;  // of the columns of a head
  step_layout layout;
  std::uint64_t* finished;  // blocks that have ended; zero at first

  kernel_counters counters() const { return {finished, sizeof(*finished)}; }
  WANE_HOST_DEVICE index work_items() const { return this->states * shape.heads * pieces; }
};

// The equations are those of run/in_order/advance.hpp. A block takes some columns of a head of a
// sequence.
template <class Config, machine M, class Op, class Out, class State>
class step_update {
  using Token = token_of<Op>;
  using decay = decltype(decay_of(std::declval<Token>(), index{}, index{}));

 public:
  WANE_HOST_DEVICE step_update(M& machine, step_arguments<Op, Out, State> const& a, index block)
      : machine_(machine),
        a_(a),
        group_(machine.thread() / Config::columns),
        column_(machine.thread() % Config::columns),
        j_(block % a.pieces * Config::columns + column_),
        head_(block / a.pieces % a.shape.heads),
        sequence_(block / a.pieces / a.shape.heads) {}

  WANE_HOST_DEVICE void operator()() {
    bool const there = j_ < a_.shape.columns;
    float state[Config::rows] = {};
    for_rows_of(a_.initial,
                [&](auto r, auto& x) WANE_INLINE_LAMBDA { state[r] = static_cast<float>(x); });
    place<> const where = sequence_tokens(a_.sequences, sequence_).at(0, head_);
    float y = 0;
    if (group_ == 0) y = bring(where, there);
    machine_.barrier();
    float value = get<float>(a_.layout.value, column_), erased = 0;
    if constexpr (has_erase<Token>) {
      for_rows([&](auto r, int i) WANE_INLINE_LAMBDA {
        float const read = get<float>(a_.layout.read, i);
        if (read != 0.f) erased = multiply_add(read, state[r], erased);
      });
      erased = sum_of_groups(erased, a_.layout.erased);
      if constexpr (is_delta_rule<Token>) value -= erased;
    }
    float sum = 0;
    for_rows([&](auto r, int i) WANE_INLINE_LAMBDA {
      float written = get<float>(a_.layout.key, i) * value;
      if constexpr (has_erase_write<Token>)
        written = multiply_add(get<float>(a_.layout.write, i), erased, written);
      auto const w = get<decay>(a_.layout.decay, fading_of_rows ? i : 0);
      float const before = state[r];
      state[r] = carried(w, before, written);
      sum =
          multiply_add(get<float>(a_.layout.query, i), read_from<Token>(w, before, state[r]), sum);
    });
    for_rows_of(a_.final,
                [&](auto r, auto& x) WANE_INLINE_LAMBDA { x = static_cast<State>(state[r]); });
    sum = sum_of_groups(sum, a_.layout.output);
    if (group_ == 0 && there) a_.output.write(where, j_, y + sum);
    write_positions(machine_, a_, a_.finished, shared<std::uint64_t>(a_.layout.count));
  }

 private:
  static constexpr bool fading_of_rows = has_row_log_decay<Token> || has_row_plain_decay<Token>;

  template <class T>
  WANE_HOST_DEVICE T* shared(std::size_t at) const {
    return reinterpret_cast<T*>(machine_.shared() + at);
  }
  template <class T>
  WANE_HOST_DEVICE T get(std::size_t array, index i) const {
    return machine_.read_shared(shared<T const>(array) + i);
  }
  template <class T>
  WANE_HOST_DEVICE void put(std::size_t array, index i, T x) const {
    machine_.write_shared(shared<T>(array) + i, x);
  }
  // body(r, row i of the state) for the rows of this thread.
  template <class Body>
  WANE_INLINE void for_rows(Body const& body) const {
    int const rows = static_cast<int>(a_.shape.rows);
    unroll<Config::rows>([&](auto r) WANE_INLINE_LAMBDA {
      if (int const i = r * Config::groups + group_; i < rows) body(r, i);
    });
  }
  // Calls body(r, number) for the numbers of a state in this thread's rows, if there is a state.
  // (One address steps from row to row: one address for each row would take more registers than the
  // state.)
  template <class X, class Body>
  WANE_INLINE void for_rows_of(view<X, 4> const& all, Body const& body) const {
    if (!all.data || j_ >= a_.shape.columns || group_ >= a_.shape.rows) return;
    X* at = &all(sequence_, head_, group_, j_);
    index const next = Config::groups * all.stride[2];
    for_rows([&](auto r, int) WANE_INLINE_LAMBDA { body(r, *at), at += next; });
  }

  // The threads of one group store the terms of all rows and the values of their columns. Returns
  // direct times value.
  WANE_HOST_DEVICE float bring(place<> where, bool there) const {
    // Whole warps run this, and each of them finds the token's sums.
    auto const x = token_at(a_.op, where, lane_sums<M, warp_size, Config::most_rows>{machine_});
    for (index i = column_; i < a_.shape.rows; i += Config::columns) {
      put<float>(a_.layout.query, i, x.query(i)), put<float>(a_.layout.key, i, x.key(i));
      if constexpr (has_erase<Token>) put<float>(a_.layout.read, i, x.erase_read(i));
      if constexpr (has_erase_write<Token>) put<float>(a_.layout.write, i, x.erase_write(i));
      if (fading_of_rows || i == 0) put<decay>(a_.layout.decay, i, decay_of(x, i, index{}));
    }
    float const value = there ? x.value(j_) : 0.f;
    put<float>(a_.layout.value, column_, value);
    if constexpr (has_direct<Token>)
      return x.direct() * value;
    else
      return 0.f;
  }
  // The sum over the groups of a column, in their order. Passes a barrier.
  WANE_HOST_DEVICE float sum_of_groups(float x, std::size_t exchange) const {
    put<float>(exchange, machine_.thread(), x);
    machine_.barrier();
    float sum = 0;
    for (int g = 0; g < Config::groups; ++g)
      sum += get<float>(exchange, g * Config::columns + column_);
    return sum;
  }

  M& machine_;
  step_arguments<Op, Out, State> const& a_;
  int const group_, column_;
  index const j_, head_, sequence_;
};

}  // namespace wane::cuda::impl
