// Gradients of the poles under coefficients of nodes: sums over tokens, found forward in time.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/run/poles/coefficients.hpp"

namespace wane::impl {

// Loads the gradient of a node's coefficients into two rows, `stride` apart. It is conjugated for
// the past; the future, whose coefficient is conjugated, needs it as it is.
template <transform_side Side, class Out, class T, class Columns>
void load_node_gradient(sequence_view<Out const> const& dy, place<> at, index node, index channels,
                        Columns const& columns, T* to, index stride) {
  constexpr T sign = Side == transform_side::past ? T(-1) : T(1);
  index const re = 2 * node * channels, im = re + channels;
  columns.template load<false>(to, true, [&](index j) { return convert<T>(dy.read(at, re + j)); });
  columns.template load<false>(to + stride, true,
                               [&](index j) { return sign * convert<T>(dy.read(at, im + j)); });
}

// M are the sums of a pole, D their derivatives by log p, a its weight, G = dL/dcoefficient. On the
// past side the gradients by a and by log p are
//   sum_n conj(G_n) M_n   and   a sum_n conj(G_n) D_n.
// On the future side G_n takes the place of conj(G_n), and M_n leaves out lag 0. In double.
template <transform_side Side, node_coefficients Op, class Out>
class coefficient_sensitivity {
 public:
  using Bank = bank_of<Op>;
  using vector = simd<double, simd_width<double>>;
  static constexpr bool leave = leaving_inputs<Bank>;
  static constexpr index block = 16;

  coefficient_sensitivity(Op const& op, sequence_view<Out const> const& dy, index sequence,
                          index head, index first, index last)
      : bank_(op.bank()),
        dy_(dy),
        columns_{first, last},
        poles_(bank_.poles()),
        reach_(bank_.reach(head)),
        stride_(row_stride_of<double>(last - first)),
        in_(block * stride_),
        node_(2 * block * stride_),
        left_(block * stride_),
        ring_(reach_ * stride_),
        sums_(poles_ * per_pole * stride_),
        totals_(poles_ * 4 * stride_),
        sequence_(sequence),
        head_(head),
        ends_(static_cast<std::size_t>(poles_)) {
    std::fill_n(totals_.data(), poles_ * 4 * stride_, 0.);
  }

  // Takes the tokens of one walk, from its initial state on.
  template <class State>
  void operator()(walk const& w, adjoint_options<State> const& options) const {
    start(options.initial, w);
    for (index k = 0; k < w.count;) {
      index count = std::min(block, w.count - k), slot = 0;
      if constexpr (leave) {
        slot = (w.position - 1 + k) % reach_;
        if (slot == 0) restart();
        count = std::min(count, reach_ - slot);
      }
      take(w, k, count, slot);
      k += count;
    }
    if (options.final_gradient.present()) finish(w, options.final_gradient);
  }

  // Adds the gradients over these columns to one number a pole.
  void give(std::complex<double>* log_pole, std::complex<double>* weight) const {
    for (index i = 0; i < poles_; ++i) {
      std::complex<double> of_weight = 0, of_log = 0;
      for (index j = 0; j < columns_.count(); ++j) {
        double const* const total = totals_.data() + i * 4 * stride_ + j;
        of_weight += std::complex<double>(total[0], total[stride_]);
        of_log += std::complex<double>(total[2 * stride_], total[3 * stride_]);
      }
      weight[i] += of_weight;
      log_pole[i] += multiply(bank_.weight(sequence_, head_, i, 0), of_log) + end(i);
    }
  }

 private:
  // Rows of a pole: M and D, real and imaginary parts; where inputs leave, also the M and D of the
  // second sums (pole_state).
  static constexpr index per_pole = leave ? 8 : 4;
  double* rows(index i) const { return sums_.data() + i * per_pole * stride_; }
  std::complex<double>& end(index i) const { return ends_[static_cast<std::size_t>(i)]; }

