// run for the coefficients of Laplace nodes: each pole alone, in vectors of columns.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/stepwise_recurrence.hpp"
#include "wane/run/poles/run.hpp"

namespace wane::impl {

// A recurrence over a bank of poles. Each node is the weighted sum of terms() neighbouring poles;
// its outputs are the real parts of all columns, then the imaginary parts (laplace_coefficients).
template <class Op>
concept node_coefficients = stepwise_recurrence<Op> && requires(Op const& op) {
  requires pole_bank<std::remove_cvref_t<decltype(op.bank())>>;
  { op.terms() } -> std::convertible_to<index>;
};
template <node_coefficients Op>
using bank_of = std::remove_cvref_t<decltype(std::declval<Op const&>().bank())>;

// The update of one pole by a token. p is rounded the same way at every token. What the sum lacks
// after a few tokens, `missing` times the sum for each, is added with the input of the last one, so
// that less than half the last place of the sum is not lost.
template <class T>
struct pole_step {
  carry_factor<T> carry;
  complex_parts<T> leave, weight, missing;
};
// The updates of all poles of a sequence and head, for the coefficients of nodes.
template <class T, pole_bank Bank>
std::vector<pole_step<T>> coefficient_steps(Bank const& bank, index sequence, index head) {
  using Exact = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  std::vector<pole_step<T>> steps;
  for (index i = 0; i < bank.poles(); ++i) {
    carry_factor<T> const carry(bank.power(head, i, 1));
    auto const exact = bank.template power<Exact>(head, i, 1);
    // The error is scaled down where p fades within a chunk, as in pole_chunk.
    auto const drift = carry.drift(exact) * std::pow(std::abs(exact), Exact(pole_tokens));
    steps.push_back({carry, -bank.power(head, i, bank.reach(head)),
                     bank.weight(sequence, head, i, 0), multiply(drift, exact)});
  }
  return steps;
}

// The sides of a two-sided transform. The past is written first. The future comes from a walk in
// reverse and is added. It is conjugated, because e^{-i omega l} has l < 0 there, and leaves out
// lag 0, which the past includes.
enum class transform_side { past, future };

// Runs columns [first, last) of a sequence and head.
template <transform_side Side, node_coefficients Op, class Out>
class coefficient_runner {
 public:
  using Bank = bank_of<Op>;
  using T = real_type<accumulate_type<Bank>>;
  using vector = simd<T, simd_width<T>>;
  static constexpr bool leave = leaving_inputs<Bank>;

  coefficient_runner(Op const& op, sequence_view<Out> const& output, index sequence, index head,
                     index first, index last)
      : bank_(op.bank()),
        output_(output),
        columns_{first, last},
        state_(bank_, head, first, last - first),
        reach_(bank_.reach(head)),
        steps_(coefficient_steps<T>(bank_, sequence, head)),
        in_(pole_tokens * state_.stride()),
        in_lanes_(layout_of(output).columns) {}

  template <class Access>
  void operator()(walk const& w, Access const& access) const {
    state_.load(access);
    for (index k = 0; k < w.count;) {
      index room = w.count - k, slot = 0;
      if constexpr (leave) {
        slot = (w.position - 1 + k) % reach_;
        if (slot == 0) state_.restart();
        room = std::min(room, reach_ - slot);
      }
      k += room >= pole_tokens ? take<pole_tokens>(w, k, state_.ring(slot))
                               : take<1>(w, k, state_.ring(slot));
    }
    state_.save(access);
  }

