// A problem for the law kit: mamba3 on random data.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/mamba3.hpp"

namespace wane::testing {

// `Rank` ranks a head. Groups and options of a memory_size are those of B and C, and pairs of
// halves where it says `normalise`.
template <class T, int Rank = 1>
struct mamba3_problem {
  std::mt19937_64 bits{5};
  memory_size size, ranks;  // heads and groups of `ranks` count ranks
  gate_data<T, token_view<T const>> gate{size, bits};
  random_tensor<T> x, B, C, by_B, by_C, delta, trapezoid, angle, D, B_bias, C_bias;

  explicit mamba3_problem(memory_size const& s)
      : size(s),
        ranks(with_ranks(s)),
        x(of_heads(s.columns)),
        B(of_groups()),
        C(of_groups()),
        by_B(of_heads(s.rows)),
        by_C(of_heads(s.rows)),
        delta(s.batch, s.time, s.heads, 1, bits),
        trapezoid(s.batch, s.time, s.heads, 1, bits),
        angle(s.batch, s.time, s.heads, (s.rows + 1) / 4, bits),
        D(1, 1, 1, s.heads, bits),
        B_bias(1, 1, ranks.heads, s.rows, bits),
        C_bias(1, 1, ranks.heads, s.rows, bits) {
    memory_data<T>::put_between(delta, 0.1, 0.9);
    memory_data<T>::put_between(trapezoid, 0.1, 0.9);
  }
  static memory_size with_ranks(memory_size s) {
    s.heads *= Rank, s.groups *= Rank;
    return s;
  }
  random_tensor<T> of_heads(index channels) {
    return {size.batch, size.time, ranks.heads, channels, bits};
  }
  random_tensor<T> of_groups() {
    return {size.batch, size.time, size.in_groups() ? ranks.groups : ranks.heads, size.rows, bits};
  }

  index time() const { return size.time; }
  mamba3_inputs<T> in(index begin, index end) const {
    return {.x = x.view().tokens(begin, end),
            .B = B.view().tokens(begin, end),
            .C = C.view().tokens(begin, end),
            .delta = memory_data<T>::by_token(delta, begin, end),
            .trapezoid = memory_data<T>::by_token(trapezoid, begin, end),
            .angle = angle.view().tokens(begin, end),
            .D = {D.values.data(), size.heads},
            .B_bias = {B_bias.values.data(), ranks.heads, size.rows},
            .C_bias = {C_bias.values.data(), ranks.heads, size.rows}};
  }
  mamba3<T> make(index begin, index end) const {
    return {in(begin, end),
            gate.part(begin, end),
            {.pairs = size.options.normalise ? turning_pairs::halves : turning_pairs::neighbours}};
  }
  std::array<std::span<T>, 10> inputs() {
    return {x.values,     B.values, C.values,      delta.values,  trapezoid.values,
            angle.values, D.values, B_bias.values, C_bias.values, gate.values.values};
  }
  std::array<std::span<T>, 10> input_gradients() {
    sum(by_B, B), sum(by_C, C);
    return {x.gradient,     B.gradient, C.gradient,      delta.gradient,  trapezoid.gradient,
            angle.gradient, D.gradient, B_bias.gradient, C_bias.gradient, gate.values.gradient};
  }
  // Head h R + r reads group g R + r, g = h / (H / G).
  void sum(random_tensor<T> const& from, random_tensor<T>& to) const {
    index const in_group = ranks.heads / to.extent[2], channels = to.extent[3];
    std::fill(to.gradient.begin(), to.gradient.end(), T(0));
    for (std::size_t n = 0; n < from.gradient.size(); ++n) {
      index const i = static_cast<index>(n), c = i % channels, head = i / channels % ranks.heads,
                  token = i / channels / ranks.heads;
      index const group = head / Rank / in_group * Rank + head % Rank;
      to.gradient[static_cast<std::size_t>((token * to.extent[2] + group) * channels + c)] +=
          from.gradient[n];
    }
  }
  typename mamba3<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.x = x.gradient_view(begin, end),
            .B = by_B.gradient_view(begin, end),
            .C = by_C.gradient_view(begin, end),
            .delta = memory_data<T>::gradient_by_token(delta, begin, end),
            .trapezoid = memory_data<T>::gradient_by_token(trapezoid, begin, end),
            .angle = angle.gradient_view(begin, end),
            .D = {D.gradient.data(), size.heads},
            .B_bias = {B_bias.gradient.data(), ranks.heads, size.rows},
            .C_bias = {C_bias.gradient.data(), ranks.heads, size.rows},
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
