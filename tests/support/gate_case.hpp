// One head and row of every gate, by its definition in long double.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/operators/gates/gates.hpp"

namespace support {

using wane::index;

struct gate_numbers {
  long double raw = 0, log_rate = 0, bias = 0, alpha = 0, log_t = 0;

  static long double softplus(long double x) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  long double stretch() const { return std::exp(-alpha * log_t); }
  long double rate() const { return std::exp(log_rate - alpha * log_t); }
  long double logit() const { return raw + bias; }

  long double constant() const { return bias * stretch(); }
  long double constant_rate() const { return -rate(); }
  long double tapered() const { return raw * stretch(); }
  long double softplus_gate() const { return -rate() * softplus(logit()); }
  long double log_sigmoid() const { return -rate() * softplus(-raw) / 16; }
  long double sigmoid() const {
    return -std::exp(-0.5L) / (1 + std::exp(-(logit() - alpha * log_t)));
  }
};

// One number as a parameter of one head, or as the raw input of one token.
template <class T>
wane::view<T const, 1> of_head(T const& x) {
  return {&x, 1};
}
template <class T>
wane::token_view<T const> of_token(T const& x) {
  return {&x, 1, 1, 1};
}

}  // namespace support
