// gate_of: base of the gates, a function of a rate and a logit with its input and parameters.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/operators/gates/taper.hpp"

namespace wane::impl {

// Stands for the raw input of a gate without one.
template <class T>
struct no_raw {
  using value_type = T;
  using wide = T;
};
template <class Raw>
inline constexpr bool is_by_row = false;
template <class T>
inline constexpr bool is_by_row<sequence_view<T>> = true;

// A log decay and its derivative by the logit.
template <class V>
struct gate_value {
  V log_decay, slope;
};

// Defaults of the constants that a form may redefine.
struct gate_form {
  static constexpr bool tapers_logit = false;
  static constexpr char const* bias_name = "bias";
  static constexpr double largest_bias = std::numeric_limits<double>::infinity();
};

// log w = Form(rate, logit),   rate = e^log_rate (t/T)^{-alpha},   logit = raw + bias,
// or, where Form::tapers_logit,   rate = e^log_rate,   logit = raw + bias - alpha log(t/T).
//
// raw is [B, T, H] in a gate of heads, [B, T, H, K] in a gate of rows, and no_raw in a constant
// gate of heads. Absent parameters count as 0. A Form has operator()(rate, logit), which returns a
// gate_value for numbers and for lanes.
template <class Form, class Raw>
class gate_of {
 public:
  using raw_type = Raw;
  using T = typename Raw::wide;
  using parameter = gate_parameter<T const>;
  static constexpr bool by_row = is_by_row<Raw>;
  static constexpr bool has_raw = !std::is_same_v<Raw, no_raw<T>>;

  gate_of(Form const& form, Raw const& raw, parameter const& log_rate, parameter const& bias,
          wane::taper<T> const& taper)
      : form_(form), raw_(raw), log_rate_(log_rate), bias_(bias), taper_(taper) {}

  // The gate at one token.
  struct token {
    gate_of const& gate;
    place<> where;
    split_sum<T> log_position;

    WANE_INLINE T read() const requires(!by_row) { return value(index{0}).log_decay; }
    template <class Row>
    WANE_INLINE auto read(Row i) const requires by_row {
      return value(i).log_decay;
    }
    template <class Row>
    WANE_INLINE auto value(Row i) const {
      using V = number_at<T, Row>;
      split_sum<V> logit{V(T(0)), V(T(0))}, log_rate = logit;
      if constexpr (by_row)
        logit.high = gate.raw_.read(where, i);
      else if constexpr (has_raw)
        logit.high = gate.raw_.read(where);
      if (gate.bias_.present()) logit = plus(logit, gate.bias_.read(where.head, i));
      bool const stretches = gate.taper_.exponents.present(), scales = gate.log_rate_.present();
      if (scales) log_rate.high = gate.log_rate_.read(where.head, i);
      if (stretches) {
        split_sum<V>& tapered = Form::tapers_logit ? logit : log_rate;
        split_sum<V> const log_t{V(log_position.high), V(log_position.low)};
        tapered = plus(tapered, product(-gate.taper_.exponents.read(where.head, i), log_t));
      }
      bool const is_one = !scales && (Form::tapers_logit || !stretches);
      return gate.form_(is_one ? V(T(1)) : exponential(log_rate), logit);
    }
  };
  WANE_INLINE token at(place<> where) const {
    return {*this, where, taper_.log_position(where.position)};
  }
  WANE_INLINE T read(place<> where) const requires(!by_row) { return at(where).read(); }
  template <class Row>
  WANE_INLINE auto read(place<> where, Row i) const requires by_row {
    return at(where).read(i);
  }

  bool counts_positions() const { return taper_.exponents.present(); }

  // Throws wane::error where a tensor does not fit; reads no values.
  void check(recurrence_shape const& shape) const {
    if constexpr (has_raw) wane::check("the gate's input", raw_, shape_of_rows(shape));
    index const rows = by_row ? shape.rows : 1;
    log_rate_.check("log_rate", shape.heads, rows);
    bias_.check(Form::bias_name, shape.heads, rows);
    taper_.check(shape.heads, rows);
  }
  // Throws wane::error for a NaN, or an exponent of the taper outside [0, 1].
  void check_parameters() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    log_rate_.check_range("log_rate", -infinity, infinity);
    bias_.check_range(Form::bias_name, -infinity, Form::largest_bias);
    taper_.check_parameters();
  }
  // Throws wane::error unless a gradient that is present has the shape of its parameter.
  void check_gradients(auto const& to) const {
    to.log_rate.check_as("log_rate", log_rate_);
    to.bias.check_as(Form::bias_name, bias_);
    to.taper.check_as("the taper", taper_.exponents);
  }
  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    if constexpr (has_raw) raw_ = moved.whole(raw_);
    for (parameter* x : {&log_rate_, &bias_, &taper_.exponents}) x->values = moved.whole(x->values);
  }
  wane::layout layout() const {
    if constexpr (by_row)
      return layout_of(raw_);
    else
      return {true, true, true};
  }

 private:
  Form form_;
  Raw raw_;
  parameter log_rate_, bias_;
  wane::taper<T> taper_;
};

}  // namespace wane::impl
