// The delta rule, and strengths of writes.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <string>

#include "recall/memories/memory.hpp"

namespace wane::recall {

// A number between 0 and `most` for each token and head: most sigmoid(x W + b).
template <class T>
class strengths {
 public:
  strengths(parameters<T>& model, std::string const& name, token_shape const& s, double most = 1)
      : most_(T(most)),
        weight_(model.spread(name + ".weight", s.width(), s.heads, 1 / std::sqrt(s.width()))),
        bias_(model.filled(name + ".bias", 1, s.heads, 0)) {}

  tensor operator()(tape<T>& on, tensor x) const {
    return each(
        on, biased(on, linear(on, x, weight_), bias_),
        [this](auto const& z) { return most_ * logistic(z); },
        [most = most_](auto const&, auto const& y) { return y * (1 - y / most); });
  }

 private:
  T most_;
  std::size_t weight_, bias_;
};

constexpr keyed_options unit_keys{.scale = 1, .normalise = true};

// The delta rule, whose strengths reach `most`, and with eq. (4) of the VLA paper the rule that it
// compares itself with, whose strength is a decay (docs/operators/memories.md).
template <class T, bool EquationFour>
class delta_memory : public memory<T> {
 public:
  delta_memory(parameters<T>& model, std::string const& name, token_shape const& s, double most = 1)
      : strength_(model, name + ".strength", s, most) {}

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const strength = strength_(on, in.x);
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      auto const beta = by_head(of[strength], s.batch);
      if constexpr (EquationFour)
        return vla_delta_net<T>(
            {.query = rows(in.query), .key = rows(in.key), .value = rows(in.value), .decay = beta},
            unit_keys);
      else
        return delta_net<T>({.query = rows(in.query),
                             .key = rows(in.key),
                             .value = rows(in.value),
                             .strength = beta},
                            unit_keys);
    };
    return record_memory(on, s, std::array{in.query, in.key, in.value, strength}, make,
                         [s](auto const& op, auto& to) {
                           auto all = keyed_part(op, to, s);
                           if constexpr (EquationFour)
                             all.decay = by_head(to[3], s.batch);
                           else
                             all.strength = by_head(to[3], s.batch);
                           return all;
                         });
  }

 private:
  strengths<T> strength_;
};

}  // namespace wane::recall
