// run for penalised memories: write directions of a block of tokens, then S over that block.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/run/in_order/run.hpp"
#include "wane/run/panels/run.hpp"
#include "wane/run/penalty/step.hpp"
#include "wane/run/penalty/tokens.hpp"

namespace wane::impl {

// Tokens whose write directions are held at a time; tokens of a walk that a chunk would not pay
// for.
inline constexpr index directions_at_once = 256, tokens_in_order = 2;

// Runs the walk of one sequence and head from the state before it to the state after it.
template <penalised_memory Op, class Out>
class penalised_runner {
 public:
  using T = typename Op::accumulate;
  using memory = decltype(std::declval<Op const&>().memory({}, index{}));

  penalised_runner(Op const& op, sequence_view<Out> const& output)
      : op_(op),
        output_(output),
        rows_(recurrence_shape(op.shape()).rows),
        columns_(op.output_columns()),
        penalty_(op),
        directions_(static_cast<std::size_t>(directions_at_once * rows_)),
        held_(static_cast<std::size_t>(rows_ * columns_)) {}

  template <class Access>
  void operator()(walk const& w, Access const& state) {
    penalty_.load(w.head, [&](index i, index j) { return state.load(i, columns_ + j); });
    state.load_rows(rows_, 0, columns_, held_.data(), columns_);

    for (index k = 0; k < w.count; k += directions_at_once) take(w.part(k, directions_at_once));

    state.save_rows(rows_, 0, columns_, held_.data(), columns_);
    for (index i = 0; i < rows_; ++i) {
      state.save_each(i, columns_, columns_ + rows_,
                      [&](index j) { return penalty_.factor()(i, j); });
      if constexpr (fading_penalty<Op>)
        state.save(i, columns_ + rows_, i == 0 ? penalty_.log_left() : T(0));
    }
  }

 private:
  void take(walk const& w) {
    index const origin = std::min(w.first, w.token(w.count - 1).time);
    T* const directions = directions_.data();
    penalty_.write_directions(
        w, [&](index k) { return directions + (w.token(k).time - origin) * rows_; },
        [](index, T) {});
    memory const s = op_.memory({directions, {1, w.count, 1, rows_}, {0, rows_, 0, 1}}, origin);
    state_view<T> const held{{held_.data(), {1, 1, rows_, columns_}, {0, 0, columns_, 1}}};
    panel_runner<memory, Out, T>(s, output_, 0, columns_, 1)(w, 1,
                                                             {held, held, w.sequence, w.head});
  }

  Op const& op_;
  sequence_view<Out> const output_;
  index const rows_, columns_;
  penalty_runner<Op> penalty_;
  std::vector<T> directions_, held_;
};

template <penalised_memory Op, class Out, class State>
void run_penalised(Op const& op, sequence_view<Out> const& output,
                   run_options<State> const& options) {
  for_each_piece(op, options, recurrence_shape(op.shape()).columns, threads_to_use(options.threads),
                 [&](walk const& w, index first, index last, auto const& state) {
                   if (w.count > tokens_in_order)
                     penalised_runner<Op, Out>(op, output)(w, state);
                   else
                     walk_in_order(op, w, output, first, last, state);
                 });
}

}  // namespace wane::impl
