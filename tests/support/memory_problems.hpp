// Problems for the law kit: the keyed memories on random data, sliced in time, with gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/problems.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/operators/vla_delta_net.hpp"

namespace wane::testing {

struct memory_size {
  index batch, time, heads, rows, columns;
  index groups = 0;  // of query and key heads; 0 for as many as heads
  keyed_options options = {};
  bool in_groups() const { return groups != 0; }
};

// An input of G heads, whose gradients come with H heads and are summed over groups.
template <class T>
struct shared_tensor {
  random_tensor<T> input, by_head;
  head_groups groups;

  shared_tensor(memory_size const& s, std::mt19937_64& bits)
      : input(s.batch, s.time, s.in_groups() ? s.groups : s.heads, s.rows, bits),
        by_head(s.batch, s.time, s.heads, s.rows, bits),
        groups(s.options.groups) {}

  sequence_view<T const> part(index begin, index end) const {
    return input.view().tokens(begin, end);
  }
  sequence_view<T> gradient_view(index begin = 0, index end = -1) {
    return by_head.gradient_view(begin, end);
  }
  std::span<T> summed() {
    sum_over_groups(by_head.gradient_view(), input.gradient_view(), groups);
    return input.gradient;
  }
};

template <class T>
struct memory_data {
  std::mt19937_64 bits{5};
  memory_size size;
  shared_tensor<T> query, key;
  random_tensor<T> value;

  // Rows of random numbers are made about 1 long: what a delta rule erases then fades.
  explicit memory_data(memory_size const& s)
      : size(s), query(s, bits), key(s, bits), value(s.batch, s.time, s.heads, s.columns, bits) {
    make_short(key.input);
  }
  void make_short(random_tensor<T>& x) const {
    for (T& each : x.values) each /= static_cast<T>(std::sqrt(static_cast<double>(size.rows)));
  }
  static void put_between(random_tensor<T>& x, double low, double high) {
    for (T& each : x.values)
      each = static_cast<T>(low + (high - low) / (1 + std::exp(static_cast<double>(each))));
  }

  index time() const { return size.time; }
  keyed_inputs<T> in(index begin, index end) const {
    return {.query = query.part(begin, end),
            .key = key.part(begin, end),
            .value = value.view().tokens(begin, end)};
  }
  // [B, T, H] of a tensor with one channel.
  static token_view<T const> by_token(random_tensor<T> const& x, index begin, index end) {
    return token_view<T const>(x.values.data(), x.extent[0], x.extent[1], x.extent[2])
        .tokens(begin, end);
  }
  static token_view<T> gradient_by_token(random_tensor<T>& x, index begin, index end) {
    token_view<T> const all(x.gradient.data(), x.extent[0], x.extent[1], x.extent[2]);
    return all.tokens(begin, end < 0 ? x.extent[1] : end);
  }
};

// Log decays of a row, of a head, or none.
template <class T, class Gate>
struct gate_data {
  random_tensor<T> values;

  gate_data(memory_size const& s, std::mt19937_64& bits)
      : values(random_tensor<T>(s.batch, s.time, s.heads, row_gate<Gate> ? s.rows : 1, bits)
                   .as_log_decay()) {}
  Gate part(index begin, index end) const {
    if constexpr (row_gate<Gate>)
      return values.view().tokens(begin, end);
    else if constexpr (head_gate<Gate>)
      return memory_data<T>::by_token(values, begin, end);
    else
      return {};
  }
  wane::impl::gate_gradient<Gate, T> gradient(index begin, index end) {
    if constexpr (row_gate<Gate>)
      return values.gradient_view(begin, end);
    else if constexpr (head_gate<Gate>)
      return memory_data<T>::gradient_by_token(values, begin, end);
    else
      return {};
  }
};

// Inputs, or their gradients, and those of a gate that is there.
template <class Gate, class T>
std::vector<std::span<T>> with_gate(std::vector<std::span<T>> all, std::vector<T>& own) {
  if constexpr (!std::is_same_v<Gate, no_gate>) all.push_back(own);
  return all;
}

template <class T, class Gate = sequence_view<T const>>
struct gla_problem : memory_data<T> {
  gate_data<T, Gate> gate{this->size, this->bits};
  using memory_data<T>::memory_data;

  gla<T, Gate> make(index begin, index end) const {
    return {this->in(begin, end), gate.part(begin, end), this->size.options};
  }
  std::array<std::span<T>, 4> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values,
            gate.values.values};
  }
  std::array<std::span<T>, 4> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient, gate.values.gradient};
  }
  typename gla<T, Gate>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

// Features are positive, and the floor such that the first denominators are below it.
template <class T, class Gate = no_gate>
struct linear_attention_problem : memory_data<T> {
  gate_data<T, Gate> gate{this->size, this->bits};

