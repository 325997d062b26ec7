// Problems for the law kit: random data for channels, banks and a user's memory, sliced in time.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>

#include "support/user_operators.hpp"
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
  // Of the tokens begin <= t < end; end < 0: of all from there on.
  sequence_view<T> gradient_view(index begin = 0, index end = -1) {
    sequence_view<T> const all(gradient.data(), extent[0], extent[1], extent[2], extent[3]);
    return all.tokens(begin, end < 0 ? extent[1] : end);
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
    return linear_recurrence<Form, T>(
        {.decay = decay.view().tokens(begin, end), .drive = drive.view().tokens(begin, end)});
  }
  std::array<std::span<T>, 2> inputs() { return {decay.values, drive.values}; }
  std::array<std::span<T>, 2> input_gradients() { return {decay.gradient, drive.gradient}; }
  typename linear_recurrence<Form, T>::gradients gradients(index begin = 0, index end = -1) {
    return {.decay = decay.gradient_view(begin, end), .drive = drive.gradient_view(begin, end)};
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
    return exponential_bank<T>({.value = values.view().tokens(begin, end),
                                .log_decay = table(log_decay),
                                .key = table(key),
                                .query = table(query),
                                .direct = {direct.values.data(), direct.extent[3]}});
  }
  std::array<std::span<T>, 5> inputs() {
    return {values.values, log_decay.values, key.values, query.values, direct.values};
  }
  std::array<std::span<T>, 5> input_gradients() {
    return {values.gradient, log_decay.gradient, key.gradient, query.gradient, direct.gradient};
  }
  typename exponential_bank<T>::gradients gradients(index begin = 0, index end = -1) {
    auto const to = [](random_tensor<T>& x) {
      return wane::view<T, 2>(x.gradient.data(), x.extent[2], x.extent[3]);
    };
    return {.value = values.gradient_view(begin, end),
            .log_decay = to(log_decay),
            .key = to(key),
            .query = to(query),
            .direct = {direct.gradient.data(), direct.extent[3]}};
  }

 private:
  static wane::view<T const, 2> table(random_tensor<T> const& x) {
    return {x.values.data(), x.extent[2], x.extent[3]};
  }
};

// A user's keyed memory that decays by row; what it erases, if anything, is small.
template <class T, support::erases Erase = support::erases::no>
struct user_memory_problem {
  using memory = support::keyed_memory<T, support::forgets::by_row, Erase>;
  std::mt19937_64 bits{3};
  random_tensor<T> query, key, value, decay, erase_read, erase_write;
  std::vector<T> direct, direct_gradient;

  user_memory_problem(index b, index t, index h, index k, index v)
      : query(b, t, h, k, bits),
        key(b, t, h, k, bits),
        value(b, t, h, v, bits),
        decay(random_tensor<T>(b, t, h, k, bits).as_log_decay()),
        erase_read(b, t, h, k, bits),
        erase_write(b, t, h, k, bits),
        direct(random_numbers<T>(static_cast<std::size_t>(h), bits)),
        direct_gradient(static_cast<std::size_t>(b * t * h)) {
    for (auto* x : {&erase_read.values, &erase_write.values})
      for (T& each : *x) each *= real_type<T>(0.3);
  }

  index time() const { return value.extent[1]; }
  memory make(index begin, index end) const {
    auto const part = [&](random_tensor<T> const& x) { return x.view().tokens(begin, end); };
    return {{part(query), part(key), part(value), part(decay), part(erase_read), part(erase_write),
             direct.data()}};
  }
  std::array<std::span<T>, 6> inputs() {
    return {query.values, key.values,        value.values,
            decay.values, erase_read.values, erase_write.values};
  }
  std::array<std::span<T>, 6> input_gradients() {
    return {query.gradient, key.gradient,        value.gradient,
            decay.gradient, erase_read.gradient, erase_write.gradient};
  }
  support::keyed_gradients<T> gradients(index begin = 0, index end = -1) {
    return {query.gradient_view(begin, end),
            key.gradient_view(begin, end),
            value.gradient_view(begin, end),
            decay.gradient_view(begin, end),
            erase_read.gradient_view(begin, end),
            erase_write.gradient_view(begin, end),
            {direct_gradient.data(), value.extent[0], value.extent[1], value.extent[2]}};
  }
};
template <class T>
using user_eraser_problem = user_memory_problem<T, support::erases::yes>;

}  // namespace wane::testing
