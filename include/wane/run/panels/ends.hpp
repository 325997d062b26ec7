// adjoint_ends: loads output gradients and states, and hands gradients to the sink.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/chunk/micro_chunk.hpp"
#include "wane/run/shared/gradients.hpp"
#include "wane/run/shared/panel_columns.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// Lanes: whether the operator gives its columns in lanes and the sink takes them. in_lanes: whether
// columns are neighbours in the tensors of this call.
template <affine_recurrence Op, class Out, class Gradients, bool Lanes>
class adjoint_ends {
 public:
  using T = accumulate_type<Op>;
  using Token = token_of<Op>;
  using Sink = sink_of<Gradients, Op>;
  using vector = simd<T, simd_width<T>>;
  static constexpr int width = vector::width;

  adjoint_ends(Op const& op, sequence_view<Out const> const& output_gradient,
               Gradients const& gradients, bool in_lanes)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        rows_(recurrence_shape(op.shape()).rows),
        columns_{0, recurrence_shape(op.shape()).columns},
        in_lanes_(in_lanes) {}

  bool in_lanes() const { return in_lanes_; }

  Op const& op() const { return op_; }
  sequence_view<Out const> const& output_gradient() const { return output_gradient_; }

  // Output gradients of the tokens of a micro-chunk, [tokens][padded columns].
  void load_output_gradients(walk const& w, T* to) const {
    for (index t = 0; t < micro_tokens; ++t)
      columns_.template load<Lanes>(
          in_lanes_, to + t * columns_.padded(), t < w.count,
          [&](auto j) { return convert<T>(output_gradient_.read(w.token(t), j)); });
  }

  // The gradient of direct(): the sum over columns of dy times value.
  T of_direct(place<> at, T const* dy) const {
    T total(0);
    if constexpr (has_direct<Token>) {
      auto const x = op_.at(at);
      for (index j = 0; j < columns_.last; ++j) total += dy[j] * T(x.value(j));
    }
    return total;
  }

  // Gives the gradients of a micro-chunk to the sink. values and dy are [tokens][padded columns].
  // rows is [tokens][5][stride], for each token the g of give_rows.
  void give(walk const& w, T const* values, T const* dy, T* rows, index stride) const {
    for (index t = 0; t < w.count; ++t, values += columns_.padded(), dy += columns_.padded()) {
      give_columns(w.token(t), values);
      give_rows(w.token(t), rows + t * 5 * stride, stride, of_direct(w.token(t), dy));
    }
  }

  void give_columns(place<> at, T const* value) const {
    Sink const sink = sink_at(gradients_, op_, at);
    index j = 0, last = columns_.last;
    if constexpr (Lanes && takes_columns<Sink, lanes<width>, vector>)
      if (in_lanes_) {
        for (; j + width <= last; j += width) sink.column(lanes<width>{j}, vector::load(value + j));
        if (j < last)
          sink.column(partial_lanes<width>{j, static_cast<int>(last - j)}, vector::load(value + j));
        return;
      }
    if constexpr (takes_columns<Sink, index, T>) {
      for (; j < last; ++j) sink.column(j, value[j]);
    }
  }

  // g: decay, key, query, erase_read and erase_write of every row, `stride` apart.
  void give_rows(place<> at, T* g, index stride, T direct) const {
    token_gradient<T> whole{T(0), direct};
    if constexpr (constant_decays<Op>) std::fill_n(g, rows_, T(0));
    if constexpr (!has_key<Token>) std::fill_n(g + stride, rows_, T(0));
    if constexpr (!has_query<Token>) std::fill_n(g + 2 * stride, rows_, T(0));
    for (index i = 0; i < rows_; ++i) whole.decay += g[i];
    impl::give_rows(sink_at(gradients_, op_, at), rows_, stride, in_lanes_, g, whole);
  }

  // Loads the state of one head, its rows `row_stride` apart; zeros where the state is absent.
  template <class State>
  [[gnu::noinline]] void load_state(state_view<State> const& from, walk const& w, index row_stride,
                                    T* state) const {
    std::fill_n(state, rows_ * row_stride, T(0));
    if (!from.present()) return;
    state_access<T, std::remove_const_t<State>> const access{from, {}, w.sequence, w.head};
    access.load_rows(rows_, 0, columns_.last, state, row_stride);
  }
  template <class State>
  [[gnu::noinline]] void save_state(state_view<State> const& to, walk const& w, index row_stride,
                                    T const* state) const {
    state_access<T, State> const access{{}, to, w.sequence, w.head};
    access.save_rows(rows_, 0, columns_.last, state, row_stride);
  }

 private:
  // Copies that no store can change: their strides stay in registers.
  Op const op_;
  sequence_view<Out const> const output_gradient_;
  Gradients const gradients_;
  index rows_;
  panel_columns<T, 1> columns_;
  bool in_lanes_;
};

}  // namespace wane::impl
