// RWKV-7.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "recall/memories/spectrum.hpp"

namespace wane::recall {

// rwkv7 without its shifts, bonus and output gate. Removal keys are keys with a scale for each
// channel; replacement keys are keys times the in-context rates; logits of decays go through 16
// channels, and have the zigzag over each head. Their base w0 goes evenly from -5.5 to 0.5, as in
// the first layer of RWKV's own models, or with PoST (section 5.3) by the map, with the taper of
// log logistic(w0).
template <class T>
class rwkv7_memory : public memory<T> {
 public:
  rwkv7_memory(parameters<T>& model, std::string const& name, token_shape const& s, bool post)
      : decay_down_(model.spread(name + ".decay_down", s.width(), 16, 1 / std::sqrt(s.width()))),
        decay_up_(model.spread(name + ".decay_up", 16, s.width(), 0.25)),
        zigzag_(model.given(name + ".zigzag", row_of<T>(spectra::rwkv7_zigzag(s.width(), s.size)))),
        rate_(model.spread(name + ".rate", s.width(), s.width(), 1 / std::sqrt(s.width()))),
        removal_(model.filled(name + ".k_k", 1, s.width(), 0.875)) {
    if (post)
      rates_.emplace(model, name, spectra::rwkv7_logits(s.width(), s.time), s.time);
    else
      base_ = model.given(name + ".w0",
                          Eigen::RowVectorXd::LinSpaced(s.width(), -5.5, 0.5).template cast<T>());
  }

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const rate = each(
        on, linear(on, in.x, rate_), [](auto const& z) { return logistic(z); },
        [](auto const&, auto const& y) { return y * (1 - y); });
    tensor const removal = scaled(on, in.key, removal_), key = product(on, in.key, rate);
    tensor const low = each(
        on, linear(on, in.x, decay_down_), [](auto const& z) { return z.tanh(); },
        [](auto const&, auto const& y) { return 1 - y.square(); });
    tensor const raw = biased(on, linear(on, low, decay_up_), zigzag_);
    auto const base = base_logits(on);
    auto const gate = [=](tape<T> const& of) {
      return sigmoid_gate(in_heads(of[raw], s.batch, s.heads),
                          {.bias = base.parameter_of(of[base.log_rate], s.heads),
                           .taper = base.taper_of(of, s.heads)});
    };
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return rwkv7({.query = rows(in.query),
                    .key = rows(key),
                    .value = rows(in.value),
                    .removal = rows(removal),
                    .rate = rows(rate)},
                   gate(of), {.scale = 1, .normalise = true});
    };
    auto const gradients = [s](auto const& op, auto& to) {
      auto all = keyed_part(op, to, s);
      auto const rows = [&](std::size_t i) { return in_heads(to[i], s.batch, s.heads); };
      all.removal = rows(3), all.rate = rows(4), all.log_decay = rows(5);
      return all;
    };
    auto const finish = [=](tape<T>& back, auto& to) {
      matrix<T> logits(1, s.width()), exponents(1, s.width());
      auto const logs = in_heads(to[5], s.batch, s.heads);
      gate_adjoint(gate(back), logs,
                   {.raw = logs,
                    .bias = base.parameter_of(logits, s.heads),
                    .taper = base.gradient_of_taper(exponents, s.heads)});
      base.give(back, logits, exponents);
    };
    return record_memory(on, s, std::array{in.query, key, in.value, removal, rate, raw}, make,
                         gradients, finish);
  }

 private:
  typename spectrum<T>::values base_logits(tape<T>& on) const {
    if (!rates_) return {learned(on, base_), {}};
    tensor const logits = rates_->mapped(on);
    tensor const log_rates = each(
        on, logits, [](auto const& w) { return logistic(w).log(); },
        [](auto const& w, auto const&) { return logistic(-w); });
    return {logits, rates_->tapered(on, log_rates)};
  }

  std::size_t decay_down_, decay_up_, zigzag_, rate_, removal_, base_ = 0;
  std::optional<spectrum<T>> rates_;
};

}  // namespace wane::recall
