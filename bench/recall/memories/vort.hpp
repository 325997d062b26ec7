// VORT's keyed retrieval, and what its paper compares it with: sums of exponentials.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>

#include "recall/memories/spectrum.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace wane::recall {

// Fractional orders, [B T, H]: 0.7 for all tokens, or one for each token and head, learned as
// least + (1 - least) sigmoid(x W + b) (eq. 11); and the nodes of all orders.
template <class T>
class token_orders {
 public:
  token_orders(parameters<T>& model, std::string const& name, token_shape const& s, index nodes,
               bool learned)
      : nodes_(std::make_shared<spectra::order_weights<T> const>(
            spectra::shared_rates(nodes, std::max<index>(s.time, 100), double(least)))),
        learned_(learned) {
    if (!learned) return;
    weight_ = model.spread(name + ".order", s.width(), s.heads, 1 / std::sqrt(s.width()));
    double const part = double((first - least) / (1 - least));
    bias_ = model.filled(name + ".order_bias", 1, s.heads, std::log(part / (1 - part)));
  }

  tensor operator()(tape<T>& on, tensor x, token_shape const& s) const {
    if (!learned_)
      return constant(on, matrix<T>::Constant(s.batch * s.time, s.heads, first).eval());
    tensor const alpha = each(
        on, biased(on, linear(on, x, weight_), bias_),
        [](auto const& z) { return least + (1 - least) * logistic(z); },
        [](auto const&, auto const& y) { return (y - least) * (1 - y) / (1 - least); });
    on.note_orders(on[alpha]);
    return alpha;
  }
  bool learned() const { return learned_; }
  auto const& nodes() const { return nodes_; }

 private:
  static constexpr T least = T(0.1), first = T(0.7);

  std::shared_ptr<spectra::order_weights<T> const> nodes_;
  bool learned_;
  std::size_t weight_ = 0, bias_ = 0;
};

// retention (eq. 12) of the values, read out by the queries channel by channel.
template <class T>
class retention_memory : public memory<T> {
 public:
  retention_memory(parameters<T>& model, std::string const& name, token_shape const& s)
      : orders_(model, name, s, 15, true) {}

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const alpha = orders_(on, in.x, s);
    auto const make = [=, nodes = orders_.nodes()](tape<T> const& of) {
      return retention<T>(
          {.value = in_heads(of[in.value], s.batch, s.heads), .alpha = by_head(of[alpha], s.batch)},
          nodes->table());
    };
    tensor const kept =
        record_memory(on, s, std::array{in.value, alpha}, make, [s](auto const& op, auto& to) {
          typename std::remove_cvref_t<decltype(op)>::gradients all;
          all.value = in_heads(to[0], s.batch, s.heads), all.alpha = by_head(to[1], s.batch);
          return all;
        });
    return product(on, in.query, kept);
  }

 private:
  token_orders<T> orders_;
};

// retrieval with the features ELU + 1 (eq. 16).
template <class T>
class power_law_memory : public memory<T> {
 public:
  power_law_memory(parameters<T>& model, std::string const& name, token_shape const& s, index nodes,
                   bool learned_orders)
      : orders_(model, name, s, nodes, learned_orders) {}

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const q = elu_plus_one(on, in.query), k = elu_plus_one(on, in.key);
    tensor const alpha = orders_(on, in.x, s);
    auto const make = [=, nodes = orders_.nodes()](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return retrieval<T>({.query = rows(q),
                           .key = rows(k),
                           .value = rows(in.value),
                           .alpha = by_head(of[alpha], s.batch)},
                          nodes->table());
    };
    return record_memory(on, s, std::array{q, k, in.value, alpha}, make,
                         [=, this](auto const& op, auto& to) {
                           auto all = keyed_part(op, to, s);
                           if (orders_.learned()) all.alpha = by_head(to[3], s.batch);
                           return all;
                         });
  }

 private:
  token_orders<T> orders_;
};

