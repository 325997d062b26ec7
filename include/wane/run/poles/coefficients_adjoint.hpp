// The adjoint of the coefficients of nodes: the run in reverse, and sums over tokens for the poles.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/run/poles/coefficients.hpp"
#include "wane/run/poles/coefficients_gradients.hpp"
#include "wane/run/poles/gradients.hpp"

namespace wane::impl {

// Takes some columns of a walk from its last token to its first.
template <transform_side Side, node_coefficients Op, class Out, class Gradients>
class coefficient_adjoint {
 public:
  using Bank = bank_of<Op>;
  using T = real_type<accumulate_type<Bank>>;
  using vector = simd<T, simd_width<T>>;
  static constexpr bool leave = leaving_inputs<Bank>;
  static constexpr index block = pole_tokens;

  coefficient_adjoint(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      index sequence, index head, index first, index last)
      : bank_(op.bank()),
        dy_(dy),
        gradients_(gradients),
        columns_{first, last},
        cotangent_(bank_, head, first, last - first),
        reach_(bank_.reach(head)),
        steps_(coefficient_steps<T>(bank_, sequence, head)),
        in_(2 * block * cotangent_.stride()),
        out_(block * cotangent_.stride()),
        gone_(block * cotangent_.stride()) {}

  template <class State>
  void operator()(walk const& w, adjoint_options<State> const& options) const {
    state_access<accumulate_type<Bank>, State> const access{
        options.final_gradient, options.initial_gradient, w.sequence, w.head};
    cotangent_.load(access, true);
    for (index k = w.count; k > 0;) {
      index count = std::min(block, k), slot = 0;
      if constexpr (leave) {
        slot = (w.position - 2 + k) % reach_;  // of token k - 1, the next to take
        count = std::min(count, slot + 1);
        slot += 1 - count;
      }
      k -= count;
      take(w, k, count, cotangent_.ring(slot));
      if constexpr (leave)
        if (slot == 0) cotangent_.restart_back();
    }
    cotangent_.save(access, true);
  }

 private:
  void take(walk const& w, index k, index count, T* left) const {
    index const stride = cotangent_.stride(), channels = bank_.values().extent[3];
    std::fill_n(gone_.data(), count * stride, T(0));
    leave ? std::copy_n(left, count * stride, out_.data())
          : std::fill_n(out_.data(), count * stride, T(0));
    for (index node = 0; node < bank_.poles() / Op::terms(); ++node) {
      for (index t = 0; t < count; ++t)
        load_node_gradient<Side>(dy_, w.token(k + t), node, channels, columns_,
                                 in_.data() + 2 * t * stride, stride);
      for (index i = node * Op::terms(); i < (node + 1) * Op::terms(); ++i)
        for (index j = 0; j < columns_.padded(); j += vector::width) add(i, j, count);
    }
    if constexpr (leave) std::copy_n(gone_.data(), count * stride, left);
    for (index t = 0; t < count; ++t)
      for (index j = 0; j < columns_.count(); ++j)
        give(w.token(k + t), columns_.first + j, out_.data()[t * stride + j]);
  }

  void add(index i, index j, index count) const {
    index const stride = cotangent_.stride();
    auto const& step = steps_[static_cast<std::size_t>(i)];
    vector const a(step.weight.re), b(step.weight.im);
    T *const sum = cotangent_.sums() + 2 * i * stride + j, *const next =
                                                               sum + 2 * bank_.poles() * stride;
    vector re = vector::load(sum), im = vector::load(sum + stride);
    [[maybe_unused]] vector next_re, next_im;
    if constexpr (leave) next_re = vector::load(next), next_im = vector::load(next + stride);
    for (index t = count; t-- > 0;) {
      T const* const g = in_.data() + 2 * t * stride + j;
      T *const to = out_.data() + t * stride + j, *const gone = gone_.data() + t * stride + j;
      vector const g_re = vector::load(g), g_im = vector::load(g + stride);
      vector const seen = a * g_re - b * g_im;
      vector out = vector::load(to);
      re = re + seen;
      im = multiply_add(a, g_im, multiply_add(b, g_re, im));
      out = out + re;
      if constexpr (Side == transform_side::future) out = out - seen;
      if constexpr (leave) {
        multiply_add(vector(step.leave.re), re, vector::load(gone) - vector(step.leave.im) * im)
            .store(gone);
        out = out + next_re;
        carry(step, next_re, next_im, t == 0 ? count : 0);
      }
      carry(step, re, im, t == 0 ? count : 0);
      out.store(to);
    }
    re.store(sum), im.store(sum + stride);
    if constexpr (leave) next_re.store(next), next_im.store(next + stride);
  }

