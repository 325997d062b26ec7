// Gradients of the poles of a bank: sums over tokens, found forward in time beside the states.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/run/poles/state.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// Gradients of the P poles of one head:
//   dL = Re sum_i (log_pole[i] d log p_i + sum_nj weight[(n P + i) columns + j] d c_nij),
// where n runs over the sequences if their weights differ (weighs_sequences()); otherwise there is
// one n, and its gradient is the sum over all sequences. The member poles(op, head, g) of a bank's
// gradients receives them once a head.
struct pole_gradients {
  index sequences, columns;
  std::complex<double> const *log_pole, *weight;
};
// How many sets of weights a head has: one for each sequence, or one for all.
template <pole_bank Op>
index weight_sets(Op const& op, index sequences) {
  return op.weighs_sequences() ? sequences : 1;
}
// Calls body(n, walks) for each set n of weights of a head; walks(take) calls take(walk) for the
// sequences of this set.
template <pole_bank Op, class Options, class Body>
void for_weight_sets(Op const& op, index head, Options const& options, Body const& body) {
  recurrence_shape const shape = op.shape();
  index const sequences = sequences_of(shape, options.packed), sets = weight_sets(op, sequences);
  for (index set = 0; set < sets; ++set)
    body(set, [&](auto const& take) {
      bool const one = op.weighs_sequences();
      for (index n = one ? set : 0; n < (one ? set + 1 : sequences); ++n)
        take(walk_of(n * shape.heads + head, shape, options, options.initial.positions));
    });
}

// M are the sums of a pole, D_n = sum_l l p^l x_{n-l} their derivatives by log p. The gradients by
// the weight c and by log p are sum_n dy_n M_n and c sum_n dy_n D_n. In double, tokens in blocks,
// pole by pole within a block.
template <pole_bank Op, class Out>
class pole_sensitivity {
 public:
  using vector = simd<double, simd_width<double>>;
  static constexpr bool leave = leaving_inputs<Op>;
  static constexpr index block = 64;

  pole_sensitivity(Op const& op, sequence_view<Out const> const& dy, index sequence, index head,
                   index first, index last)
      : op_(op),
        dy_(dy),
        columns_{first, last},
        poles_(op.poles()),
        reach_(op.reach(head)),
        stride_(row_stride_of<double>(last - first)),
        in_(block * stride_),
        out_(block * stride_),
        left_(block * stride_),
        ring_(reach_ * stride_),
        sums_(poles_ * per_pole * stride_),
        totals_(poles_ * 4 * stride_),
        sequence_(sequence),
        head_(head) {
    std::fill_n(totals_.data(), poles_ * 4 * stride_, 0.);
  }

  // Takes the tokens of one walk, from its initial state on.
  template <class State>
  void operator()(walk const& w, adjoint_options<State> const& options) const {
    pole_state<Op> const from(op_, head_, columns_.first, columns_.count());
    from.load(state_access<accumulate_type<Op>, State>{options.initial, {}, w.sequence, w.head});
    start(from);
    for (index k = 0; k < w.count;) {
      index count = std::min(block, w.count - k), slot = 0;
      if constexpr (leave) {
        slot = (w.position - 1 + k) % reach_;
        if (slot == 0) restart();
        count = std::min(count, reach_ - slot);
      }
      load(w, k, count, slot);
      for (index i = 0; i < poles_; ++i)
        for (index j = 0; j < columns_.padded(); j += vector::width) take(i, j, count);
      k += count;
    }
    if (options.final_gradient.present()) finish(w, options.final_gradient);
  }

  // Adds the sum over these columns to log_pole, [P], and writes them in weight, [P, V].
  void give(std::complex<double>* log_pole, std::complex<double>* weight, index columns) const {
    for (index i = 0; i < poles_; ++i)
      for (index j = 0; j < columns_.count(); ++j) {
        double const* const total = totals_.data() + i * 4 * stride_ + j;
        std::complex<double> const of_weight(total[0], total[stride_]),
            of_log(total[2 * stride_], total[3 * stride_]);
        weight[i * columns + columns_.first + j] = of_weight;
        log_pole[i] += multiply(op_.weight(sequence_, head_, i, columns_.first + j), of_log);
      }
    for (index i = 0; i < poles_; ++i) log_pole[i] += ends_[at(i)];
  }

 private:
  // Rows of a pole: M and D, real and imaginary parts; where inputs leave, also the M and D of the
  // second sums (pole_state).
  static constexpr index per_pole = leave ? 8 : 4;
  static std::size_t at(index i) { return static_cast<std::size_t>(i); }
  double* rows(index i) const { return sums_.data() + i * per_pole * stride_; }

