// laplace: the short-time Laplace transform of STLT, read out linearly.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "wane/core/recurrence/poles.hpp"
#include "wane/operators/parts/laplace_gradients.hpp"
#include "wane/spectra/nodes/window_terms.hpp"

namespace wane {

// Z_nj = Re sum_k m_k C_kj L_nkj,   L_nkj = sum_{l>=0} w(l; W) r_k^l x_{n-l,j},   r_k = e^{-s_k}
//
//   using hann = wane::laplace<float, wane::spectra::window_shape::hann>;
//   wane::run(hann({.value = x}, {.sigma = {sigma, H, S}, .omega = {omega, H, S},
//                                 .read_out = {read_out, H, S, 1}, .width = {width, H}}), z);
//
// (STLT, arXiv 2506.15714, eq. (4), with window and decay counted from the present token. The paper
// counts them from the first token, docs/errata.md.) A window is a sum of exponentials in l, so
// every node is a few poles (spectra/nodes/window_terms.hpp): 1 without a window or with an
// exponential or rectangular one, 3 with Hann's, 8 with the Gaussian.
//
// value: x, [B, T, H, V]; the output is Z, [B, T, H, V]. Accumulate is complex. Its parts hold
// states and sums: double for windows that end (rectangular, Hann), which subtract inputs,
// otherwise widened Io. The state is complex, [N, H, rows, V], with the poles of node k from row k
// terms() on. For windows that end it also holds a ring of inputs, whose start follows from the
// positions of the state (core/recurrence/poles.hpp). Throws wane::error when a shape does not fit.
template <class Io, spectra::window_shape Window = spectra::window_shape::none,
          class Accumulate =
              std::complex<std::conditional_t<spectra::is_cut(Window), double, widened<Io>>>,
          class Parameter = widened<Io>>
class laplace {
 public:
  using accumulate = Accumulate;
  using output = real_type<Accumulate>;
  using input = Io;
  using parameter = Parameter;
  using nodes = laplace_parameters<Parameter const>;
  static constexpr bool inputs_leave = spectra::is_cut(Window);
  static constexpr bool is_time_invariant = !inputs_leave;
  static constexpr bool has_window = Window != spectra::window_shape::none;
  static_assert(is_complex<Accumulate> && sizeof(Io) <= sizeof(output),
                "wane::laplace: Accumulate is complex, and its parts hold what an input holds");

  // Poles of a node.
  static constexpr index terms() {
    return static_cast<index>(spectra::window_terms(Window).size());
  }

  laplace(laplace_inputs<Io> const& in, nodes const& parameters)
      : nodes_(parameters), values_(in.value) {
    impl::check_given("value", values_), impl::check_given("sigma", nodes_.sigma);
    impl::check_given("omega", nodes_.omega), impl::check_given("read_out", nodes_.read_out);
    index const heads = values_.extent[2], count = nodes_.sigma.extent[1];
    require(count > 0, "sigma has nodes 0; it must have 1 or more");
    impl::check_laplace_node("sigma", nodes_.sigma, heads, count);
    impl::check_laplace_node("omega", nodes_.omega, heads, count);
    if (nodes_.mask.data)
      impl::check_laplace_masks("mask", nodes_.mask, nodes_.mask.extent[0], heads, count);
    if (!weighs_sequences()) nodes_.mask.stride[0] = 0;
    impl::check_laplace_read_out("read_out", nodes_.read_out, heads, count, values_.extent[3]);
    require(nodes_.sigma.data && nodes_.omega.data && nodes_.read_out.data,
            "sigma, omega or read_out has no data; they must point to their values");
    if constexpr (has_window) {
      check_extent("width", "heads", nodes_.width.extent[0], heads);
      require(nodes_.width.data, "width has no data; this window needs one for each head");
      if constexpr (inputs_leave)
        for (index h = 0; h < heads; ++h) {
          double const width = static_cast<double>(nodes_.width(h));
          require(width > 0 && width < 0x1p31, "width(", h, ") is ", width,
                  "; it must be above 0 and below 2^31");
          farthest_ = std::max(farthest_, reach(h));
        }
    }
  }

  void check_inputs() const {
    check("value", values_,
          {values_.extent[0], values_.extent[1], values_.extent[2], 1, values_.extent[3]});
  }

