// Gates: log decays from the raw inputs and parameters of an architecture, with PoST's taper.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/named.hpp"
#include "wane/operators/gates/gate.hpp"
#include "wane/operators/gates/gate_adjoint.hpp"

namespace wane::impl {

// log w = rate logit
struct linear_form : gate_form {
  static constexpr char const* bias_name = "log_decay";
  static constexpr double largest_bias = 0;
  template <class V>
  WANE_INLINE gate_value<V> operator()(V rate, split_sum<V> logit) const {
    return {multiply(rate, logit.high), rate};
  }
};
// log w = -rate
struct rate_form : gate_form {
  template <class V>
  WANE_INLINE gate_value<V> operator()(V rate, split_sum<V>) const {
    using S = typename scalar_of_value<V>::type;
    return {-rate, V(S(0))};
  }
};
// log w = -rate softplus(logit)
struct softplus_form : gate_form {
  template <class V>
  WANE_INLINE gate_value<V> operator()(V rate, split_sum<V> logit) const {
    auto const x = softplus(logit);
    return {-multiply(rate, x.softplus), -multiply(rate, x.logistic)};
  }
};
// log w = rate log(sigmoid(logit)) / normaliser
struct log_sigmoid_form : gate_form {
  double inverse_normaliser;
  template <class V>
  WANE_INLINE gate_value<V> operator()(V rate, split_sum<V> logit) const {
    using S = typename scalar_of_value<V>::type;
    auto const x = softplus(split_sum<V>{-logit.high, -logit.low});
    V const part = multiply(rate, V(static_cast<S>(inverse_normaliser)));
    return {-multiply(part, x.softplus), multiply(part, x.logistic)};
  }
};
// log w = -e^{-1/2} sigmoid(logit), the taper in the logit
struct sigmoid_form : gate_form {
  static constexpr bool tapers_logit = true;
  template <class V>
  WANE_INLINE gate_value<V> operator()(V, split_sum<V> logit) const {
    using S = typename scalar_of_value<V>::type;
    auto const x = softplus(logit);
    V const w = multiply(x.logistic, V(static_cast<S>(-0.60653065971263342)));
    return {w, multiply(w, x.complement)};
  }
};

}  // namespace wane::impl

namespace wane {

//   wane::softplus_gate const gate(raw, {.log_rate = {A_log, H}, .bias = {dt_bias, H}});
//   wane::gated_delta_net const memory({.query = q, .key = k, .value = v, .strength = beta}, gate);
//
// A gate is of heads where its raw input is [B, T, H] (token_view) and of rows where it is
// [B, T, H, K] (sequence_view); constant gates are of heads. Parameters are [H], for gates of rows
// also [H, K]; log_rate and bias may be absent and then count as 0. Below, s = (t/T)^{-alpha},
// where t is the position of the token and T is trained_at of the taper. Log decays are <= 0, and
// -inf only where an input is infinite; NaN stays NaN. gate_adjoint() gives the gradients.

// log w = log_decay s: RetNet. gate_gradients::bias is the gradient of log_decay.
template <class T>
class constant_gate : public impl::gate_of<impl::linear_form, impl::no_raw<T>> {
 public:
  constant_gate(gate_parameter<T const> const& log_decay, wane::taper<T> const& taper = {})
      : impl::gate_of<impl::linear_form, impl::no_raw<T>>({}, {}, {}, log_decay, taper) {
    require(log_decay.present(), "log_decay has no data; it must point to its values");
  }
  template <std::convertible_to<view<T const, 1>> View>
  constant_gate(View const& log_decay) : constant_gate(gate_parameter<T const>(log_decay)) {}
};

// log w = -e^log_rate s: PoST's RetNet and GLA (Algorithm 4).
template <class T>
class constant_rate_gate : public impl::gate_of<impl::rate_form, impl::no_raw<T>> {
 public:
  constant_rate_gate(gate_parameter<T const> const& log_rate, wane::taper<T> const& taper = {})
      : impl::gate_of<impl::rate_form, impl::no_raw<T>>({}, {}, log_rate, {}, taper) {
    require(log_rate.present(), "log_rate has no data; it must point to its values");
  }
};

// log w = raw s: given log decays.
template <class Raw>
class tapered_gate : public impl::gate_of<impl::linear_form, Raw> {
  using T = typename Raw::wide;