 private:
  template <int N>
  index take(walk const& w, index k, T* left) const {
    index const stride = state_.stride();
    place<> at[N];
    for (int t = 0; t < N; ++t) {
      at[t] = w.token(k + t);
      columns_.template load<false>(in_.data() + t * stride, true, [&](index j) {
        return convert<T>(bank_.values().read(at[t], j));
      });
    }
    columns_.for_lanes([&](index j, auto, auto columns) WANE_INLINE_LAMBDA {
      for (index node = 0; node < bank_.poles() / Op::terms(); ++node) {
        vector re[N], im[N];
        unroll<N>([&](auto t) WANE_INLINE_LAMBDA { re[t] = im[t] = vector(T(0)); });
        for (index i = node * Op::terms(); i < (node + 1) * Op::terms(); ++i)
          add<N>(i, j, left, re, im);
        index const channels = bank_.values().extent[3], from = 2 * node * channels;
        unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
          give(at[t], columns(0), from, re[t], false);
          give(at[t], columns(0), from + channels, im[t], true);
        });
      }
    });
    if constexpr (leave) std::copy_n(in_.data(), N * stride, left);
    return N;
  }

  // Takes N tokens into pole i, and adds its weighted sums to re and im, the outputs of its node.
  template <int N>
  WANE_HOST_INLINE void add(index i, index j, T const* left, vector (&re)[N],
                            vector (&im)[N]) const {
    index const stride = state_.stride();
    auto const& step = steps_[static_cast<std::size_t>(i)];
    vector const a(step.weight.re), b(step.weight.im);
    T* const sum = state_.sums() + 2 * i * stride + j;
    vector m_re = vector::load(sum), m_im = vector::load(sum + stride);
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
      vector const x = vector::load(in_.data() + t * stride + j);
      vector in_re = x, in_im(T(0));
      if constexpr (leave) {
        vector const gone = vector::load(left + t * stride + j);
        in_re = multiply_add(vector(step.leave.re), gone, x);
        in_im = vector(step.leave.im) * gone;
      }
      if constexpr (t + 1 == N) step.missing.add_to(in_re, in_im, N, m_re, m_im);
      step.carry(m_re, m_im, in_re, in_im);
      vector const seen = Side == transform_side::past ? m_re : m_re - x;
      re[t] = multiply_add(a, seen, re[t] - b * m_im);
      im[t] = multiply_add(a, m_im, multiply_add(b, seen, im[t]));
    });
    m_re.store(sum), m_im.store(sum + stride);
    if constexpr (leave) {
      T* const next = sum + 2 * bank_.poles() * stride;
      m_re = vector::load(next), m_im = vector::load(next + stride);
      unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
        vector in_re = vector::load(in_.data() + t * stride + j), in_im(T(0));
        if constexpr (t + 1 == N) step.missing.add_to(in_re, in_im, N, m_re, m_im);
        step.carry(m_re, m_im, in_re, in_im);
      });
      m_re.store(next), m_im.store(next + stride);
    }
  }

  // Writes the outputs `from` columns behind those of the bank; the future adds to them.
  template <class Lanes>
  WANE_HOST_INLINE void give(place<> at, Lanes columns, index from, vector value,
                             bool imaginary) const {
    columns.first += from;
    if (in_lanes_) {
      if constexpr (Side == transform_side::future) {
        auto const before = convert<T>(output_.read(at, columns));
        value = imaginary ? before - value : before + value;
      }
      return output_.write(at, columns, value);
    }
    for (int l = 0; l < lane_count(columns); ++l) {
      T number = value[l];
      if constexpr (Side == transform_side::future)
        number = convert<T>(output_.read(at, columns.first + l)) + (imaginary ? -number : number);
      output_.write(at, columns.first + l, number);
    }
  }

  Bank const bank_;
  sequence_view<Out> const output_;
  panel_columns<T, 1> const columns_;
  pole_state<Bank> const state_;
  index const reach_;
  std::vector<pole_step<T>> const steps_;
  aligned_numbers<T> const in_;
  bool const in_lanes_;
};

template <transform_side Side, node_coefficients Op, class Out, class State>
void run_coefficients(Op const& op, sequence_view<Out> const& output,
                      run_options<State> const& options) {
  index const piece = std::min(recurrence_shape(op.shape()).columns, pole_columns);
  for_each_piece(op, options, piece, threads_to_use(options.threads),
                 [&](walk const& w, index first, index last, auto const& state) {
                   coefficient_runner<Side, Op, Out>(op, output, w.sequence, w.head, first, last)(
                       w, state);
                 });
}

}  // namespace wane::impl
