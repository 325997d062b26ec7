// laplace_coefficients: the short-time Laplace transform of STLT, one output for each node.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
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

  // See check_values.
  void each_number(place<> at, auto const& visit) const { bank_.each_number(at, visit); }

  // The poles (core/recurrence/poles.hpp). A coefficient is the weighted sum of terms() neighbours.
  Laplace const& bank() const { return bank_; }
  static constexpr index terms() { return Laplace::terms(); }

  template <class State, class Write>
  void advance(place<> at, view<State, 2> state, Write const& write) const {
    output_of_nodes<Write> to{bank_, at.head, write, {}, {}};
    impl::advance_sums(bank_, at, state, to);
  }

 private:
  // The weighted sums of the poles of a node (core/recurrence/poles.hpp).
  template <class Write>
  struct output_of_nodes {
    Laplace const& bank;
    index head;
    Write const& write;
    accumulate weight;
    std::array<accumulate, impl::poles_together> seen;

    void begin(index) {}
    void pole(index i, index, index count) {
      weight = accumulate(bank.weight(head, i, 0));
      if (i % terms() == 0) std::fill_n(seen.begin(), count, accumulate(0));
    }
    WANE_INLINE void add(index n, accumulate const& sum) {
      accumulate& to = seen[static_cast<std::size_t>(n)];
      to = multiply_add(weight, sum, to);
    }
    void end_pole(index i, index first, index count) const {
      if (i % terms() != terms() - 1) return;
      index const columns = bank.shape().columns, from = 2 * (i / terms()) * columns + first;
      for (index n = 0; n < count; ++n) {
        accumulate const& x = seen[static_cast<std::size_t>(n)];
        write(from + n, accumulate(x.real())), write(from + columns + n, accumulate(x.imag()));
      }
    }
    void end(index, index) const {}
  };

  Laplace bank_;
};

}  // namespace wane