// y_t = n_t / d_t as in (16), under the kernel sum_m pi_m e^{-r_m lag} whose rates and weights each
// head learns. The terms of a head are heads of gla with constant decays, whose values have a one
// behind them for d.
template <class T>
class mixture_memory : public memory<T> {
 public:
  mixture_memory(parameters<T>& model, std::string const& name, token_shape const& s, index terms)
      : terms_(terms),
        rate_(model.filled(name + ".log_rate", 1, s.heads * terms, 0)),
        weight_(model.filled(name + ".log_weight", 1, s.heads * terms, 0)),
        first_(1, s.heads * terms) {
    // A single rate begins at 1/sqrt(T); several are even in the logarithm from 1/T to 1.
    double const length = std::log(static_cast<double>(s.time));
    for (index n = 0; n < first_.size(); ++n)
      first_(n) = T(-length * (terms == 1 ? 0.5 : double(n % terms) / double(terms - 1)));
  }

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    token_shape const wide{s.batch, s.time, s.heads * terms_, s.size + 1};
    tensor const q = repeated(on, elu_plus_one(on, in.query), s, false);
    tensor const k = repeated(on, elu_plus_one(on, in.key), s, false);
    tensor const v = repeated(on, in.value, s, true);
    tensor const rate = each(
        on, learned(on, rate_), [this](auto const& u) { return first_.array() + speed * u; },
        [](auto const& u, auto const&) { return 0 * u + speed; });
    tensor const logs = constant(on, matrix<T>(s.batch * s.time, wide.heads));
    auto const gate = [=](tape<T> const& of) {
      return constant_rate_gate<T>({of[rate].data(), wide.heads});
    };
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, wide.heads); };
      return gla({.query = rows(q), .key = rows(k), .value = rows(v)}, gate(of), {.scale = 1});
    };
    auto const finish = [=](tape<T>& back, auto& to) {
      matrix<T> g(1, wide.heads);
      gate_adjoint(gate(back), by_head(to[3], s.batch), {.log_rate = {g.data(), g.size()}});
      back.give(rate, g);
    };
    tensor const sums = record_memory(
        on, wide, std::array{q, k, v, logs}, make,
        [wide](auto const& op, auto& to) {
          auto all = keyed_part(op, to, wide);
          all.log_decay = by_head(to[3], wide.batch);
          return all;
        },
        finish);
    return quotient(on, sums, exponential(on, learned(on, weight_)), s);
  }

 private:
  // Log rates move this much faster than other parameters, as they have far to go.
  static constexpr T speed = 30;
  static constexpr T floor = T(1e-10);  // the least d

  // Each head, and perhaps a one behind it, once for each of its terms.
  tensor repeated(tape<T>& on, tensor x, token_shape const& s, bool with_one) const {
    index const size = s.size, step = size + with_one, heads = s.heads * terms_, terms = terms_;
    matrix<T> y = matrix<T>::Ones(on[x].rows(), heads * step);
    for (index n = 0; n < heads; ++n)
      y.middleCols(n * step, size) = on[x].middleCols(n / terms * size, size);
    return on.record(std::move(y), [=](tape<T>& back, tensor result) {
      matrix<T> dx = matrix<T>::Zero(back[x].rows(), back[x].cols());
      for (index n = 0; n < heads; ++n)
        dx.middleCols(n / terms * size, size) += back.gradient(result).middleCols(n * step, size);
      back.give(x, std::move(dx));
    });
  }

  // sum_m pi_m n_m / sum_m pi_m d_m for the terms m of each head; d is the last column of a term.
  tensor quotient(tape<T>& on, tensor sums, tensor weight, token_shape const& s) const {
    index const step = s.size + 1, terms = terms_;
    auto const weighed = [=](tape<T> const& of, index head) {
      matrix<T> all = matrix<T>::Zero(of[sums].rows(), step);
      for (index n = head * terms; n < (head + 1) * terms; ++n)
        all += of[weight](n) * of[sums].middleCols(n * step, step);
      all.col(s.size) = all.col(s.size).cwiseMax(floor);
      return all;
    };
    matrix<T> y(on[sums].rows(), s.width());
    for (index h = 0; h < s.heads; ++h) {
      matrix<T> const all = weighed(on, h);
      y.middleCols(h * s.size, s.size) =
          all.leftCols(s.size).array().colwise() / all.col(s.size).array();
    }
    return on.record(std::move(y), [=](tape<T>& back, tensor result) {
      matrix<T> dsums(back[sums].rows(), back[sums].cols()), dweight(1, s.heads * terms);
      for (index h = 0; h < s.heads; ++h) {
        matrix<T> const all = weighed(back, h);
        auto const at = [&](matrix<T> const& of) { return of.middleCols(h * s.size, s.size); };
        matrix<T> g(all.rows(), step);  // by the weighed sums
        g.leftCols(s.size) = at(back.gradient(result)).array().colwise() / all.col(s.size).array();
        // Where the floor holds, d has no effect.
        g.col(s.size) =
            (all.col(s.size).array() > floor)
                .select(-g.leftCols(s.size).cwiseProduct(at(back[result])).rowwise().sum(), T(0));
        for (index n = h * terms; n < (h + 1) * terms; ++n) {
          dsums.middleCols(n * step, step) = back[weight](n) * g;
          dweight(n) = back[sums].middleCols(n * step, step).cwiseProduct(g).sum();
        }
      }
      back.give(sums, std::move(dsums)), back.give(weight, std::move(dweight));
    });
  }

  index terms_;
  std::size_t rate_, weight_;
  matrix<T> first_;  // log rates
};

}  // namespace wane::recall
