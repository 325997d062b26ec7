// laplace_coefficients: the short-time Laplace transform of STLT, one output for each node.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "wane/operators/laplace.hpp"

namespace wane {

// L_nkj = m_k sum_{l>=0} w(l; W) r_k^l x_{n-l,j},   r_k = e^{-s_k}
//
//   wane::laplace<float> const op({.value = x}, nodes);
//   wane::run(wane::laplace_coefficients(op), coefficients);  // [B, T, H, 2 S V]
//
// (STLT, arXiv 2506.15714, eq. (4).) Nodes, window, mask, state and gradients are those of
// `laplace`; its read_out is not used. Outputs are real, [B, T, H, 2 S V]: for node k, from column
// 2 k V on, the real parts of its V channels and then the imaginary parts. The dot product of two
// tokens is thus their relevance, Re sum_k L_n,k . conj(L_m,k) (section 3.4): outputs serve as
// queries and keys of softmax_attention with scale 1/sqrt(S).
template <class Laplace>
class laplace_coefficients {
 public:
  using accumulate = accumulate_type<Laplace>;
  using output = real_type<accumulate>;
  using gradients = typename Laplace::gradients;

  explicit laplace_coefficients(Laplace const& op) : bank_(op.before_read_out()) {}

  recurrence_shape shape() const { return bank_.shape(); }
  index nodes() const { return bank_.poles() / terms(); }
  index output_columns() const { return 2 * nodes() * shape().columns; }
  bool counts_positions() const { return bank_.counts_positions(); }
  void check_inputs() const { bank_.check_inputs(); }
  void check_parameters() const { bank_.check_parameters(); }
  void check_sequences(index sequences) const { bank_.check_sequences(sequences); }

  // See check_values.
  void each_number(place<> at, auto const& visit) const { bank_.each_number(at, visit); }

  // The poles (core/recurrence/poles.hpp). A coefficient is the weighted sum of terms() neighbours.
  Laplace const& bank() const { return bank_; }
  static constexpr index terms() { return Laplace::terms(); }

  template <class State, class Write>
  void advance(place<> at, view<State, 2> state, Write const& write) const {
    using Io = input_of<Laplace>;
    using Ring = impl::input_ring<Io, accumulate>;
    constexpr bool leave = Laplace::inputs_leave;
    static_assert(!leave || std::is_same_v<State, accumulate>,
                  "wane: the state of a window that ends holds inputs in the bits of its numbers; "
                  "it is of the type the operator computes in");
    using correction = impl::pole_correction<output>;
    bool const corrects = correction::is_at(at);
    index const poles = bank_.poles(), columns = state.extent[1], reach = bank_.reach(at.head);
    index const slot = leave ? (at.position - 1) % reach : 0;
    auto const input = [&](index j) {
      return accumulate(convert<output>(bank_.values().read(at, j)));
    };
    auto const number_of = [&](index j) -> State& {
      return state(2 * poles + slot / Ring::per_row, j);
    };
    for (index node = 0; node < nodes(); ++node) {
      std::array<accumulate, static_cast<std::size_t>(terms())> power, leaving, weight, missing;
      for (index m = 0; m < terms(); ++m) {
        index const i = node * terms() + m;
        auto const n = static_cast<std::size_t>(m);
        power[n] = accumulate(bank_.power(at.head, i, 1));
        leaving[n] = accumulate(-bank_.power(at.head, i, reach));
        weight[n] = accumulate(bank_.weight(at.sequence, at.head, i, 0));
        if (corrects)
          missing[n] = multiply(correction::factor(bank_, at.head, i, power[n]), power[n]);
      }
      for (index j = 0; j < columns; ++j) {
        accumulate const x = input(j);
        accumulate seen(0), left(0);
        if constexpr (leave) left = accumulate(convert<output>(Ring::read(number_of(j), slot)));
        for (index m = 0; m < terms(); ++m) {
          index const i = node * terms() + m;
          auto const n = static_cast<std::size_t>(m);
          State& sum = state(i, j);
          // The input, and the correction of a sum.
          auto const added = [&](accumulate s) {
            return corrects ? multiply_add(missing[n], s, x) : x;
          };
          accumulate all = static_cast<accumulate>(sum);
          if constexpr (leave) {
            State& next = state(poles + i, j);
            if (slot == 0) all = next, next = State(0);
            all = multiply_add(power[n], all, multiply_add(leaving[n], left, added(all)));
            next = multiply_add(power[n], next, added(static_cast<accumulate>(next)));
          } else {
            all = multiply_add(power[n], all, added(all));
          }
          sum = static_cast<State>(all);
          seen = multiply_add(weight[n], all, seen);
        }
        write(2 * node * columns + j, accumulate(seen.real()));
        write((2 * node + 1) * columns + j, accumulate(seen.imag()));
      }
    }
    if constexpr (leave)
      for (index j = 0; j < columns; ++j)
        Ring::write(number_of(j), slot, Io(bank_.values().read(at, j)));
  }

 private:
  Laplace bank_;
};

}  // namespace wane
