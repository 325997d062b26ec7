// linear_recurrence as others write it: the plain loop, the loop in Eigen, the same in wider type.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/eigen.hpp"
#include "shared/larger.hpp"
#include "wane/operators/linear_recurrence.hpp"

namespace wane::bench {

// Arrays of [T, C]. The adjoint uses gradient, decay_gradient and drive_gradient.
template <class T>
struct linear_arrays {
  index tokens, channels;
  T const *decay, *drive, *gradient;
  T *output, *decay_gradient, *drive_gradient;
};

template <decay_as Form, class T>
T factor_of(T stored) {
  if constexpr (Form == decay_as::log)
    return std::exp(stored);
  else
    return stored;
}

// h_t = w_t h_{t-1} + b_t, token by token.
template <decay_as Form, class T>
void plain_forward(linear_arrays<T> const& p) {
  T const* __restrict a = p.decay, * __restrict b = p.drive;
  T* __restrict const y = p.output;
  if (p.channels == 1) {
    T h = 0;
    for (index t = 0; t < p.tokens; ++t) y[t] = h = factor_of<Form>(a[t]) * h + b[t];
    return;
  }
  std::vector<T> state(static_cast<std::size_t>(p.channels));
  T* __restrict const h = state.data();
  for (index t = 0, i = 0; t < p.tokens; ++t, i += p.channels)
    for (index c = 0; c < p.channels; ++c)
      y[i + c] = h[c] = factor_of<Form>(a[i + c]) * h[c] + b[i + c];
}

// g_t = dy_t + w_{t+1} g_{t+1}; db = g, dw = g h_{t-1} (times w for a log); h is given.
template <decay_as Form, class T>
void plain_backward(linear_arrays<T> const& p) {
  index const channels = p.channels;
  T const* __restrict a = p.decay, * __restrict dy = p.gradient, * __restrict h = p.output;
  T* __restrict da = p.decay_gradient, * __restrict db = p.drive_gradient;
  std::vector<T> carried(static_cast<std::size_t>(channels)), none(carried);
  T* __restrict const carry = carried.data();
  for (index t = p.tokens - 1; t >= 0; --t) {
    index const i = t * channels;
    T const* const before = t > 0 ? h + i - channels : none.data();
    for (index c = 0; c < channels; ++c) {
      T const w = factor_of<Form>(a[i + c]), g = dy[i + c] + carry[c];
      db[i + c] = g;
      da[i + c] = g * before[c] * (Form == decay_as::log ? w : T(1));
      carry[c] = w * g;
    }
  }
}

template <class T>
using eigen_rows = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using eigen_row = Eigen::Array<T, 1, Eigen::Dynamic>;

template <decay_as Form, class T>
void eigen_forward(linear_arrays<T> const& p) {
  Eigen::Map<eigen_rows<T> const> const a(p.decay, p.tokens, p.channels),
      b(p.drive, p.tokens, p.channels);
  Eigen::Map<eigen_rows<T>> y(p.output, p.tokens, p.channels);
  eigen_row<T> h = eigen_row<T>::Zero(p.channels);
  for (index t = 0; t < p.tokens; ++t) {
    if constexpr (Form == decay_as::log)
      h = a.row(t).exp() * h + b.row(t);
    else
      h = a.row(t) * h + b.row(t);
    y.row(t) = h;
  }
}

template <decay_as Form, class T>
void eigen_backward(linear_arrays<T> const& p) {
  Eigen::Map<eigen_rows<T> const> const a(p.decay, p.tokens, p.channels),
      dy(p.gradient, p.tokens, p.channels), h(p.output, p.tokens, p.channels);
  Eigen::Map<eigen_rows<T>> da(p.decay_gradient, p.tokens, p.channels),
      db(p.drive_gradient, p.tokens, p.channels);
  eigen_row<T> carry = eigen_row<T>::Zero(p.channels), w;
  for (index t = p.tokens - 1; t >= 0; --t) {
    w = a.row(t);
    if constexpr (Form == decay_as::log) w = w.exp();
    db.row(t) = dy.row(t) + carry;
    if (t == 0)
      da.row(t).setZero();
    else if constexpr (Form == decay_as::log)
      da.row(t) = db.row(t) * h.row(t - 1) * w;
    else
      da.row(t) = db.row(t) * h.row(t - 1);
    carry = w * db.row(t);
  }
}

// Largest difference over largest value, of everything that was added.
class difference {
 public:
  template <class Wide>
  void add(Wide is, Wide must_be) {
    largest_ = larger(largest_, static_cast<double>(std::abs(is - must_be)));
    scale_ = std::max(scale_, static_cast<double>(std::abs(must_be)));
  }
  double relative() const { return largest_ / scale_; }

 private:
  double largest_ = 0, scale_ = 0;
};

// Errors of up to eight channels, against the plain loops in a wider type.
template <decay_as Form, class T>
double linear_error(linear_arrays<T> const& p, bool backward) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  difference of_first, of_second;
  auto const n = static_cast<std::size_t>(p.tokens);
  for (index c = 0; c < p.channels; c += std::max<index>(1, p.channels / 8)) {
    std::vector<Wide> a(n), b(n), dy(n), h(n), da(backward ? n : 0), db(backward ? n : 0);
    for (index t = 0; t < p.tokens; ++t) {
      index const i = t * p.channels + c;
      auto const k = static_cast<std::size_t>(t);
      a[k] = p.decay[i], b[k] = p.drive[i];
      if (backward) dy[k] = p.gradient[i];
    }
    linear_arrays<Wide> const wide{p.tokens,  1,        a.data(),  b.data(),
                                   dy.data(), h.data(), da.data(), db.data()};
    plain_forward<Form>(wide);
    if (backward) plain_backward<Form>(wide);
    for (index t = 0; t < p.tokens; ++t) {
      index const i = t * p.channels + c;
      auto const k = static_cast<std::size_t>(t);
      if (backward) {
        of_first.add(Wide(p.decay_gradient[i]), da[k]);
        of_second.add(Wide(p.drive_gradient[i]), db[k]);
      } else {
        of_first.add(Wide(p.output[i]), h[k]);
      }
    }
  }
  return backward ? std::max(of_first.relative(), of_second.relative()) : of_first.relative();
}

}  // namespace wane::bench