  template <class State>
  void start(state_view<State const> const& initial, walk const& w) const {
    pole_state<Bank> const from(bank_, head_, columns_.first, columns_.count());
    from.load(state_access<accumulate_type<Bank>, State>{initial, {}, w.sequence, w.head});
    std::fill_n(sums_.data(), poles_ * per_pole * stride_, 0.);
    if constexpr (leave) std::fill_n(ring_.data(), reach_ * stride_, 0.);
    auto const copy = [&](auto const* numbers, double* to) {
      for (index j = 0; j < columns_.count(); ++j) to[j] = static_cast<double>(numbers[j]);
    };
    for (index i = 0; i < poles_; ++i)
      for (index part = 0; part < 2; ++part) {
        copy(from.sums() + (2 * i + part) * from.stride(), rows(i) + part * stride_);
        if constexpr (leave)
          copy(from.sums() + (2 * (poles_ + i) + part) * from.stride(),
               rows(i) + (4 + part) * stride_);
      }
    if constexpr (leave)
      for (index s = 0; s < reach_; ++s) copy(from.ring(s), ring_.data() + s * stride_);
  }
  void restart() const {
    for (index i = 0; i < poles_; ++i) {
      std::copy_n(rows(i) + 4 * stride_, 4 * stride_, rows(i));
      std::fill_n(rows(i) + 4 * stride_, 4 * stride_, 0.);
    }
  }

  void take(walk const& w, index k, index count, index slot) const {
    for (index t = 0; t < count; ++t) {
      auto const at = w.token(k + t);
      columns_.template load<false>(in_.data() + t * stride_, true, [&](index j) {
        return convert<double>(bank_.values().read(at, j));
      });
    }
    if constexpr (leave) {
      double* const ring = ring_.data() + slot * stride_;
      std::copy_n(ring, count * stride_, left_.data());
      std::copy_n(in_.data(), count * stride_, ring);
    }
    for (index node = 0; node < poles_ / Op::terms(); ++node) {
      for (index t = 0; t < count; ++t)
        load_node_gradient<Side>(dy_, w.token(k + t), node, bank_.values().extent[3], columns_,
                                 node_.data() + 2 * t * stride_, stride_);
      for (index i = node * Op::terms(); i < (node + 1) * Op::terms(); ++i)
        for (index j = 0; j < columns_.padded(); j += vector::width) add(i, j, count);
    }
  }

  struct parts {
    vector re, im;
    WANE_HOST_INLINE parts times(vector a, vector b) const {
      return {a * re - b * im, multiply_add(a, im, b * re)};
    }
    WANE_HOST_INLINE void add(parts const& x, parts const& y) {
      re = multiply_add(x.re, y.re, re - x.im * y.im);
      im = multiply_add(x.re, y.im, multiply_add(x.im, y.re, im));
    }
    WANE_HOST_INLINE static parts load(double const* p, index stride) {
      return {vector::load(p), vector::load(p + stride)};
    }
    WANE_HOST_INLINE void store(double* p, index stride) const {
      re.store(p), im.store(p + stride);
    }
  };

  [[gnu::noinline]] void add(index i, index j, index count) const {
    std::complex<double> const p = bank_.power(head_, i, 1);
    std::complex<double> const far = leave ? -bank_.power(head_, i, reach_) : 0.;
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
      vector const x = vector::load(in_.data() + t * stride + j);
      parts const g = parts::load(node_.data() + 2 * t * stride + j, stride);
      step(m, d, x);
      if constexpr (leave) {
        step(next_m, next_d, x);
        vector const left = vector::load(left_.data() + t * stride + j), often = reach * left;
        m = {multiply_add(far_re, left, m.re), multiply_add(far_im, left, m.im)};
        d = {multiply_add(far_re, often, d.re), multiply_add(far_im, often, d.im)};
      }
      of_m.add(g, Side == transform_side::past ? m : parts{m.re - x, m.im});
      of_d.add(g, d);
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
          end(i) += multiply(conjugate(g), {d[0], d[stride_]});
        }
  }

  Bank const bank_;
  sequence_view<Out const> const dy_;
  panel_columns<double, 1> const columns_;
  index const poles_, reach_, stride_;
  aligned_numbers<double> const in_, node_, left_, ring_, sums_, totals_;
  index const sequence_, head_;
  mutable std::vector<std::complex<double>> ends_;
};

}  // namespace wane::impl
