// step for banks of poles: advances a state in place by one token, in vectors of complex numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/poles.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/poles/columns.hpp"

namespace wane::impl {

// A bank that gives its powers in lanes and its read-outs in rows.
template <class Op>
concept steps_in_vectors = pole_bank<Op> && fits_simd<real_type<accumulate_type<Op>>> &&
    requires(Op const& op, index i) {
  op.template powers<simd_width<double>>(i, i, i);
  op.read_outs(i, i);
  op.weight_of_read_out(i, i, i);
  op.is_conjugated();
};

// A vector holds complex numbers as the state does: real and imaginary parts alternate. p z is then
// re(p) z + (-im(p), im(p), ...) times z with its parts swapped.
template <class V>
WANE_HOST_INLINE V swap_parts(V z) {
  return shuffle(
      z, z, [](int l) constexpr { return l ^ 1; });
}
// The numbers even, odd, even, ...
template <class V>
WANE_HOST_INLINE V alternating(typename V::scalar even, typename V::scalar odd) {
  return shuffle(
      V(even), V(odd), [](int l) constexpr { return l % 2 * V::width + l; });
}
template <class V>
struct complex_factor {
  V re, im;

  complex_factor() = default;
  WANE_HOST_INLINE explicit complex_factor(std::complex<typename V::scalar> z)
      : re(z.real()), im(alternating<V>(-z.imag(), z.imag())) {}
  // p z + add
  WANE_HOST_INLINE V operator()(V z, V add) const {
    return multiply_add(re, z, multiply_add(im, swap_parts(z), add));
  }
};

// Takes the tokens of one sequence and head. Some poles at a time pass through all columns, so that
// the rows of the state are read in order and the sums of outputs are seldom stored.
template <steps_in_vectors Op, class Out>
class pole_stepper {
 public:
  using V = accumulate_type<Op>;
  using T = real_type<V>;
  static constexpr bool leave = leaving_inputs<Op>;

  pole_stepper(Op const& op, sequence_view<Out> const& output, view<V, 2> const& state)
      : op_(op),
        output_(output),
        state_(state),
        poles_(op.poles()),
        in_lanes_((layout_of(op.values()) & layout_of(output)).columns) {}

  // Whether the columns of the state, and those of read-outs, are neighbours in memory.
  static bool takes(Op const& op, view<V, 2> const& state) {
    return state.stride[1] == 1 && (!op.weighs_columns() || op.read_outs(0, 0).stride[0] == 1);
  }

  void operator()(place<> at) {
    corrects_ = correction::is_at(at);
    reach_ = op_.reach(at.head);
    slot_ = leave ? (at.position - 1) % reach_ : 0;
    for (index j = 0; j < state_.extent[1]; j += columns_held)
      take({j, std::min(j + columns_held, state_.extent[1])}, at);
  }

 private:
  using vector = simd<T, simd_width<T>>;
  using factor = complex_factor<vector>;
  using correction = pole_correction<T>;
  using Ring = input_ring<input_of<Op>, V>;
  using Parameter = typename Op::parameter;
  static constexpr int width = vector::width, together = leave ? 1 : 2,
                       lanes_of_poles = simd_width<double>;
  static constexpr index columns_held = 512, ahead = 512 / sizeof(T);

  // The rows of one pole, and what multiplies them.
  struct row {
    factor pole, missing, scale;
    vector weight, leaving;
    T *sum, *next;
    Parameter const* read_out;
  };

  void take(panel_columns<T, 1> const& columns, place<> at) {
    load(columns, at);
    complex_lanes<lanes_of_poles> power;
    [[maybe_unused]] complex_lanes<lanes_of_poles> leaving;
    row rows[together] = {};
    index const numbers = 2 * columns.count();
    bool const by_column = op_.weighs_columns();
    for (index i = 0; i < poles_; i += together) {
      if (i % lanes_of_poles == 0) {
        power = op_.template powers<lanes_of_poles>(at.head, i, 1);
        if constexpr (leave) leaving = op_.template powers<lanes_of_poles>(at.head, i, reach_);
      }
      int const count = static_cast<int>(std::min<index>(together, poles_ - i));
      for (int n = 0; n < count; ++n) {
        int const lane = static_cast<int>((i + n) % lanes_of_poles);
        std::complex<double> const p(power.re[lane], power.im[lane]);
        set(rows[n], at, i + n, columns, p);
        if constexpr (leave)
          rows[n].leaving = alternating<vector>(-static_cast<T>(leaving.re[lane]),
                                                -static_cast<T>(leaving.im[lane]));
      }
      if (count == together)
        by_column ? pass<together, true>(rows, numbers) : pass<together, false>(rows, numbers);
      else
        for (int n = 0; n < count; ++n)
          by_column ? pass<1, true>(rows + n, numbers) : pass<1, false>(rows + n, numbers);
    }
    store(columns, at);
  }

  void set(row& to, place<> at, index i, panel_columns<T, 1> const& columns,
           std::complex<double> power) {
    index const first = columns.first;
    std::complex<T> const pole(power);
    to.pole = factor(pole);
    if (corrects_) {
      if constexpr (std::is_same_v<typename correction::exact_type, double>)
        to.missing = factor(multiply(correction::factor(power, pole), pole));
      else
        to.missing = factor(multiply(correction::factor(op_, at.head, i, pole), pole));
    }
    to.sum = reinterpret_cast<T*>(&state_(i, first));
    if constexpr (leave) {
      to.next = reinterpret_cast<T*>(&state_(poles_ + i, first));
      if (slot_ == 0) {
        std::copy_n(to.next, 2 * columns.count(), to.sum);
        std::fill_n(to.next, 2 * columns.count(), T(0));
      }
    }
    if (op_.weighs_columns()) {
      std::complex<T> const scale(op_.weight_of_read_out(at.sequence, at.head, i));
      scales_ = scales_ || scale != std::complex<T>(1);
      to.scale = factor(scale);
      to.read_out = reinterpret_cast<Parameter const*>(&op_.read_outs(at.head, i)(first));
    } else {
      std::complex<T> const weight(op_.weight(at.sequence, at.head, i, 0));
      to.weight = alternating<vector>(weight.real(), weight.imag());
    }
  }

