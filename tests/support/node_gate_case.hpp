// An input of node_gate with its equation in long double, and places for its gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/lower_rank.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/operators/node_gate.hpp"

namespace support::node_gates {

using wane::pooling;

inline constexpr index batch = 2, tokens = 5, heads = 3, width = 7, channels = heads * width,
                       nodes = 4;
inline constexpr pooling all_pools[] = {pooling::mean, pooling::attention, pooling::token};

// Gradients of everything, with places for them.
template <class Io>
struct received {
  using wide = wane::widened<Io>;
  tensor<Io> x{batch, tokens, heads, width};
  tensor<wide> weight{nodes, channels, 1, 1}, bias{nodes, 1, 1, 1}, query{channels, 1, 1, 1};

  wane::node_gate_gradients<Io> to() const {
    return {.x = x, .weight = two(weight), .bias = one(bias), .query = one(query)};
  }
};

template <class Io>
struct gate {
  using wide = wane::widened<Io>;
  pooling pool;
  support::arrangement lies;
  tensor<Io> x{batch, tokens, heads, width, lies};
  tensor<wide> weight{nodes, channels, 1, 1, lies}, bias{nodes, 1, 1, 1, lies},
      query{channels, 1, 1, 1, lies};
  tensor<double> logits{batch, nodes, 1, 1, lies};
  index token = 2;

  explicit gate(pooling how, support::arrangement where = support::arrangement::plain)
      : pool(how), lies(where) {
    support::random_values random(3);
    auto const any = [&](auto...) { return random.uniform(-1, 1); };
    x.fill(any), weight.fill(any), bias.fill(any), query.fill(any);
  }
  wane::node_gate_inputs<Io> in() const {
    return {.x = x,
            .weight = two(weight),
            .bias = one(bias),
            .pool = pool,
            .query = one(query),
            .token = token};
  }
  static long double of(auto number) { return static_cast<long double>(number); }
  long double score(index b, index t) const {
    long double sum = 0;
    for (index i = 0; i < channels; ++i)
      sum += of(query(i, 0, 0, 0)) * of(x(b, t, i / width, i % width));
    return sum / std::sqrt(of(channels));
  }
  // The equation, in long double, of the first `length` tokens: e^1000 is a number there.
  long double naive(index b, index k, index length = tokens) const {
    long double total = 0, logit = of(bias(k, 0, 0, 0));
    std::vector<long double> a(static_cast<std::size_t>(length), 1);
    for (index t = 0; t < length; ++t) {
      long double& weight_of = a[static_cast<std::size_t>(t)];
      if (pool == pooling::attention) weight_of = std::exp(score(b, t));
      if (pool == pooling::token) weight_of = t == token ? 1 : 0;
      total += weight_of;
    }
    for (index t = 0; t < length; ++t)
      for (index i = 0; i < channels; ++i)
        logit += of(weight(k, i, 0, 0)) * a[static_cast<std::size_t>(t)] / total *
                 of(x(b, t, i / width, i % width));
    return logit;
  }
  double error() const {
    wane::node_gate(in(), two(logits));
    nearness near;
    logits.for_each([&](index b, index k, auto...) {
      near.add(logits(b, k, 0, 0), static_cast<double>(naive(b, k)));
    });
    EXPECT_TRUE(logits.margins_untouched());
    return near.both();
  }
};

inline tensor<double> const& some_gradient() {
  static tensor<double> g(batch, nodes, 1, 1);
  support::random_values random(8);
  g.fill([&](auto...) { return random.uniform(-1, 1); });
  return g;
}

}  // namespace support::node_gates
