// RWKV-4 as others write it: the plain loop over tokens and channels, and the loop in Eigen.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/eigen.hpp"
#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// Arrays of [T, C], parameters of [C]. The adjoint also uses dy and what follows it.
template <class T>
struct rwkv4_arrays {
  index tokens, channels;
  T const *key, *value, *log_decay, *bonus;
  T* y;
  T const* dy;
  T *to_key, *to_value, *to_log_decay, *to_bonus;
};

// One channel, or a row of channels: V is a number or an array of Eigen.
template <class V>
struct rwkv4_state {
  V a, b, p;
};
inline auto larger_of(auto const& a, auto const& b) {
  if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(a)>>)
    return std::max(a, b);
  else
    return a.max(b).eval();
}

// As transformers' rwkv_linear_attention_cpu: returns y.
template <class V>
V rwkv4_token(rwkv4_state<V>& s, auto const& k, auto const& v, auto const& g, auto const& u) {
  using std::exp;
  V const own = u + k, tau = larger_of(s.p, own);
  V const e1 = exp(s.p - tau), e2 = exp(own - tau);
  V const y = (e1 * s.a + e2 * v) / (e1 * s.b + e2);
  V const held = s.p + g, p = larger_of(held, V(k));
  V const f1 = exp(held - p), f2 = exp(k - p);
  s.a = f1 * s.a + f2 * v, s.b = f1 * s.b + f2, s.p = p;
  return y;
}
template <class V>
struct rwkv4_gradients {
  V key, value, log_decay, bonus;
};
// `before` is the state that the token found; a and b of `g` the gradients by the state.
template <class V>
rwkv4_gradients<V> rwkv4_token_back(rwkv4_state<V> const& s, rwkv4_state<V>& by, auto const& k,
                                    auto const& v, auto const& g, auto const& u, auto const& dy) {
  using std::exp;
  V const own = u + k, tau = larger_of(s.p, own);
  V const e1 = exp(s.p - tau), e2 = exp(own - tau), below = e1 * s.b + e2;
  V const y = (e1 * s.a + e2 * v) / below, scaled = dy / below, share = e2 * scaled * (v - y);
  V const held = s.p + g, p = larger_of(held, V(k));
  V const f1 = exp(held - p), f2 = exp(k - p);
  rwkv4_gradients<V> const found{share + f2 * (v * by.a + by.b), e2 * scaled + f2 * by.a,
                                 f1 * (s.a * by.a + s.b * by.b), share};
  by.a = f1 * by.a + e1 * scaled, by.b = f1 * by.b - e1 * scaled * y;
  return found;
}

template <class T>
void plain_forward(rwkv4_arrays<T> const& x) {
  std::vector<rwkv4_state<T>> state(static_cast<std::size_t>(x.channels), {0, 0, T(-1e38)});
  for (index t = 0, i = 0; t < x.tokens; ++t)
    for (index c = 0; c < x.channels; ++c, ++i)
      x.y[i] = rwkv4_token(state[static_cast<std::size_t>(c)], x.key[i], x.value[i], x.log_decay[c],
                           x.bonus[c]);
}
// The states before all tokens are kept.
template <class T>
void plain_backward(rwkv4_arrays<T> const& x) {
  auto const channels = static_cast<std::size_t>(x.channels);
  std::vector<rwkv4_state<T>> state(channels, {0, 0, T(-1e38)}), by(channels), kept;
  for (index t = 0, i = 0; t < x.tokens; ++t) {
    kept.insert(kept.end(), state.begin(), state.end());
    for (std::size_t c = 0; c < channels; ++c, ++i)
      rwkv4_token(state[c], x.key[i], x.value[i], x.log_decay[c], x.bonus[c]);
  }
  std::fill_n(x.to_log_decay, channels, T(0)), std::fill_n(x.to_bonus, channels, T(0));
  for (index t = x.tokens - 1; t >= 0; --t)
    for (std::size_t c = 0; c < channels; ++c) {
      std::size_t const i = static_cast<std::size_t>(t) * channels + c;
      auto const d = rwkv4_token_back(kept[i], by[c], x.key[i], x.value[i], x.log_decay[c],
                                      x.bonus[c], x.dy[i]);
      x.to_key[i] = d.key, x.to_value[i] = d.value;
      x.to_log_decay[c] += d.log_decay, x.to_bonus[c] += d.bonus;
    }
}

template <class T>
using rwkv4_row = Eigen::Array<T, 1, Eigen::Dynamic>;
template <class T, class Element>
auto row_of(rwkv4_arrays<T> const& x, Element* data, index t = 0) {
  return Eigen::Map<std::conditional_t<std::is_const_v<Element>, rwkv4_row<T> const, rwkv4_row<T>>>(
      data + t * x.channels, x.channels);
}
template <class T>
rwkv4_state<rwkv4_row<T>> rwkv4_begin(index channels, T p) {
  rwkv4_row<T> const zero = rwkv4_row<T>::Zero(channels);
  return {zero, zero, zero + p};
}
template <class T>
void eigen_forward(rwkv4_arrays<T> const& x) {
  auto state = rwkv4_begin(x.channels, T(-1e38));
  auto const g = row_of(x, x.log_decay), u = row_of(x, x.bonus);
  for (index t = 0; t < x.tokens; ++t)
    row_of(x, x.y, t) = rwkv4_token(state, row_of(x, x.key, t), row_of(x, x.value, t), g, u);
}
template <class T>
void eigen_backward(rwkv4_arrays<T> const& x) {
  auto state = rwkv4_begin(x.channels, T(-1e38)), by = rwkv4_begin(x.channels, T(0));
  auto const g = row_of(x, x.log_decay), u = row_of(x, x.bonus);
  std::vector<rwkv4_state<rwkv4_row<T>>> kept;
  for (index t = 0; t < x.tokens; ++t) {
    kept.push_back(state);
    rwkv4_token(state, row_of(x, x.key, t), row_of(x, x.value, t), g, u);
  }
  row_of(x, x.to_log_decay).setZero(), row_of(x, x.to_bonus).setZero();
  for (index t = x.tokens - 1; t >= 0; --t) {
    auto const d = rwkv4_token_back(kept[static_cast<std::size_t>(t)], by, row_of(x, x.key, t),
                                    row_of(x, x.value, t), g, u, row_of(x, x.dy, t));
    row_of(x, x.to_key, t) = d.key, row_of(x, x.to_value, t) = d.value;
    row_of(x, x.to_log_decay) += d.log_decay, row_of(x, x.to_bonus) += d.bonus;
  }
}

}  // namespace wane::bench