  // Throws wane::error for a node that grows or aliases, or a parameter that is NaN. Called by
  // every run on the host.
  void check_parameters() const {
    for (index h = 0; h < values_.extent[2]; ++h) {
      for (index k = 0; k < nodes_.sigma.extent[1]; ++k) {
        double const sigma = number(nodes_.sigma(h, k)), omega = number(nodes_.omega(h, k));
        require(sigma >= 0 && std::isfinite(sigma), "sigma(", h, ", ", k, ") is ", sigma,
                "; it must be finite and not negative");
        require(std::abs(omega) <= most_turn, "omega(", h, ", ", k, ") is ", omega,
                "; it must be within pi, or it aliases");
        for (index n = 0; nodes_.mask.data && n < nodes_.mask.extent[0]; ++n)
          require(nodes_.mask(n, h, k) == nodes_.mask(n, h, k), "mask(", n, ", ", h, ", ", k,
                  ") is NaN; it must be a number");
        if (auto const c = read_outs(h, k * terms()); !is_finite(c))
          for (index j = 0; j < c.extent[0]; ++j)
            require(c(j) == c(j), "read_out(", h, ", ", k, ", ", j,
                    ") is NaN; it must be a number");
      }
      if constexpr (inputs_leave)
        require(nodes_.width(h) <= static_cast<double>(farthest_), "width(", h, ") is ",
                nodes_.width(h), ", but states were made for ", farthest_,
                " inputs; make the operator anew where a window grows");
      if constexpr (has_window)
        require(nodes_.width(h) > 0, "width(", h, ") is ", nodes_.width(h), "; it must be above 0");
    }
  }

  // Throws wane::error unless there is one mask for all sequences, or one for each.
  void check_sequences(index sequences) const {
    if (nodes_.mask.data)
      impl::check_laplace_masks("mask", nodes_.mask, sequences, nodes_.sigma.extent[0],
                                nodes_.sigma.extent[1]);
  }

  WANE_HOST_DEVICE recurrence_shape shape() const {
    index rows = poles();
    if constexpr (inputs_leave) rows = 2 * rows + impl::input_ring<Io, Accumulate>::rows(farthest_);
    return {values_.extent[0], values_.extent[1], values_.extent[2], rows, values_.extent[3]};
  }
  wane::layout layout() const { return layout_of(values_); }
  bool counts_positions() const { return inputs_leave; }  // a token's slot of the ring

  // The operator on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE laplace with_tensors(Moved const& moved) const {
    laplace op = *this;
    op.nodes_.sigma = moved.whole(nodes_.sigma), op.nodes_.omega = moved.whole(nodes_.omega);
    op.nodes_.read_out = moved.whole(nodes_.read_out);
    op.nodes_.width = moved.whole(nodes_.width), op.nodes_.mask = moved.whole(nodes_.mask);
    op.values_ = moved.by_column(values_);
    return op;
  }

  // The operator for the future side with time reversed: Re C conj(r)^l = Re conj(C) r^l.
  laplace future(future_phase phase = future_phase::conjugate) const {
    laplace op = *this;
    op.conjugated_ = conjugated_ != (phase == future_phase::conjugate);
    return op;
  }

  // The interface of a bank of poles (core/recurrence/poles.hpp).
  sequence_view<Io const> const& values() const { return values_; }
  WANE_HOST_DEVICE index poles() const { return nodes_.sigma.extent[1] * terms(); }
  index reach(index head) const {
    if constexpr (inputs_leave) return static_cast<index>(std::ceil(width_of(head)));
    return 0;
  }
  template <class Real = double>
  std::complex<Real> power(index head, index i, index n) const {
    index const k = i / terms();
    auto const lag = static_cast<Real>(n);
    std::complex<Real> const alone = impl::power_of<Real>(
        -static_cast<Real>(nodes_.sigma(head, k)), -static_cast<Real>(nodes_.omega(head, k)), lag);
    if constexpr (!has_window) return alone;
    std::complex<Real> const exponent(term(i).exponent);
    return multiply(alone, impl::power_of<Real>(exponent.real(), exponent.imag(),
                                                lag / static_cast<Real>(width_of(head))));
  }
  // power(head, first + l, n) in lane l. Lanes behind the last pole repeat it.
  template <int W>
  impl::complex_lanes<W> powers(index head, index first, index n) const {
    simd<double, W> rate, angle, rate_of_window, angle_of_window;
    for (int l = 0; l < W; ++l) {
      index const i = std::min(first + l, poles() - 1), k = i / terms();
      rate.v[l] = -number(nodes_.sigma(head, k)), angle.v[l] = -number(nodes_.omega(head, k));
      if constexpr (has_window)
        rate_of_window.v[l] = term(i).exponent.real(),
        angle_of_window.v[l] = term(i).exponent.imag();
    }
    auto const lag = static_cast<double>(n);
    auto const alone = impl::power_of(rate, angle, simd<double, W>(lag));
    if constexpr (!has_window)
      return alone;
    else
      return alone *
             impl::power_of(rate_of_window, angle_of_window, simd<double, W>(lag / width_of(head)));
  }
  std::complex<double> weight(index sequence, index head, index i, index j) const {
    return weight_as<double>(sequence, head, i, j);
  }
  // c_ij is the number j of read_outs(head, i), conjugated where is_conjugated(), times this
  // factor.
  std::complex<double> weight_of_read_out(index sequence, index head, index i) const {
    return weighted<double>(sequence, head, i, 1.);
  }
  view<std::complex<Parameter> const, 1> read_outs(index head, index i) const {
    return {&nodes_.read_out(head, i / terms(), 0),
            {nodes_.read_out.extent[2]},
            {nodes_.read_out.stride[2]}};
  }
  WANE_HOST_DEVICE bool weighs_columns() const { return nodes_.read_out.extent[2] > 1; }
  bool weighs_sequences() const { return nodes_.mask.data && nodes_.mask.extent[0] != 1; }