 public:
  tapered_gate(Raw const& log_decay, wane::taper<T> const& taper)
      : impl::gate_of<impl::linear_form, Raw>({}, log_decay, {}, {}, taper) {}
};

// Any may be absent, and then counts as 0.
template <class T>
struct softplus_parameters {
  impl::by_name only = {};
  gate_parameter<T const> log_rate = {}, bias = {};
  wane::taper<T> taper = {};
};

// log w = -e^log_rate softplus(raw + bias) s: Gated DeltaNet and, with rows, Kimi Delta Attention,
// which call log_rate A_log and bias dt_bias.
template <class Raw>
class softplus_gate : public impl::gate_of<impl::softplus_form, Raw> {
  using T = typename Raw::wide;

 public:
  explicit softplus_gate(Raw const& raw, softplus_parameters<T> const& of = {})
      : impl::gate_of<impl::softplus_form, Raw>({}, raw, of.log_rate, of.bias, of.taper) {}
};

// Either may be absent, and then counts as 0.
template <class T>
struct sigmoid_parameters {
  impl::by_name only = {};
  gate_parameter<T const> bias = {};
  wane::taper<T> taper = {};
};

// log w = -e^{-1/2} sigmoid(bias + raw - alpha log(t/T)): RWKV-7, which calls bias w0, with PoST's
// taper (eq. 11).
template <class Raw>
class sigmoid_gate : public impl::gate_of<impl::sigmoid_form, Raw> {
  using T = typename Raw::wide;

 public:
  explicit sigmoid_gate(Raw const& raw, sigmoid_parameters<T> const& of = {})
      : impl::gate_of<impl::sigmoid_form, Raw>({}, raw, {}, of.bias, of.taper) {}
};

// log_rate and taper may be absent, and then count as 0.
template <class T>
struct log_sigmoid_parameters {
  impl::by_name only = {};
  double normaliser = 16;
  gate_parameter<T const> log_rate = {};
  wane::taper<T> taper = {};
};

// log w = e^log_rate s log(sigmoid(raw)) / normaliser: GLA; with log_rate and a taper, GLA's gate
// times PoST's constant rate.
template <class Raw>
class log_sigmoid_gate : public impl::gate_of<impl::log_sigmoid_form, Raw> {
  using T = typename Raw::wide;

 public:
  // Throws wane::error unless the normaliser is positive.
  explicit log_sigmoid_gate(Raw const& raw, log_sigmoid_parameters<T> const& of = {})
      : impl::gate_of<impl::log_sigmoid_form, Raw>({{}, 1 / of.normaliser}, raw, of.log_rate, {},
                                                   of.taper) {
    require(std::isfinite(of.normaliser) && of.normaliser > 0, "normaliser is ", of.normaliser,
            "; it must be positive");
  }
};

// A gate of a tensor that can be written reads it as one of constants.
template <class T, int Rank>
constant_gate(view<T, Rank> const&, taper<std::remove_const_t<T>> const& = {})
    -> constant_gate<std::remove_const_t<T>>;
template <class T, int Rank>
constant_rate_gate(view<T, Rank> const&, taper<std::remove_const_t<T>> const& = {})
    -> constant_rate_gate<std::remove_const_t<T>>;
template <class T, int Rank>
tapered_gate(view<T, Rank> const&, taper<widened<std::remove_const_t<T>>> const&)
    -> tapered_gate<view<T const, Rank>>;
template <class T, int Rank>
softplus_gate(view<T, Rank> const&,
              softplus_parameters<widened<std::remove_const_t<T>>> const& = {})
    -> softplus_gate<view<T const, Rank>>;
template <class T, int Rank>
sigmoid_gate(view<T, Rank> const&, sigmoid_parameters<widened<std::remove_const_t<T>>> const& = {})
    -> sigmoid_gate<view<T const, Rank>>;
template <class T, int Rank>
log_sigmoid_gate(view<T, Rank> const&,
                 log_sigmoid_parameters<widened<std::remove_const_t<T>>> const& = {})
    -> log_sigmoid_gate<view<T const, Rank>>;

}  // namespace wane

namespace wane::impl {

// Log decays [H], one for each head, stand for a constant gate.
template <class T>
struct gate_deduction<view<T, 1>> {
  using number = std::remove_const_t<T>;
  using gate = constant_gate<number>;
};

}  // namespace wane::impl
