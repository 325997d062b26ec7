// pole_state: the state of some columns of a bank of poles, as real rows and a ring of inputs.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/poles/chunk.hpp"

namespace wane::impl {

template <pole_bank Op, class State>
consteval void check_state_holds_inputs() {
  static_assert(!leaving_inputs<Op> || std::is_same_v<State, accumulate_type<Op>>,
                "wane: the state of a window that ends holds inputs in the bits of its numbers; it "
                "is of the type the operator computes in");
}

// The state of `count` columns from `first` on. The ring holds the last inputs, or their
// cotangents, as numbers of type T.
template <pole_bank Op>
class pole_state {
 public:
  using V = accumulate_type<Op>;
  using T = real_type<V>;
  using Ring = input_ring<input_of<Op>, V>;
  static constexpr bool leave = leaving_inputs<Op>;

  pole_state(Op const& op, index head, index first, index count)
      : first_(first),
        count_(count),
        poles_(op.poles()),
        reach_(op.reach(head)),
        ring_rows_(recurrence_shape(op.shape()).rows - rows()),
        stride_(row_stride_of<T>(count)),
        sums_((leave ? 4 : 2) * poles_ * stride_),
        ring_(reach_ * stride_) {}

  index stride() const { return stride_; }
  // Rows 2 i and 2 i + 1 are the real and imaginary part of the sum of pole i. Where inputs leave,
  // the second sums lie behind them in the same order: no input has left these yet.
  T* sums() const { return sums_.data(); }
  T* ring(index slot) const { return ring_.data() + slot * stride_; }

  // The second sums replace the first and restart from zero. So the rounding of inputs that have
  // left does not stay in a sum.
  void restart() const {
    T* const next = sums() + 2 * poles_ * stride_;
    std::copy_n(next, 2 * poles_ * stride_, sums());
    std::fill_n(next, 2 * poles_ * stride_, T(0));
  }
  // The transpose of restart.
  void restart_back() const {
    T* const next = sums() + 2 * poles_ * stride_;
    std::copy_n(sums(), 2 * poles_ * stride_, next);
    std::fill_n(sums(), 2 * poles_ * stride_, T(0));
  }

  // conjugated: the state is a cotangent, which runners hold conjugated. Ring numbers beyond the
  // reach of this head, where others reach farther, keep their values.
  template <class Access>
  void load(Access const& state, bool conjugated = false) const {
    std::fill_n(sums(), (leave ? 4 : 2) * poles_ * stride_, T(0));
    if constexpr (leave) std::fill_n(ring_.data(), reach_ * stride_, T(0));
    if constexpr (requires { state.before; })
      if (!state.before.present()) return;
    for (index i = 0; i < rows(); ++i)
      for (index j = 0; j < count_; ++j) {
        V const z = state.load(i, first_ + j);
        sums()[2 * i * stride_ + j] = z.real();
        sums()[(2 * i + 1) * stride_ + j] = conjugated ? -z.imag() : z.imag();
      }
    for (index slot = 0; slot < reach_; slot += Ring::per_row)
      for (index j = 0; j < count_; ++j) {
        V const number = state.load(rows() + slot / Ring::per_row, first_ + j);
        for (index s = slot; s < std::min(slot + Ring::per_row, reach_); ++s)
          ring(s)[j] = static_cast<T>(static_cast<widened<input_of<Op>>>(Ring::read(number, s)));
      }
  }
  template <class Access>
  void save(Access const& state, bool conjugated = false) const {
    if constexpr (requires { state.after; })
      if (!state.after.present()) return;
    for (index i = 0; i < rows(); ++i)
      state.save_each(i, first_, first_ + count_, [&](index j) {
        T const im = sums()[(2 * i + 1) * stride_ + j];
        return V(sums()[2 * i * stride_ + j], conjugated ? -im : im);
      });
    for (index slot = 0; slot < ring_rows_ * Ring::per_row; slot += Ring::per_row)
      for (index j = 0; j < count_; ++j) {
        V number = state.load(rows() + slot / Ring::per_row, first_ + j);
        for (index s = slot; s < std::min(slot + Ring::per_row, reach_); ++s)
          Ring::write(number, s, input_of<Op>(static_cast<widened<input_of<Op>>>(ring(s)[j])));
        state.save(rows() + slot / Ring::per_row, first_ + j, number);
      }
  }

 private:
  index rows() const { return (leave ? 2 : 1) * poles_; }

  index first_, count_, poles_, reach_, ring_rows_, stride_;
  aligned_numbers<T> sums_, ring_;
};

}  // namespace wane::impl
