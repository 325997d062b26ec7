// Problems for the law kit: random data for each operator, sliced in time.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>

#include "support/keyed_operators.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/testing/compare.hpp"

namespace wane::testing {

// A tensor [B, T, H, C] of random numbers and its gradient.
template <class T>
struct random_tensor {
  index extent[4];
  std::vector<T> values, gradient;

  random_tensor(index b, index t, index h, index c, std::mt19937_64& bits)
      : extent{b, t, h, c},
        values(random_numbers<T>(static_cast<std::size_t>(b * t * h * c), bits)),
        gradient(values.size()) {}

  sequence_view<T const> view() const {
    return {values.data(), extent[0], extent[1], extent[2], extent[3]};
  }
  sequence_view<T> gradient_view() {
    return {gradient.data(), extent[0], extent[1], extent[2], extent[3]};
  }
  // Decays: logs with a negative real part, or the factors themselves.
  random_tensor as_log_decay() && {
    for (T& x : values) x = T(real_type<T>(-0.3)) * abs_real(x) + turn(x);
    return std::move(*this);
  }
  random_tensor as_factor() && {
    for (T& x : values) x = std::exp(T(real_type<T>(-0.3)) * abs_real(x) + turn(x));
    return std::move(*this);
  }

 private:
  static T abs_real(T x) { return T(std::abs(std::real(x))); }
  static T turn(T x) {
    if constexpr (is_complex<T>)
      return {0, std::imag(x)};
    else
      return 0;
  }
};

template <decay_as Form, class T>
struct linear_problem {
  std::mt19937_64 bits{1};
  random_tensor<T> decay, drive;

  linear_problem(index b, index t, index h, index c)
      : decay(Form == decay_as::log ? random_tensor<T>(b, t, h, c, bits).as_log_decay()
                                    : random_tensor<T>(b, t, h, c, bits).as_factor()),
        drive(b, t, h, c, bits) {}

  index time() const { return drive.extent[1]; }
  linear_recurrence<Form, T> make(index begin, index end) const {
    return {decay.view().tokens(begin, end), drive.view().tokens(begin, end)};
  }
  std::array<std::span<T>, 2> inputs() { return {decay.values, drive.values}; }
  std::array<std::span<T>, 2> input_gradients() { return {decay.gradient, drive.gradient}; }
  typename linear_recurrence<Form, T>::gradients gradients() {
    return {decay.gradient_view(), drive.gradient_view()};
  }
};

template <class T>
struct bank_problem {
  std::mt19937_64 bits{2};
  random_tensor<T> values, log_decay, key, query, direct;

  bank_problem(index b, index t, index h, index s, index c)
      : values(b, t, h, c, bits),
        log_decay(random_tensor<T>(1, 1, h, s, bits).as_log_decay()),
        key(1, 1, h, s, bits),
        query(1, 1, h, s, bits),
        direct(1, 1, 1, h, bits) {
    // Sums of terms of one sign, and decays that fade: the laws then hold to a few roundings.
    for (auto* x : {&key.values, &query.values})
      for (T& v : *x) v = T(real_type<T>(0.2) + std::abs(v));
    for (T& x : log_decay.values) x -= T(real_type<T>(0.05));
  }

  index time() const { return values.extent[1]; }
  exponential_bank<T> make(index begin, index end) const {
    return {{table(log_decay), table(key), table(query), {direct.values.data(), direct.extent[3]}},
            values.view().tokens(begin, end)};
  }
  std::array<std::span<T>, 5> inputs() {
    return {values.values, log_decay.values, key.values, query.values, direct.values};
  }
  std::array<std::span<T>, 5> input_gradients() {
    return {values.gradient, log_decay.gradient, key.gradient, query.gradient, direct.gradient};
  }
  typename exponential_bank<T>::gradients gradients() {
    auto const to = [](random_tensor<T>& x) {
      return wane::view<T, 2>(x.gradient.data(), x.extent[2], x.extent[3]);
    };
    return {values.gradient_view(),
            to(log_decay),
            to(key),
            to(query),
            {direct.gradient.data(), direct.extent[3]}};
  }

 private:
  static wane::view<T const, 2> table(random_tensor<T> const& x) {
    return {x.values.data(), x.extent[2], x.extent[3]};
  }
};

template <class T>
struct keyed_problem {
  std::mt19937_64 bits{3};
  random_tensor<T> gate, keys, queries, values;

  keyed_problem(index b, index t, index h, index k, index v)
      : gate(random_tensor<T>(b, t, h, k, bits).as_log_decay()),
        keys(b, t, h, k, bits),
        queries(b, t, h, k, bits),
        values(b, t, h, v, bits) {}

  index time() const { return values.extent[1]; }
  decay_by_row<T> make(index begin, index end) const {
    return {gate.view().tokens(begin, end), keys.view().tokens(begin, end),
            queries.view().tokens(begin, end), values.view().tokens(begin, end)};
  }
  std::array<std::span<T>, 4> inputs() {
    return {gate.values, keys.values, queries.values, values.values};
  }
  std::array<std::span<T>, 4> input_gradients() {
    return {gate.gradient, keys.gradient, queries.gradient, values.gradient};
  }
  typename decay_by_row<T>::gradients gradients() {
    return {gate.gradient_view(), keys.gradient_view(), queries.gradient_view(),
            values.gradient_view()};
  }
};

template <class T>
struct delta_problem {
  std::mt19937_64 bits{4};
  random_tensor<T> strength, keys, queries, values;
  mutable std::vector<delta_rule<T>> whole;

  delta_problem(index b, index t, index h, index k, index v)
      : strength(b, t, h, 1, bits),
        keys(b, t, h, k, bits),
        queries(b, t, h, k, bits),
        values(b, t, h, v, bits) {
    for (T& x : strength.values) x = T(0.5);
    for (auto k0 = keys.values.begin(); k0 != keys.values.end(); k0 += k) {
      double size = 0;
      for (index i = 0; i < k; ++i) size += static_cast<double>(std::norm(k0[i]));
      for (index i = 0; i < k; ++i) k0[i] /= static_cast<real_type<T>>(std::sqrt(size));
    }
  }

  index time() const { return values.extent[1]; }
  delta_rule<T> make(index begin, index end) const {
    auto const& e = strength.extent;
    token_view<T const> const b(strength.values.data(), e[0], e[1], e[2]);
    return {b.tokens(begin, end), keys.view().tokens(begin, end), queries.view().tokens(begin, end),
            values.view().tokens(begin, end)};
  }
  std::array<std::span<T>, 4> inputs() {
    return {strength.values, keys.values, queries.values, values.values};
  }
  std::array<std::span<T>, 4> input_gradients() {
    return {strength.gradient, keys.gradient, queries.gradient, values.gradient};
  }
  typename delta_rule<T>::gradients gradients() {
    whole = {make(0, time())};
    auto const& e = strength.extent;
    return {whole[0],
            {strength.gradient.data(), e[0], e[1], e[2]},
            keys.gradient_view(),
            queries.gradient_view(),
            values.gradient_view()};
  }
};

}  // namespace wane::testing