  explicit linear_attention_problem(memory_size const& s) : memory_data<T>(s) {
    this->put_between(this->query.input, 0.1, 1), this->put_between(this->key.input, 0.1, 1);
  }
  linear_attention<T, Gate> make(index begin, index end) const {
    return {this->in(begin, end), gate.part(begin, end), {.keys = this->size.options, .floor = 2}};
  }
  std::vector<std::span<T>> inputs() {
    return with_gate<Gate>({this->query.input.values, this->key.input.values, this->value.values},
                           gate.values.values);
  }
  std::vector<std::span<T>> input_gradients() {
    return with_gate<Gate>({this->query.summed(), this->key.summed(), this->value.gradient},
                           gate.values.gradient);
  }
  typename linear_attention<T, Gate>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

// The gradient of the constant decays comes for each token, and is summed here.
template <class T>
struct retnet_problem : memory_data<T> {
  std::vector<T> log_gamma, summed;
  random_tensor<T> by_token;

  explicit retnet_problem(memory_size const& s)
      : memory_data<T>(s), by_token(s.batch, s.time, s.heads, 1, this->bits) {
    for (index h = 0; h < s.heads; ++h) log_gamma.push_back(T(-0.05) * static_cast<T>(1 + h));
    summed = log_gamma;
  }
  retnet<T> make(index begin, index end) const {
    return {this->in(begin, end), {{log_gamma.data(), this->size.heads}}, this->size.options};
  }
  std::array<std::span<T>, 4> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values, log_gamma};
  }
  std::array<std::span<T>, 4> input_gradients() {
    summed.assign(summed.size(), T(0));
    for (std::size_t i = 0; i < by_token.gradient.size(); ++i)
      summed[i % summed.size()] += by_token.gradient[i];
    return {this->query.summed(), this->key.summed(), this->value.gradient, summed};
  }
  typename retnet<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .log_decay = memory_data<T>::gradient_by_token(by_token, begin, end)};
  }
};

// delta_net, gated_delta_net or kimi_delta_attention, as `Op` says.
template <class T, class Op, class Gate>
struct delta_problem : memory_data<T> {
  gate_data<T, Gate> gate{this->size, this->bits};
  random_tensor<T> strength;

  explicit delta_problem(memory_size const& s)
      : memory_data<T>(s), strength(s.batch, s.time, s.heads, 1, this->bits) {
    this->put_between(strength, 0.1, 0.9);
  }
  Op make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .strength = this->by_token(strength, begin, end)},
            gate.part(begin, end),
            this->size.options};
  }
  // The decays, which a delta_net has not, are last.
  std::vector<std::span<T>> inputs() {
    return with_gate<Gate>(
        {this->query.input.values, this->key.input.values, this->value.values, strength.values},
        gate.values.values);
  }
  std::vector<std::span<T>> input_gradients() {
    return with_gate<Gate>(
        {this->query.summed(), this->key.summed(), this->value.gradient, strength.gradient},
        gate.values.gradient);
  }
  typename Op::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .strength = this->gradient_by_token(strength, begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};
template <class T>
using delta_net_problem = delta_problem<T, delta_net<T>, no_gate>;
template <class T>
using gated_delta_net_problem = delta_problem<T, gated_delta_net<T>, token_view<T const>>;
template <class T>
using kimi_problem = delta_problem<T, kimi_delta_attention<T>, sequence_view<T const>>;

template <class T>
struct vla_delta_net_problem : memory_data<T> {
  random_tensor<T> decay;

  explicit vla_delta_net_problem(memory_size const& s)
      : memory_data<T>(s), decay(s.batch, s.time, s.heads, 1, this->bits) {
    this->put_between(decay, 0.1, 0.9);
  }
  vla_delta_net<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return vla_delta_net<T>({.query = in.query,
                             .key = in.key,
                             .value = in.value,
                             .decay = this->by_token(decay, begin, end)},
                            this->size.options);
  }
  std::array<std::span<T>, 4> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values, decay.values};
  }
  std::array<std::span<T>, 4> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient, decay.gradient};
  }
  typename vla_delta_net<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .decay = this->gradient_by_token(decay, begin, end)};
  }
};

template <class T>
struct rwkv7_problem : memory_data<T> {
  gate_data<T, sequence_view<T const>> gate{this->size, this->bits};
  shared_tensor<T> removal{this->size, this->bits}, rate{this->size, this->bits};
  random_tensor<T> bonus;

  explicit rwkv7_problem(memory_size const& s)
      : memory_data<T>(s), bonus(1, 1, s.heads, s.rows, this->bits) {
    this->make_short(removal.input), this->put_between(rate.input, 0.1, 0.9);
  }
  rwkv7<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .removal = removal.part(begin, end),
             .rate = rate.part(begin, end),
             .bonus = {bonus.values.data(), this->size.heads, this->size.rows}},
            gate.part(begin, end),
            this->size.options};
  }
  std::array<std::span<T>, 7> inputs() {
    return {
        this->query.input.values, this->key.input.values, this->value.values, gate.values.values,
        removal.input.values,     rate.input.values,      bonus.values};
  }
  std::array<std::span<T>, 7> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient, gate.values.gradient,
            removal.summed(),     rate.summed(),      bonus.gradient};
  }
  typename rwkv7<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .removal = removal.gradient_view(begin, end),
            .rate = rate.gradient_view(begin, end),
            .bonus = {bonus.gradient.data(), this->size.heads, this->size.rows},
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
