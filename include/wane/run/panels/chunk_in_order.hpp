// chunk_in_order: a micro-chunk token by token, forward and back, for a reset that meets NaN.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/in_order/column_adjoint.hpp"

namespace wane::impl {

// States and cotangents of `shape.rows` rows, `row_stride` apart.
template <affine_recurrence Op, class Out, class Gradients>
class chunk_in_order {
 public:
  using T = accumulate_type<Op>;
  using Column = column_adjoint<Op, T, index, Out, Gradients>;

  chunk_in_order(Op const& op, sequence_view<Out const> const& output_gradient,
                 Gradients const& gradients, index row_stride)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        shape_(op.shape()),
        row_stride_(row_stride) {}

  // Computes the state after the tokens of w in the columns [first, last). Padding columns become
  // zero.
  void replay(walk const& w, index first, index last, T const* before, T* after) const {
    std::vector<T> state(size(shape_.rows));
    for (index j = first; j < last; ++j) {
      if (j >= shape_.columns) {
        for (index i = 0; i < shape_.rows; ++i) after[i * row_stride_ + j] = T(0);
        continue;
      }
      load(before + j, state.data());
      for (index k = 0; k < w.count; ++k)
        column(j).forward(op_.at(w.token(k)), state.data(), state.data());
      for (index i = 0; i < shape_.rows; ++i) after[i * row_stride_ + j] = state[size(i)];
    }
  }

  // Takes the cotangent back through the tokens. Gradients of columns go to the sink, gradients of
  // rows are added to sums[token]. Padding columns become zero.
  void take(walk const& w, T const* before, T* cotangent,
            std::vector<head_gradients<T>>& sums) const {
    index const rows = shape_.rows;
    std::vector<T> states(size((w.count + 1) * rows)), back(size(rows)), pending(size(rows));
    std::vector<typename Column::decay_type> later(size(rows));
    for (index j = 0; j < shape_.columns; ++j) {
      load(before + j, states.data()), load(cotangent + j, back.data());
      std::fill(pending.begin(), pending.end(), T(0));
      for (auto& decay : later) never_fade(decay);
      for (index k = 0; k < w.count; ++k) {
        T* const after = states.data() + (k + 1) * rows;
        column(j).forward(op_.at(w.token(k)), after - rows, after);
      }
      for (index k = w.count - 1; k >= 0; --k) {
        T* const after = states.data() + (k + 1) * rows;
        column(j).backward(w.token(k), after - rows, after, back.data(), pending.data(),
                           later.data(), sums[size(k)]);
      }
      for (index i = 0; i < rows; ++i)
        cotangent[i * row_stride_ + j] =
            column(j).initial_gradient(i, back.data(), pending.data(), later.data());
    }
    for (index i = 0; i < rows; ++i)
      std::fill(cotangent + i * row_stride_ + shape_.columns, cotangent + (i + 1) * row_stride_,
                T(0));
  }

 private:
  static std::size_t size(index i) { return static_cast<std::size_t>(i); }
  Column column(index j) const {
    return Column(op_, output_gradient_, gradients_, j, shape_.rows, nullptr, nullptr, nullptr);
  }
  void load(T const* from, T* to) const {
    for (index i = 0; i < shape_.rows; ++i) to[i] = from[i * row_stride_];
  }

  Op const& op_;
  sequence_view<Out const> const& output_gradient_;
  Gradients const& gradients_;
  recurrence_shape shape_;
  index row_stride_;
};

}  // namespace wane::impl