  // N poles, `numbers` numbers of each.
  template <int N, bool ByColumn>
  [[gnu::noinline]] void pass(row const* rows, index numbers) {
    row of[N];
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA { of[n] = rows[n]; });
    bool const corrects = corrects_, scales = scales_;
    auto const advance = [&](index j, auto const& load, auto const& store) WANE_INLINE_LAMBDA {
      vector const x = vector::load(in_ + j);
      vector y = vector::load(sums_ + j), sum[N];
      [[maybe_unused]] vector next[N], c[N];
      // All are read before a store: in other rows it may be to an equal place of a page.
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
        sum[n] = load(of[n].sum + j);
        if constexpr (leave) next[n] = load(of[n].next + j);
        if constexpr (ByColumn) c[n] = convert<T>(load(of[n].read_out + j));
        __builtin_prefetch(of[n].sum + j + ahead, 1);
        if constexpr (leave) __builtin_prefetch(of[n].next + j + ahead, 1);
        if constexpr (ByColumn) __builtin_prefetch(of[n].read_out + j + ahead);
      });
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
        vector add = x;
        if (corrects) add = of[n].missing(sum[n], x);
        if constexpr (leave) {
          next[n] = of[n].pole(next[n], corrects ? of[n].missing(next[n], x) : x);
          add = multiply_add(of[n].leaving, vector::load(left_ + j), add);
        }
        vector z = sum[n] = of[n].pole(sum[n], add);
        if constexpr (ByColumn) {
          if (scales) z = of[n].scale(z, vector(T(0)));
          y = multiply_add(c[n], z, y);
        } else {
          y = multiply_add(of[n].weight, z, y);
        }
      });
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
        store(of[n].sum + j, sum[n]);
        if constexpr (leave) store(of[n].next + j, next[n]);
      });
      y.store(sums_ + j);
    };
    index j = 0;
    for (; j + width <= numbers; j += width)
      advance(
          j, [](auto const* from) WANE_INLINE_LAMBDA { return load_all(from); },
          [](T* to, vector z) WANE_INLINE_LAMBDA { z.store(to); });
    if (int const rest = static_cast<int>(numbers - j); rest > 0)
      advance(
          j, [rest](auto const* from) WANE_INLINE_LAMBDA { return load_some(from, rest); },
          [rest](T* to, vector z) WANE_INLINE_LAMBDA { store_first(to, rest, z); });
  }
  template <class P>
  WANE_HOST_INLINE static simd<P, width> load_all(P const* from) {
    return simd<P, width>::load(from);
  }
  template <class P>
  WANE_HOST_INLINE static simd<P, width> load_some(P const* from, int count) {
    return load_first<P, width>(from, count);
  }

  void load(panel_columns<T, 1> const& columns, place<> at) {
    T x[columns_held];
    read_columns(columns, op_.values(), at, in_lanes_, x);
    std::fill_n(sums_, 2 * columns.padded(), T(0));
    for (index j = 0; j < columns.padded(); j += width)
      unroll<2>([&](auto half) WANE_INLINE_LAMBDA {
        shuffle(
            vector::load(x + j), vector(T(0)),
            [](int l) constexpr { return l % 2 ? width : (decltype(half)::value * width + l) / 2; })
            .store(in_ + 2 * j + half * width);
      });
    if constexpr (leave) {
      for (index j = 0; j < columns.count(); ++j) {
        V& number = state_(2 * poles_ + slot_ / Ring::per_row, columns.first + j);
        left_[2 * j] = left_[2 * j + 1] = convert<T>(Ring::read(number, slot_));
        Ring::write(number, slot_, input_of<Op>(op_.values().read(at, columns.first + j)));
      }
      std::fill(left_ + 2 * columns.count(), left_ + 2 * columns.padded(), T(0));
    }
  }

  void store(panel_columns<T, 1> const& columns, place<> at) {
    T const sign = op_.weighs_columns() && op_.is_conjugated() ? T(1) : T(-1);
    T y[columns_held];
    for (index j = 0; j < columns.padded(); j += width) {
      vector const a = vector::load(sums_ + 2 * j), b = vector::load(sums_ + 2 * j + width);
      multiply_add(vector(sign), every_other<1, 1>(a, b), every_other<1, 0>(a, b)).store(y + j);
    }
    write_columns(columns, output_, at, in_lanes_, y);
  }

  Op const& op_;
  sequence_view<Out> const& output_;
  view<V, 2> const state_;
  index const poles_;
  bool const in_lanes_;
  bool corrects_ = false, scales_ = false;
  index reach_ = 0, slot_ = 0;
  // Of the columns: (x, 0), (x', x') of the inputs that leave, and the parts of c z, whose
  // difference is the real part.
  alignas(64) T in_[2 * columns_held], sums_[2 * columns_held];
  alignas(64) T left_[leave ? 2 * columns_held : 1];
};

}  // namespace wane::impl