  // Takes a cotangent over a token; the rounding of so many is corrected.
  WANE_HOST_INLINE static void carry(pole_step<T> const& step, vector& re, vector& im,
                                     index corrected) {
    vector missing_re(T(0)), missing_im(T(0));
    if (corrected > 0) step.missing.add_to(missing_re, missing_im, corrected, re, im);
    step.carry(re, im, missing_re, missing_im);
  }

  void give(place<> at, index column, T number) const {
    auto const& to = gradients_.value;
    if constexpr (Side == transform_side::future)
      if (to.data) number += convert<T>(to.read(at, column));
    to.write(at, column, number);
  }

  Bank const bank_;
  sequence_view<Out const> const dy_;
  Gradients const& gradients_;
  panel_columns<T, 1> const columns_;
  pole_state<Bank> const cotangent_;
  index const reach_;
  std::vector<pole_step<T>> const steps_;
  aligned_numbers<T> const in_, out_, gone_;
};

// Gradients of the poles of every head, summed over both sides of a transform.
class pole_gradient_sums {
 public:
  pole_gradient_sums(recurrence_shape const& shape, index poles, index sets)
      : heads_(shape.heads),
        poles_(poles),
        sets_(sets),
        pieces_((shape.columns + pole_columns - 1) / pole_columns),
        log_pole_(static_cast<std::size_t>(heads_ * pieces_ * poles_)),
        weight_(static_cast<std::size_t>(heads_ * pieces_ * sets_ * poles_)) {}

  index tasks() const { return heads_ * pieces_; }
  index pieces() const { return pieces_; }
  std::complex<double>* log_pole(index task) { return log_pole_.data() + task * poles_; }
  std::complex<double>* weight(index task, index set = 0) {
    return weight_.data() + (task * sets_ + set) * poles_;
  }

  template <class Bank, class Gradients>
  void give(Bank const& bank, Gradients const& gradients) {
    for (index head = 0; head < heads_; ++head) {
      index const first = head * pieces_;
      for (index p = 1; p < pieces_; ++p) {
        for (index i = 0; i < poles_; ++i) log_pole(first)[i] += log_pole(first + p)[i];
        for (index i = 0; i < sets_ * poles_; ++i) weight(first)[i] += weight(first + p)[i];
      }
      gradients.poles(bank, head, pole_gradients{sets_, 1, log_pole(first), weight(first)});
    }
  }

 private:
  index heads_, poles_, sets_, pieces_;
  std::vector<std::complex<double>> log_pole_, weight_;
};

template <transform_side Side, node_coefficients Op, class Out, class Gradients, class State>
void adjoint_coefficients_of_side(Op const& op, sequence_view<Out const> const& dy,
                                  Gradients const& gradients, adjoint_options<State> const& options,
                                  pole_gradient_sums& sums) {
  recurrence_shape const shape = op.shape();
  for_each_task(sums.tasks(), threads_to_use(options.threads), [&](index task) {
    index const head = task / sums.pieces(), first = task % sums.pieces() * pole_columns;
    index const last = std::min(first + pole_columns, shape.columns);
    for_weight_sets(op.bank(), head, options, [&](index n, auto const& for_walks) {
      if (gradients.wants_poles()) {  // before of_values, which may overwrite final_gradient
        coefficient_sensitivity<Side, Op, Out> const of_head(op, dy, n, head, first, last);
        for_walks([&](walk const& w) { of_head(w, options); });
        of_head.give(sums.log_pole(task), sums.weight(task, n));
      }
      coefficient_adjoint<Side, Op, Out, Gradients> const of_values(op, dy, gradients, n, head,
                                                                    first, last);
      for_walks([&](walk const& w) { of_values(w, options); });
    });
  });
}

// Computes the gradients of the past side. more(sums) may add those of the future before
// `gradients` receives the sums of the poles.
template <node_coefficients Op, class Out, class Gradients, class State, class More>
void coefficient_gradients(Op const& op, sequence_view<Out const> const& dy,
                           Gradients const& gradients, adjoint_options<State> const& options,
                           More const& more) {
  recurrence_shape const shape = op.shape();
  pole_gradient_sums sums(shape, op.bank().poles(),
                          weight_sets(op.bank(), sequences_of(shape, options.packed)));
  adjoint_coefficients_of_side<transform_side::past>(op, dy, gradients, options, sums);
  more(sums);
  if (gradients.wants_poles()) sums.give(op.bank(), gradients);
}

// `gradients` are those of the bank. No state is kept: time is O(T P V), memory is one state; where
// weights differ by sequence, as many numbers as all sequences have poles besides.
template <node_coefficients Op, class Out, class Gradients, class State>
void adjoint_coefficients(Op const& op, sequence_view<Out const> const& dy,
                          Gradients const& gradients, adjoint_options<State> const& options) {
  coefficient_gradients(op, dy, gradients, options, [](pole_gradient_sums&) {});
}

}  // namespace wane::impl