  void start(pole_state<Op> const& from) const {
    std::fill_n(sums_.data(), poles_ * per_pole * stride_, 0.);
    for (index i = 0; i < poles_; ++i)
      for (index part = 0; part < 2; ++part)
        for (index j = 0; j < columns_.count(); ++j) {
          rows(i)[part * stride_ + j] =
              static_cast<double>(from.sums()[(2 * i + part) * from.stride() + j]);
          if constexpr (leave)
            rows(i)[(4 + part) * stride_ + j] =
                static_cast<double>(from.sums()[(2 * (poles_ + i) + part) * from.stride() + j]);
        }
    if constexpr (leave) {
      std::fill_n(ring_.data(), reach_ * stride_, 0.);
      for (index s = 0; s < reach_; ++s)
        for (index j = 0; j < columns_.count(); ++j)
          ring_.data()[s * stride_ + j] = static_cast<double>(from.ring(s)[j]);
    }
  }
  void restart() const {
    if constexpr (leave)
      for (index i = 0; i < poles_; ++i) {
        std::copy_n(rows(i) + 4 * stride_, 4 * stride_, rows(i));
        std::fill_n(rows(i) + 4 * stride_, 4 * stride_, 0.);
      }
  }

  void load(walk const& w, index k, index count, index slot) const {
    auto const values = op_.values();
    for (index t = 0; t < count; ++t) {
      auto const where = w.token(k + t);
      columns_.template load<false>(in_.data() + t * stride_, true, [&](index j) {
        return convert<double>(values.read(where, j));
      });
      columns_.template load<false>(out_.data() + t * stride_, true,
                                    [&](index j) { return convert<double>(dy_.read(where, j)); });
    }
    if constexpr (leave) {
      double* const ring = ring_.data() + slot * stride_;
      std::copy_n(ring, count * stride_, left_.data());
      std::copy_n(in_.data(), count * stride_, ring);
    }
  }

  struct parts {
    vector re, im;
    WANE_HOST_INLINE parts times(vector a, vector b) const {
      return {a * re - b * im, multiply_add(a, im, b * re)};
    }
    WANE_HOST_INLINE static parts load(double const* p, index stride) {
      return {vector::load(p), vector::load(p + stride)};
    }
    WANE_HOST_INLINE void store(double* p, index stride) const {
      re.store(p), im.store(p + stride);
    }
  };

  [[gnu::noinline]] void take(index i, index j, index count) const {
    std::complex<double> const p = op_.power(head_, i, 1);
    std::complex<double> const far = leave ? -op_.power(head_, i, reach_) : 0.;
    vector const a(p.real()), b(p.imag()), far_re(far.real()), far_im(far.imag());
    vector const reach(static_cast<double>(reach_));
    index const stride = stride_;
    double *const row = rows(i) + j, *const total = totals_.data() + i * 4 * stride + j;
    parts m = parts::load(row, stride), d = parts::load(row + 2 * stride, stride);
    parts of_m = parts::load(total, stride), of_d = parts::load(total + 2 * stride, stride);
    parts next_m = m, next_d = d;
    if constexpr (leave)
      next_m = parts::load(row + 4 * stride, stride),
      next_d = parts::load(row + 6 * stride, stride);
    auto const step = [&](parts& sum, parts& derivative, vector x) WANE_INLINE_LAMBDA {
      derivative = parts{derivative.re + sum.re, derivative.im + sum.im}.times(a, b);
      sum = sum.times(a, b);
      sum.re += x;
    };
    for (index t = 0; t < count; ++t) {
      vector const x = vector::load(in_.data() + t * stride + j),
                   dy = vector::load(out_.data() + t * stride + j);
      step(m, d, x);
      if constexpr (leave) {
        step(next_m, next_d, x);
        vector const left = vector::load(left_.data() + t * stride + j), often = reach * left;
        m = {multiply_add(far_re, left, m.re), multiply_add(far_im, left, m.im)};
        d = {multiply_add(far_re, often, d.re), multiply_add(far_im, often, d.im)};
      }
      of_m = {multiply_add(dy, m.re, of_m.re), multiply_add(dy, m.im, of_m.im)};
      of_d = {multiply_add(dy, d.re, of_d.re), multiply_add(dy, d.im, of_d.im)};
    }
    m.store(row, stride), d.store(row + 2 * stride, stride);
    of_m.store(total, stride), of_d.store(total + 2 * stride, stride);
    if constexpr (leave)
      next_m.store(row + 4 * stride, stride), next_d.store(row + 6 * stride, stride);
  }

  // Adds the gradient by log p of the part of the loss that depends on the final state.
  template <class State>
  void finish(walk const& w, state_view<State const> const& gradient) const {
    for (index i = 0; i < poles_; ++i)
      for (index j = 0; j < columns_.count(); ++j)
        for (index part = 0; part < (leave ? 2 : 1); ++part) {
          std::complex<double> const g(
              gradient.values(w.sequence, w.head, i + part * poles_, columns_.first + j));
          double const* const d = rows(i) + (4 * part + 2) * stride_ + j;
          ends_[at(i)] += multiply(conjugate(g), {d[0], d[stride_]});
        }
  }

  Op const& op_;
  sequence_view<Out const> const& dy_;
  panel_columns<double, 1> const columns_;
  index const poles_, reach_, stride_;
  aligned_numbers<double> const in_, out_, left_, ring_, sums_, totals_;
  index const sequence_, head_;
  mutable std::vector<std::complex<double>> ends_ =
      std::vector<std::complex<double>>(at(poles_), std::complex<double>());
};

}  // namespace wane::impl