  // The same nodes with C = 1: their weights are those of the coefficients m_k L_k.
  laplace before_read_out() const {
    static std::complex<Parameter> const one(1);
    laplace op = *this;
    op.nodes_.read_out = {&one, {values_.extent[2], nodes_.sigma.extent[1], 1}, {0, 0, 0}};
    return op;
  }

  // The interface of an affine recurrence, for windows that do not end.
  struct token {
    laplace const& op;
    place<> where;

    WANE_HOST_DEVICE Accumulate log_decay(index i) const { return op.log_pole(where.head, i); }
    WANE_HOST_DEVICE Accumulate query(index i, index j) const {
      return op.template weight_as<real_type<Accumulate>>(where.sequence, where.head, i, j);
    }
    WANE_HOST_DEVICE Accumulate value(index j) const {
      return Accumulate(convert<real_type<Accumulate>>(op.values_.read(where, j)));
    }
  };
  WANE_INLINE token at(place<> where) const requires(!inputs_leave) { return {*this, where}; }

  // See check_values.
  void each_number(place<> where, auto const& visit) const {
    for (index j = 0; j < values_.extent[3]; ++j)
      visit("value", j, convert<output>(values_.read(where, j)));
  }

  // The step of the recurrence for windows that end.
  template <class State, class Write>
  requires inputs_leave void advance(place<> where, view<State, 2> state,
                                     Write const& write) const {
    impl::advance_poles(*this, where, state, write);
  }

  using gradients = impl::laplace_gradients<laplace>;
  using pole_gradients = impl::laplace_pole_gradients<laplace>;

  // A width below 2^-20 counts as 2^-20: it covers one token too, and pi/W stays finite.
  WANE_HOST_DEVICE double width_of(index head) const {
    double const width = number(nodes_.width(head));
    return width > 0x1p-20 ? width : 0x1p-20;
  }
  // The parameters given to the constructor.
  nodes const& parameters() const { return nodes_; }
  bool is_conjugated() const { return conjugated_; }
  // The term of the window that belongs to pole i. Poles k terms() to (k + 1) terms() - 1 belong to
  // node k. (The array is local because device code cannot read an array of a namespace.)
  WANE_HOST_DEVICE static constexpr spectra::window_term term(index i) {
    constexpr auto all = [] {
      std::array<spectra::window_term, terms()> found{};
      for (std::size_t m = 0; m < found.size(); ++m) found[m] = spectra::window_terms(Window)[m];
      return found;
    }();
    if constexpr (terms() == 1) return all[0];
    return all[static_cast<std::size_t>(i % terms())];
  }

 private:
  static constexpr double most_turn = 0x1.921fb6p+1;  // pi, rounded up as float rounds it
  template <class Real>
  WANE_HOST_DEVICE std::complex<Real> weight_as(index sequence, index head, index i,
                                                index j) const {
    auto const read_out =
        convert<std::complex<Real>>(nodes_.read_out(head, i / terms(), weighs_columns() ? j : 0));
    return weighted(sequence, head, i, conjugated_ ? conjugate(read_out) : read_out);
  }
  // x times what weighs pole i beside the read-out.
  template <class Real>
  WANE_HOST_DEVICE std::complex<Real> weighted(index sequence, index head, index i,
                                               std::complex<Real> x) const {
    if constexpr (terms() > 1) x = multiply(x, convert<std::complex<Real>>(term(i).weight));
    if (nodes_.mask.data)
      x = multiply(x,
                   std::complex<Real>(static_cast<Real>(nodes_.mask(sequence, head, i / terms()))));
    return x;
  }
  WANE_HOST_DEVICE Accumulate log_pole(index head, index i) const {
    Accumulate const alone(-nodes_.sigma(head, i / terms()), -nodes_.omega(head, i / terms()));
    if constexpr (!has_window) return alone;
    auto const width = static_cast<real_type<Accumulate>>(width_of(head));
    auto const exponent = term(i).exponent;
    return add(alone, Accumulate(static_cast<real_type<Accumulate>>(exponent.real()) / width,
                                 static_cast<real_type<Accumulate>>(exponent.imag()) / width));
  }
  // Looks at whole vectors of a row, which most rows need only.
  static bool is_finite(view<std::complex<Parameter> const, 1> const& row) {
    return row.stride[0] == 1 && row.extent[0] > 1 &&
           impl::all_finite(reinterpret_cast<Parameter const*>(row.data), 2 * row.extent[0]);
  }
  static WANE_HOST_DEVICE double number(Parameter x) { return static_cast<double>(x); }

  nodes nodes_;
  sequence_view<Io const> values_;
  index farthest_ = 0;
  bool conjugated_ = false;
};

}  // namespace wane
