// What the operators of wane are, written from their formulas and from nothing of wane.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

namespace support {

using index = std::int64_t;

// Which tokens a naive loop visits: [begin, end), from the last to the first when reverse.
struct span_of_time {
  index begin, end;
  bool reverse = false;

  template <class Body>
  void for_each(Body const& body) const {
    for (index k = 0; k < end - begin; ++k) body(reverse ? end - 1 - k : begin + k);
  }
};

// exp(x), and a reset that looks at nothing.
template <class Real>
Real decayed_by_log(Real log_decay, Real h) {
  using std::exp;
  if (log_decay == Real(-HUGE_VAL)) return Real(0);
  return exp(log_decay) * h;
}
template <class R>
std::complex<R> decayed_by_log(std::complex<R> log_decay, std::complex<R> h) {
  if (log_decay.real() == R(-HUGE_VAL)) return {};
  return std::exp(log_decay) * h;
}
template <class Real>
Real decayed_by_factor(Real factor, Real h) {
  return factor == Real(0) ? Real(0) : Real(factor * h);
}

// One channel of h_t = a_t h_{t-1} + b_t. decay(t), drive(t) are numbers, emit(t, h_t) takes the
// output; returns the last state.
template <bool Log, class Real, class Decay, class Drive, class Emit>
Real naive_channel(span_of_time time, Real h, Decay const& decay, Drive const& drive,
                   Emit const& emit) {
  time.for_each([&](index t) {
    if constexpr (Log)
      h = decayed_by_log(Real(decay(t)), h) + Real(drive(t));
    else
      h = decayed_by_factor(Real(decay(t)), h) + Real(drive(t));
    emit(t, h);
  });
  return h;
}

// The parameters of a bank for one head.
template <class Real>
struct naive_nodes {
  std::vector<Real> log_decay, key, query;
  Real direct = Real(0);
};

// One column of h_s <- lambda_s h_s + c_s v_t, y_t = sum_s q_s h_s + d v_t. emit(t, y, size) also
// takes the sum of the sizes of these terms.
template <class Real, class Value, class Emit>
void naive_bank(span_of_time time, naive_nodes<Real> const& nodes, std::vector<Real>& h,
                Value const& value, Emit const& emit) {
  time.for_each([&](index t) {
    Real const v = Real(value(t));
    using std::abs;
    Real y = nodes.direct * v;
    auto size = abs(y);
    for (std::size_t s = 0; s < h.size(); ++s) {
      h[s] = decayed_by_log(nodes.log_decay[s], h[s]) + nodes.key[s] * v;
      y += nodes.query[s] * h[s];
      size += abs(Real(nodes.query[s] * h[s]));
    }
    emit(t, y, size);
  });
}

}  // namespace support
