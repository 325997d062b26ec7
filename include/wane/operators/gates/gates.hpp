// Gates: what turns an architecture's raw inputs and parameters into log decays, with PoST's taper.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/gate_adjoint.hpp"

namespace wane::impl {

// Each of these is a gate of heads where its raw input is [B, T, H] (token_view), of rows where it
// is [B, T, H, K] (sequence_view); constant gates are of heads. Parameters are [H], for gates of
// rows also [H, K]; log_rate and bias may be absent, and are then 0. With t the position and T the
// length that a taper counts from, s = (t/T)^{-alpha}. Log decays are <= 0, and -inf only where
// the input asks for it; NaN stays NaN. gate_adjoint has the gradients.

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

// log w = log_decay s: RetNet. (gate_adjoint calls the gradient of log_decay that of bias.)
template <class T>
class constant_gate : public impl::gate_of<impl::linear_form, impl::no_raw<T>> {
 public:
  constant_gate(gate_parameter<T const> const& log_decay, wane::taper<T> const& taper = {})
      : impl::gate_of<impl::linear_form, impl::no_raw<T>>({}, {}, {}, log_decay, taper) {
    require(log_decay.present(), "log_decay has no data; it must point to its values");
  }
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

// log w = raw s: log decays that somebody else computed.
template <class Raw>
class tapered_gate : public impl::gate_of<impl::linear_form, Raw> {
  using T = typename Raw::wide;

 public:
  tapered_gate(Raw const& log_decay, wane::taper<T> const& taper)
      : impl::gate_of<impl::linear_form, Raw>({}, log_decay, {}, {}, taper) {}
};

// log w = -e^log_rate softplus(raw + bias) s: Gated DeltaNet's, and by row that of Kimi Delta
// Attention, whose log_rate is called A_log and whose bias dt_bias.
template <class Raw>
class softplus_gate : public impl::gate_of<impl::softplus_form, Raw> {
  using T = typename Raw::wide;

 public:
  softplus_gate(Raw const& raw, gate_parameter<T const> const& log_rate,
                gate_parameter<T const> const& bias = {}, wane::taper<T> const& taper = {})
      : impl::gate_of<impl::softplus_form, Raw>({}, raw, log_rate, bias, taper) {}
};

// log w = -e^{-1/2} sigmoid(bias + raw - alpha log(t/T)): RWKV-7's, whose bias is called w0, with
// PoST's taper (eq. 11).
template <class Raw>
class sigmoid_gate : public impl::gate_of<impl::sigmoid_form, Raw> {
  using T = typename Raw::wide;

 public:
  sigmoid_gate(Raw const& raw, gate_parameter<T const> const& bias = {},
               wane::taper<T> const& taper = {})
      : impl::gate_of<impl::sigmoid_form, Raw>({}, raw, {}, bias, taper) {}
};

// log w = e^log_rate s log(sigmoid(raw)) / normaliser: GLA's, and with log_rate and a taper PoST's
// constant decay times it.
template <class Raw>
class log_sigmoid_gate : public impl::gate_of<impl::log_sigmoid_form, Raw> {
  using T = typename Raw::wide;

 public:
  // Throws wane::error unless the normaliser is positive.
  log_sigmoid_gate(Raw const& raw, double normaliser = 16,
                   gate_parameter<T const> const& log_rate = {}, wane::taper<T> const& taper = {})
      : impl::gate_of<impl::log_sigmoid_form, Raw>({{}, 1 / normaliser}, raw, log_rate, {}, taper) {
    require(std::isfinite(normaliser) && normaliser > 0, "normaliser is ", normaliser,
            "; it must be positive");
  }
};

}  // namespace wane
