// run for banks of poles, in chunks of tokens and groups of columns.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/poles/columns.hpp"
#include "wane/run/poles/state.hpp"
#include "wane/run/poles/step.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// Columns of a group in the coefficients of nodes and in two-sided runs.
inline constexpr index pole_columns = 64;
// Columns of a group in one-sided runs: their sums fit the second-level cache.
template <pole_bank Op>
index columns_of_piece(Op const& op) {
  index const sums = op.poles() * (leaving_inputs<Op> ? 4 : 2);
  index const bytes = sums * index{sizeof(real_type<accumulate_type<Op>>)};
  index const most = std::max<index>(1, (index{384} << 10) / bytes / 64) * 64;
  return std::min(recurrence_shape(op.shape()).columns, most);
}

// Runs columns [first, last) of a sequence and head.
template <pole_bank Op, class Out>
class pole_runner {
 public:
  using T = real_type<accumulate_type<Op>>;

  pole_runner(Op const& op, sequence_view<Out> const& output, index sequence, index head,
              index first, index last)
      : op_(op),
        output_(output),
        columns_{first, last},
        state_(op, head, first, last - first),
        reach_(op.reach(head)),
        many_(op, sequence, head, first, last - first),
        one_(op, sequence, head, first, last - first),
        in_(pole_tokens * state_.stride()),
        out_(pole_tokens * state_.stride()),
        in_lanes_((layout_of(op.values()) & layout_of(output)).columns) {}

  template <class Access>
  void operator()(walk const& w, Access const& access) const {
    load(access);
    advance(w);
    save(access);
  }
  // The parts of a call: between load and save, advance takes walks that follow each other.
  template <class Access>
  void load(Access const& access) const {
    state_.load(access);
  }
  template <class Access>
  void save(Access const& access) const {
    state_.save(access);
  }
  void advance(walk const& w) const {
    pole_corrections corrections;
    for (index k = 0; k < w.count;) {
      index room = w.count - k, slot = 0;
      if constexpr (pole_state<Op>::leave) {
        slot = (w.position - 1 + k) % reach_;
        if (slot == 0) state_.restart();
        room = std::min(room, reach_ - slot);
      }
      index const due = corrections.due(room);
      k += room >= pole_tokens ? take(many_, w, k, slot, due) : take(one_, w, k, slot, due);
    }
  }

 private:
  template <int N>
  index take(pole_chunk<Op, N> const& chunk, walk const& w, index k, index slot, index due) const {
    index const stride = state_.stride();
    for (int t = 0; t < N; ++t)
      read_columns(columns_, op_.values(), w.token(k + t), in_lanes_, in_.data() + t * stride);
    T* const left = state_.ring(slot);
    for (index j = 0; j < columns_.padded(); j += pole_chunk<Op, N>::width)
      chunk.answer(in_.data() + j, left + j, out_.data() + j, state_.sums() + j, stride, j, due);
    if constexpr (pole_state<Op>::leave) std::copy_n(in_.data(), N * stride, left);
    for (int t = 0; t < N; ++t)
      write_columns(columns_, output_, w.token(k + t), in_lanes_, out_.data() + t * stride);
    return N;
  }

  Op const op_;
  sequence_view<Out> const output_;
  panel_columns<T, 1> const columns_;
  pole_state<Op> const state_;
  index const reach_;
  pole_chunk<Op, pole_tokens> const many_;
  pole_chunk<Op, 1> const one_;
  aligned_numbers<T> const in_, out_;
  bool const in_lanes_;
};

template <pole_bank Op, class Out, class State>
void run_poles(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  check_state_holds_inputs<Op, State>();
  recurrence_shape const shape = op.shape();
  int const threads = threads_to_use(options.threads);
  index const walks = walks_of(shape, options);
  index const piece = std::min(
      columns_of_piece(op), columns_per_task(box_of(shape, options).columns, walks, threads, 64));
  for_each_piece(op, options, piece, threads,
                 [&](walk const& w, index first, index last, auto const& state) {
                   pole_runner<Op, Out>(op, output, w.sequence, w.head, first, last)(w, state);
                 });
}

// Takes the tokens of one walk. The state has the type of the sums, so that it is updated in place.
template <pole_bank Op, class Out>
void step_poles(Op const& op, walk const& w, sequence_view<Out> const& output,
                view<accumulate_type<Op>, 2> const& state) {
  if constexpr (steps_in_vectors<Op> && !is_complex<Out>)
    if (pole_stepper<Op, Out>::takes(op, state)) {
      pole_stepper<Op, Out> step(op, output, state);
      for (index k = 0; k < w.count; ++k) step(w.token(k));
      return;
    }
  for (index k = 0; k < w.count; ++k) {
    auto const at = w.token(k);
    advance_poles(op, at, state, [&](index j, accumulate_type<Op> y) { output.write(at, j, y); });
  }
}

}  // namespace wane::impl
