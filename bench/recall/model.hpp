// A model of layers, each a memory and a feed-forward part.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recall/memories/make.hpp"
#include "recall/settings.hpp"
#include "recall/tasks/task.hpp"

namespace wane::recall {

template <class T>
class model {
 public:
  explicit model(model_settings const& asked) : settings_(asked), weights(asked.seed) {
    asked.check();
    index const d = asked.width;
    double const embedding = asked.embedding_size * std::sqrt(3.);
    auto const map = [&](std::string const& name, index in, index out) {
      return weights.spread(name, in, out,
                            asked.weight_size > 0 ? asked.weight_size * std::sqrt(3.)
                                                  : 1 / std::sqrt(static_cast<double>(in)));
    };
    token_shape const s{0, asked.time, asked.heads, d / asked.heads};
    embedding_ = weights.spread("embedding", asked.vocabulary, d, embedding);
    if (asked.positions) positions_ = weights.spread("positions", asked.time, d, embedding);
    last_norm_ = weights.filled("norm", 1, d, 1);
    for (index l = 0; l < asked.layers; ++l) {
      std::string const name = "layers." + std::to_string(l) + ".";
      layer own{.norm = weights.filled(name + "norm", 1, d, 1),
                .query = map(name + "query", d, d),
                .key = map(name + "key", d, d),
                .value = map(name + "value", d, d),
                .output = map(name + "output", d, d),
                .of_memory = make_memory<T>(asked.memory, weights, name + "memory", s)};
      if (index const inner = asked.feed_forward; inner > 0) {
        own.second_norm = weights.filled(name + "second_norm", 1, d, 1);
        own.up = map(name + "up", d, inner);
        own.down = map(name + "down", inner, d);
      }
      if (asked.mix == mixing::convolution)
        for (std::size_t i = 0; i < 3; ++i)
          own.taps[i] = weights.spread(name + "taps." + "qkv"[i], 4, d, 0.5);
      layers_.push_back(std::move(own));
    }
  }

  // The score of examples. With gradients, it adds those of the loss, each question weighed by
  // `weight`.
  score operator()(examples const& of, std::vector<matrix<T>>* gradients = nullptr,
                   T weight = 1) const {
    tape<T> on(weights, gradients);
    tensor const asked = rms_norm(on, through_layers(on, of), last_norm_);
    score const found = answer(on, asked, embedding_, of.answers, weight);
    if (gradients) on.backward();
    return found;
  }

  // What all layers carry behind the tokens of examples, for one sequence; nodes of one layer.
  carried carried_behind(examples const& of) const {
    tape<T> on(weights);
    through_layers(on, of);
    carried found{on.noted().bytes / of.batch,
                  on.noted().nodes / static_cast<double>(of.batch * settings_.layers)};
    matrix<T> const& orders = on.token_orders();
    if (orders.size() == 0) return found;
    std::vector<double> seen(static_cast<std::size_t>(settings_.vocabulary));
    found.orders.resize(seen.size());
    for (index t = 0; t < orders.size(); ++t) {
      auto const symbol = static_cast<std::size_t>(of.tokens[static_cast<std::size_t>(t)]);
      found.orders[symbol] += orders(t), ++seen[symbol];
    }
    for (std::size_t n = 0; n < seen.size(); ++n) found.orders[n] /= seen[n];
    return found;
  }

 private:
  struct layer {
    std::size_t norm, query, key, value, output;
    std::unique_ptr<memory<T>> of_memory = {};
    std::size_t second_norm = 0, up = 0, down = 0, taps[3] = {};
  };

  // The tokens that are asked about: behind the last memory no others count.
  tensor through_layers(tape<T>& on, examples const& of) const {
    token_shape const s{of.batch, of.time, settings_.heads, settings_.width / settings_.heads};
    tensor x = embedding(on, of.tokens, embedding_, positions_ ? &*positions_ : nullptr, of.time);
    for (layer const& l : layers_) {
      tensor y = remembered(on, l, rms_norm(on, x, l.norm), s);
      if (&l == &layers_.back())
        x = asked_rows(on, x, of.answers), y = asked_rows(on, y, of.answers);
      x = add(on, x, linear(on, y, l.output));
      if (settings_.feed_forward == 0) continue;
      tensor const h = silu(on, linear(on, rms_norm(on, x, l.second_norm), l.up));
      x = add(on, x, linear(on, h, l.down));
    }
    return x;
  }
  tensor remembered(tape<T>& on, layer const& l, tensor h, token_shape const& s) const {
    memory_inputs in{linear(on, h, l.query),
                     linear(on, settings_.mix == mixing::shift ? shift(on, h, s.time) : h, l.key),
                     linear(on, h, l.value), h};
    if (settings_.mix == mixing::convolution) {
      in.query = silu(on, convolution(on, in.query, l.taps[0], s.time));
      in.key = silu(on, convolution(on, in.key, l.taps[1], s.time));
      in.value = silu(on, convolution(on, in.value, l.taps[2], s.time));
    }
    tensor const y = (*l.of_memory)(on, in, s);
    return settings_.output_norm ? normed_heads(on, y, s.size, std::sqrt(T(s.size))) : y;
  }

  model_settings settings_;
  std::size_t embedding_, last_norm_;
  std::optional<std::size_t> positions_;
  std::vector<layer> layers_;

 public:
  parameters<T> weights;
};

}  // namespace wane::recall
