// The adjoint of banks of poles: the chunks of the run in reverse, and sums for the poles.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/run/poles/gradients.hpp"
#include "wane/run/poles/run.hpp"

namespace wane::impl {

// Takes some columns of a walk from its last token to its first.
template <pole_bank Op, class Out, class Gradients>
class pole_adjoint {
 public:
  using T = real_type<accumulate_type<Op>>;
  static constexpr bool leave = leaving_inputs<Op>;

  pole_adjoint(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
               index sequence, index head, index first, index last)
      : op_(op),
        dy_(dy),
        gradients_(gradients),
        columns_{first, last},
        cotangent_(op, head, first, last - first),
        reach_(op.reach(head)),
        many_(op, sequence, head, first, last - first),
        one_(op, sequence, head, first, last - first),
        in_(pole_tokens * cotangent_.stride()),
        out_(pole_tokens * cotangent_.stride()),
        in_lanes_(impl::in_lanes(dy)),
        gives_lanes_(impl::in_lanes(gradients.value)) {}

  template <class State>
  void operator()(walk const& w, adjoint_options<State> const& options) const {
    state_access<accumulate_type<Op>, State> const access{
        options.final_gradient, options.initial_gradient, w.sequence, w.head};
    cotangent_.load(access, true);
    pole_corrections corrections;
    for (index k = w.count; k > 0;) {
      index room = k, slot = 0;
      if constexpr (leave) {
        slot = (w.position - 2 + k) % reach_;  // of token k - 1, the next to take
        room = std::min(room, slot + 1);
      }
      index const due = corrections.due(room);
      k -= room >= pole_tokens ? take(many_, w, k - pole_tokens, slot + 1 - pole_tokens, due)
                               : take(one_, w, k - 1, slot, due);
      if constexpr (leave)
        if ((w.position - 1 + k) % reach_ == 0) cotangent_.restart_back();
    }
    cotangent_.save(access, true);
  }

 private:
  template <int N>
  index take(pole_chunk<Op, N> const& chunk, walk const& w, index k, index slot, index due) const {
    index const stride = cotangent_.stride();
    for (int t = 0; t < N; ++t)
      read_columns(columns_, dy_, w.token(k + t), in_lanes_, in_.data() + t * stride);
    T* const left = cotangent_.ring(leave ? slot : 0);
    for (index j = 0; j < columns_.padded(); j += pole_chunk<Op, N>::width)
      chunk.answer_back(in_.data() + j, left + j, out_.data() + j, cotangent_.sums() + j, stride, j,
                        due);
    for (int t = 0; t < N; ++t)
      write_columns(columns_, gradients_.value, w.token(k + t), gives_lanes_,
                    out_.data() + t * stride);
    return N;
  }

  Op const op_;
  sequence_view<Out const> const dy_;
  Gradients const& gradients_;
  panel_columns<T, 1> const columns_;
  pole_state<Op> const cotangent_;
  index const reach_;
  pole_chunk<Op, pole_tokens> const many_;
  pole_chunk<Op, 1> const one_;
  aligned_numbers<T> const in_, out_;
  bool const in_lanes_, gives_lanes_;
};

// `gradients.value` receives the gradient of the inputs of the bank. Gradients of poles
// (poles/gradients.hpp) are computed if wants_poles() is true. No state is kept: time is O(T P V),
// memory is one state; where weights differ by sequence, as much as all states.
template <pole_bank Op, class Out, class Gradients, class State>
void adjoint_poles(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                   adjoint_options<State> const& options) {
  check_state_holds_inputs<Op, State>();
  recurrence_shape const shape = op.shape();
  index const sets = weight_sets(op, sequences_of(shape, options.packed));
  index const piece = std::min<index>(columns_of_piece(op), 128), poles = op.poles();
  index const pieces = (shape.columns + piece - 1) / piece;
  bool const of_poles = gradients.wants_poles();
  auto const size = [](index n) { return static_cast<std::size_t>(n); };
  std::vector<std::complex<double>> log_pole(size(of_poles ? shape.heads * pieces * poles : 0)),
      weight(size(of_poles ? shape.heads * sets * poles * shape.columns : 0));
  auto const weight_of = [&](index head, index n) {
    return weight.data() + (head * sets + n) * poles * shape.columns;
  };
  for_each_task(shape.heads * pieces, threads_to_use(options.threads), [&](index task) {
    index const head = task / pieces, first = task % pieces * piece;
    index const last = std::min(first + piece, shape.columns);
    for_weight_sets(op, head, options, [&](index n, auto const& for_walks) {
      if (of_poles) {  // before of_values, which may overwrite final_gradient
        pole_sensitivity<Op, Out> const of_head(op, dy, n, head, first, last);
        for_walks([&](walk const& w) { of_head(w, options); });
        of_head.give(log_pole.data() + task * poles, weight_of(head, n), shape.columns);
      }
      pole_adjoint<Op, Out, Gradients> const of_values(op, dy, gradients, n, head, first, last);
      for_walks([&](walk const& w) { of_values(w, options); });
    });
  });
  if (!of_poles) return;
  for (index head = 0; head < shape.heads; ++head) {
    std::complex<double>* const sum = log_pole.data() + head * pieces * poles;
    for (index p = 1; p < pieces; ++p)
      for (index i = 0; i < poles; ++i) sum[i] += sum[p * poles + i];
    gradients.poles(op, head, pole_gradients{sets, shape.columns, sum, weight_of(head, 0)});
  }
}

}  // namespace wane::impl
