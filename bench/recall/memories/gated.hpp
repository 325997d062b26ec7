// Memories with decays that depend on the token: Gated DeltaNet and GLA.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "recall/memories/delta.hpp"
#include "recall/memories/spectrum.hpp"

namespace wane::recall {

// gated_delta_net with its own softplus_gate, as published or with PoST (section 5.4).
template <class T>
class gated_delta_memory : public memory<T> {
 public:
  gated_delta_memory(parameters<T>& model, std::string const& name, token_shape const& s, bool post)
      : strength_(model, name + ".strength", s),
        weight_(model.spread(name + ".gate", s.width(), s.heads, 1 / std::sqrt(s.width()))),
        rates_(post ? spectrum<T>(model, name, spectra::gated_delta_net_log_rates(s.heads, s.time),
                                  s.time)
                    : spectrum<T>(model, name, s.heads)),
        bias_(post ? model.filled(name + ".dt_bias", 1, s.heads,
                                  spectra::inverse_softplus(1 / static_cast<double>(s.time)))
                   : time_step_bias(model, name + ".dt_bias", s.heads)) {}

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const strength = strength_(on, in.x), raw = linear(on, in.x, weight_),
                 bias = learned(on, bias_);
    auto const rates = rates_(on);
    auto const gate = [=](tape<T> const& of) {
      return softplus_gate(by_head(of[raw], s.batch),
                           {.log_rate = {of[rates.log_rate].data(), s.heads},
                            .bias = {of[bias].data(), s.heads},
                            .taper = rates.taper_of(of, s.heads)});
    };
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return gated_delta_net({.query = rows(in.query),
                              .key = rows(in.key),
                              .value = rows(in.value),
                              .strength = by_head(of[strength], s.batch)},
                             gate(of), unit_keys);
    };
    auto const finish = [=](tape<T>& back, auto& to) {
      matrix<T> rate(1, s.heads), shift(1, s.heads), exponent(1, s.heads);
      auto const logs = by_head(to[3], s.batch);
      gate_adjoint(gate(back), logs,
                   {.raw = logs,
                    .log_rate = {rate.data(), s.heads},
                    .bias = {shift.data(), s.heads},
                    .taper = rates.gradient_of_taper(exponent, s.heads)});
      rates.give(back, rate, exponent), back.give(bias, shift);
    };
    return record_memory(
        on, s, std::array{in.query, in.key, in.value, raw, strength}, make,
        [s](auto const& op, auto& to) {
          auto all = keyed_part(op, to, s);
          all.log_decay = by_head(to[3], s.batch), all.strength = by_head(to[4], s.batch);
          return all;
        },
        finish);
  }

 private:
  strengths<T> strength_;
  std::size_t weight_;
  spectrum<T> rates_;
  std::size_t bias_;
};

// GLA: a decay for each row of a key, log sigmoid(x W_1 W_2 + b) / 16, through 16 channels. Keys
// and queries have length 1, which the published ones do not.
template <class T>
class gla_memory : public memory<T> {
  static constexpr index inner = 16;

 public:
  gla_memory(parameters<T>& model, std::string const& name, token_shape const& s)
      : down_(model.spread(name + ".gate_down", s.width(), inner, 1 / std::sqrt(s.width()))),
        up_(model.spread(name + ".gate_up", inner, s.width(), 1 / std::sqrt(inner))),
        bias_(model.filled(name + ".gate_bias", 1, s.width(), 0)) {}

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const raw = biased(on, linear(on, linear(on, in.x, down_), up_), bias_);
    auto const gate = [=](tape<T> const& of) {
      return log_sigmoid_gate(in_heads(of[raw], s.batch, s.heads));
    };
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return gla({.query = rows(in.query), .key = rows(in.key), .value = rows(in.value)}, gate(of),
                 unit_keys);
    };
    return record_memory(
        on, s, std::array{in.query, in.key, in.value, raw}, make,
        [s](auto const& op, auto& to) {
          auto all = keyed_part(op, to, s);
          all.log_decay = in_heads(to[3], s.batch, s.heads);
          return all;
        },
        [=](tape<T>& back, auto& to) {
          auto const logs = in_heads(to[3], s.batch, s.heads);
          gate_adjoint(gate(back), logs, {.raw = logs});
        });
  }

 private:
  std::size_t down_, up_, bias_;
};

// RetNet: constant decays 1 - 2^(-5-h); with PoST they are learned and tapered (Algorithm 4), which
// is also PoST's GLA. Keys and queries have length 1.
template <class T>
class retnet_memory : public memory<T> {
 public:
  retnet_memory(parameters<T>& model, std::string const& name, token_shape const& s, bool post)
      : fixed_(1, s.heads) {
    if (post) rates_.emplace(model, name, spectra::retnet_log_rates(s.heads, s.time), s.time);
    for (index h = 0; h < s.heads; ++h)
      fixed_(h) = T(std::log(-std::log1p(-std::exp2(-5 - static_cast<double>(h)))));
  }

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    auto const rates =
        rates_ ? (*rates_)(on) : typename spectrum<T>::values{constant(on, fixed_), {}};
    // A place for the gradients of log decays, from which finish() makes those of the rates.
    tensor const logs = constant(on, matrix<T>(s.batch * s.time, s.heads));
    auto const gate = [=](tape<T> const& of) {
      return constant_rate_gate<T>({of[rates.log_rate].data(), s.heads},
                                   rates.taper_of(of, s.heads));
    };
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return gla({.query = rows(in.query), .key = rows(in.key), .value = rows(in.value)}, gate(of),
                 unit_keys);
    };
    auto const finish = [=](tape<T>& back, auto& to) {
      matrix<T> rate(1, s.heads), exponent(1, s.heads);
      gate_adjoint(gate(back), by_head(to[3], s.batch),
                   {.log_rate = {rate.data(), s.heads},
                    .taper = rates.gradient_of_taper(exponent, s.heads)});
      rates.give(back, rate, exponent);
    };
    return record_memory(
        on, s, std::array{in.query, in.key, in.value, logs}, make,
        [s](auto const& op, auto& to) {
          auto all = keyed_part(op, to, s);
          all.log_decay = by_head(to[3], s.batch);
          return all;
        },
        finish);
  }

 private:
  std::optional<spectrum<T>> rates_;
  matrix<T> fixed_;  // log rates
};

}  // namespace wane::recall
