// pole_bank: banks of complex poles that read real numbers, and the layout of their state.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <limits>

#include "wane/core/numbers/powers.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane {

// y_nj = Re sum_i c_ij sum_{0<=l<D} p_i^l x_{n-l,j}: P poles p_i with weights c_ij read the same
// inputs x. An input leaves the sums D tokens after it came; without a window it never does. The
// state is complex, x and y are real.
//   values()               x, [B, T, H, columns]
//   poles()                P; the first P rows of the state are the sums of the poles
//   reach(head)            D, or 0 where inputs never leave
//   power(head, i, n)      p_i^n in double, or in Real by power<Real>(...); the error is one or two
//                          roundings for any n
//   weight(n, head, i, j)  c_ij in sequence n, the index of its state
//   weighs_columns()       whether c_ij differs between columns; if not, c_i0 holds for all
//   weighs_sequences()     whether c_ij differs between sequences; if not, any n gives the same
// Where inputs leave, rows P to 2P - 1 of the state are second sums, from which nothing is
// subtracted. They start from zero every D tokens. D tokens later they are the exact sums of the
// last D inputs, and replace the first sums. So rounding errors do not accumulate, and a NaN or
// infinity is gone after 2 D tokens. The rows after them hold the last D inputs (input_ring).
template <class Op>
concept pole_bank = has_shape<Op> && is_complex<accumulate_type<Op>> &&
    requires(Op const& op, index i) {
  { op.values().data } -> std::convertible_to<void const*>;
  { op.poles() } -> std::convertible_to<index>;
  { op.reach(i) } -> std::convertible_to<index>;
  { op.power(i, i, i) } -> std::same_as<std::complex<double>>;
  { op.template power<long double>(i, i, i) } -> std::same_as<std::complex<long double>>;
  { op.weight(i, i, i, i) } -> std::same_as<std::complex<double>>;
  { op.weighs_columns() } -> std::convertible_to<bool>;
  { op.weighs_sequences() } -> std::convertible_to<bool>;
};

// A bank whose inputs leave; an operator says so with a constant `inputs_leave`.
template <class Op>
concept leaving_inputs = pole_bank<Op> && requires {
  requires Op::inputs_leave;
};

}  // namespace wane

namespace wane::impl {

// A ring of the last D inputs of a column, held unconverted in the bits of numbers of the state.
// Input n is in slot n mod D, which lies in row slot / per_row of the ring.
template <class Io, class State>
struct input_ring {
  static_assert(sizeof(State) % sizeof(Io) == 0);
  static constexpr index per_row = sizeof(State) / sizeof(Io);
  using parts = std::array<Io, static_cast<std::size_t>(per_row)>;

  static index rows(index inputs) { return (inputs + per_row - 1) / per_row; }
  static Io read(State const& number, index slot) {
    return std::bit_cast<parts>(number)[static_cast<std::size_t>(slot % per_row)];
  }
  static void write(State& number, index slot, Io input) {
    auto held = std::bit_cast<parts>(number);
    held[static_cast<std::size_t>(slot % per_row)] = input;
    number = std::bit_cast<State>(held);
  }
};

}  // namespace wane::impl

namespace wane {

// The type of the inputs of a bank of poles.
template <pole_bank Op>
using input_of =
    std::remove_const_t<std::remove_pointer_t<decltype(std::declval<Op const&>().values().data)>>;

}  // namespace wane

namespace wane::impl {

// The rounding error of a pole acts in the same way at every token, so every
// pole_correction::between tokens the sums of pole i are corrected by factor() of themselves, in
// one sum with the input: by itself the correction may be less than half the last place of a sum.
// `pole` is the rounded pole.
template <class T>
struct pole_correction {
  static constexpr index between = sizeof(T) == 4 ? 8 : 64;

  static bool is_at(place<> at) { return at.position % between == 0; }
  using exact_type = std::conditional_t<std::is_same_v<T, double>, long double, double>;

  template <pole_bank Op>
  static std::complex<T> factor(Op const& op, index head, index i, std::complex<T> pole) {
    return factor(op.template power<exact_type>(head, i, 1), pole);
  }
  static std::complex<T> factor(std::complex<exact_type> exact, std::complex<T> pole) {
    auto const rounded = static_cast<std::complex<exact_type>>(pole);
    exact_type const size = std::norm(rounded);
    if (!(size > 0)) return T(0);
    // Of a sum, about |p|^between is older than `between` tokens and has this error in full. Newer
    // inputs were multiplied fewer times.
    exact_type old = std::norm(exact);
    for (index n = 2; n < between; n *= 2) old *= old;
    return std::complex<T>(
        multiply(multiply(exact - rounded, conjugate(rounded)), exact_type(between) * old / size));
  }
};

// Advances the state by one token; other runners must give the same result.
template <pole_bank Op, class State, class Write>
void advance_poles(Op const& op, place<> at, view<State, 2> state, Write const& write) {
  using V = accumulate_type<Op>;
  using T = real_type<V>;
  using Ring = input_ring<input_of<Op>, V>;
  constexpr bool leave = leaving_inputs<Op>;
  static_assert(std::is_same_v<State, V>,
                "wane: the state of a window that ends holds inputs in the bits of its numbers; it "
                "is of the type the operator computes in");
  index const poles = op.poles(), columns = state.extent[1], reach = op.reach(at.head);
  index slot = 0;
  if constexpr (leave) {
    slot = (at.position - 1) % reach;
    if (slot == 0)
      for (index i = 0; i < poles; ++i)
        for (index j = 0; j < columns; ++j)
          state(i, j) = state(poles + i, j), state(poles + i, j) = V(0);
  }
  bool const corrects = pole_correction<T>::is_at(at);
  constexpr index together = 512;
  for (index first = 0; first < columns; first += together) {
    index const count = std::min(together, columns - first);
    T in[together], left[together] = {}, y[2][together] = {}, weights[2][together];
    for (index n = 0; n < count; ++n) {
      auto const input = op.values().read(at, first + n);
      in[n] = convert<T>(input);
      if constexpr (leave) {
        V& number = state(2 * poles + slot / Ring::per_row, first + n);
        left[n] = convert<T>(Ring::read(number, slot));
        Ring::write(number, slot, input_of<Op>(input));
      }
    }
    for (index i = 0; i < poles; ++i) {
      std::complex<double> const power = op.power(at.head, i, 1);
      V const pole(power), leaving(leave ? -op.power(at.head, i, reach) : 0.);
      V const missing =
          corrects ? multiply(pole_correction<T>::factor(op, at.head, i, pole), pole) : V(0);
      auto const weigh = [&](index n, index j) {
        std::complex<double> const weight = op.weight(at.sequence, at.head, i, j);
        weights[0][n] = static_cast<T>(weight.real());
        weights[1][n] = static_cast<T>(weight.imag());
      };
      if (op.weighs_columns())
        for (index n = 0; n < count; ++n) weigh(n, first + n);
      else if (weigh(0, 0), count > 1)
        for (index n = 1; n < count; ++n)
          weights[0][n] = weights[0][0], weights[1][n] = weights[1][0];
      // s <- p s + x - p^D x'
      auto const carry = [&](V& s, T x_re, T x_im) WANE_INLINE_LAMBDA {
        auto& z = reinterpret_cast<T(&)[2]>(s);
        if (corrects) {
          x_re += missing.real() * z[0] - missing.imag() * z[1];
          x_im += missing.real() * z[1] + missing.imag() * z[0];
        }
        T const re = pole.real() * z[0] - pole.imag() * z[1] + x_re,
                im = pole.real() * z[1] + pole.imag() * z[0] + x_im;
        z[0] = re, z[1] = im;
      };
      auto const take = [&](auto stride) WANE_INLINE_LAMBDA {
        V *const sums = &state(i, first), *const next = &state(leave ? poles + i : i, first);
        for (index n = 0; n < count; ++n) {
          V& sum = sums[n * stride];
          carry(sum, leaving.real() * left[n] + in[n], leaving.imag() * left[n]);
          if constexpr (leave) carry(next[n * stride], in[n], T(0));
          y[0][n] += weights[0][n] * sum.real() - weights[1][n] * sum.imag();
          y[1][n] += weights[0][n] * sum.imag() + weights[1][n] * sum.real();
        }
      };
      if (state.stride[1] == 1)
        take(std::integral_constant<index, 1>());
      else
        take(state.stride[1]);
    }
    for (index n = 0; n < count; ++n) write(first + n, V(y[0][n], y[1][n]));
  }
}

}  // namespace wane::impl
