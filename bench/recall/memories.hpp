// The memories that are compared: one part of a layer, with the same members for every operator.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recall/layers.hpp"
#include "recall/settings.hpp"
#include "wane/eigen.hpp"
#include "wane/wane.hpp"

namespace wane::recall {

struct token_shape {
  index batch, time, heads, size;  // channels of a head

  index width() const { return heads * size; }
};

// What a memory reads: queries, keys and values, [B T, H K], and x, [B T, width], from which it
// makes what else it needs.
struct memory_inputs {
  tensor query, key, value, x;
};

// Adds its parameters when it is made, and its outputs, [B T, H K], to a tape.
template <class T>
class memory {
 public:
  virtual ~memory() = default;
  virtual tensor operator()(tape<T>& on, memory_inputs const& in,
                            token_shape const& shape) const = 0;
};

struct nothing_else {
  void operator()(auto&, auto&) const {}
};

// Records the outputs of an operator of wane. make(on) is the operator of values on a tape;
// gradients(op, to) are its gradients, into the matrices `to`, one for each tensor of `read`.
// finish(back, to) comes before they are given to these tensors.
template <class T, std::size_t N, class Make, class Gradients, class Finish = nothing_else>
tensor record_memory(tape<T>& on, token_shape const& s, std::array<tensor, N> const& read,
                     Make const& make, Gradients const& gradients, Finish const& finish = {}) {
  matrix<T> y(s.batch * s.time, s.width());
  auto const outputs = in_heads(y, s.batch, s.heads);
  auto const here = make(on);
  if constexpr (attention<decltype(make(on))>)
    attend(here, outputs, {.threads = 1});
  else
    run(here, outputs, {.threads = 1});
  return on.record(std::move(y), [=](tape<T>& back, tensor result) {
    std::array<matrix<T>, N> to;
    for (std::size_t i = 0; i < N; ++i) to[i].setZero(back[read[i]].rows(), back[read[i]].cols());
    auto const op = make(back);
    auto const dy = in_heads(back.gradient(result), s.batch, s.heads);
    if constexpr (attention<decltype(make(back))>)
      attend_adjoint(op, dy, gradients(op, to), {.threads = 1});
    else
      adjoint(op, dy, gradients(op, to), {.threads = 1});
    finish(back, to);
    for (std::size_t i = 0; i < N; ++i) back.give(read[i], std::move(to[i]));
  });
}
// The gradients of an operator by its queries, keys and values, into the first three matrices.
template <class Op, class To>
typename Op::gradients keyed_part(Op const&, To& to, token_shape const& s) {
  typename Op::gradients all;
  all.query = in_heads(to[0], s.batch, s.heads), all.key = in_heads(to[1], s.batch, s.heads);
  all.value = in_heads(to[2], s.batch, s.heads);
  return all;
}

template <class T>
using ungated_linear_attention = linear_attention<T>;

// Operators that read queries, keys and values alone: softmax attention, and linear attention with
// the features ELU + 1 (Katharopoulos et al. 2020).
template <class T, template <class> class Operator, bool Features>
class plain_memory : public memory<T> {
 public:
  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const q = Features ? elu_plus_one(on, in.query) : in.query;
    tensor const k = Features ? elu_plus_one(on, in.key) : in.key;
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return Operator<T>({.query = rows(q), .key = rows(k), .value = rows(in.value)});
    };
    return record_memory(on, s, std::array{q, k, in.value}, make,
                         [s](auto const& op, auto& to) { return keyed_part(op, to, s); });
  }
};

// A number between 0 and 1 for each token and head: sigmoid(x W + b).
template <class T>
class strengths {
 public:
  strengths(parameters<T>& model, std::string const& name, token_shape const& s, double bias = 0)
      : weight_(model.spread(name + ".weight", s.width(), s.heads, 1 / std::sqrt(s.width()))),
        bias_(model.filled(name + ".bias", 1, s.heads, bias)) {}

  tensor operator()(tape<T>& on, tensor x) const {
    return sigmoid(on, biased(on, linear(on, x, weight_), bias_));
  }

 private:
  std::size_t weight_, bias_;
};

constexpr keyed_options unit_keys{.scale = 1, .normalise = true};

// The delta rule, and with eq. (4) of the VLA paper the rule that it compares itself with, whose
// strength is a decay (docs/operators/memories.md).
template <class T, bool EquationFour>
class delta_memory : public memory<T> {
 public:
  delta_memory(parameters<T>& model, std::string const& name, token_shape const& s)
      : strength_(model, name + ".strength", s) {}

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

// A decay for each token and head, from wane's softplus_gate: -e^log_rate softplus(x W + bias).
template <class T>
class head_decays {
 public:
  head_decays(parameters<T>& model, std::string const& name, token_shape const& s)
      : weight_(model.spread(name + ".gate", s.width(), s.heads, 1 / std::sqrt(s.width()))),
        log_rate_(model.filled(name + ".A_log", 1, s.heads, 0)),
        bias_(model.filled(name + ".dt_bias", 1, s.heads, -4)) {}  // slow at first

  tensor raw(tape<T>& on, tensor x) const { return linear(on, x, weight_); }
  auto gate(tape<T> const& of, tensor raw, token_shape const& s) const {
    return softplus_gate(by_head(of[raw], s.batch),
                         {.log_rate = {of.weight(log_rate_).data(), s.heads},
                          .bias = {of.weight(bias_).data(), s.heads}});
  }
  // Turns the gradient of the log decays into that of the raw input, and adds those of parameters.
  void adjoint(tape<T>& back, tensor raw, matrix<T>& by_log_decay, token_shape const& s) const {
    matrix<T> rate(1, s.heads), bias(1, s.heads);
    auto const view = wane::by_head(by_log_decay, s.batch);
    gate_adjoint(gate(back, raw, s), view,
                 {.raw = view, .log_rate = {rate.data(), s.heads}, .bias = {bias.data(), s.heads}});
    back.weight_gradient(log_rate_) += rate, back.weight_gradient(bias_) += bias;
  }

 private:
  std::size_t weight_, log_rate_, bias_;
};

// gated_delta_net, or gla, which has no strengths.
template <class T, bool Erases>
class gated_memory : public memory<T> {
 public:
  gated_memory(parameters<T>& model, std::string const& name, token_shape const& s)
      : decay_(model, name, s) {
    if constexpr (Erases) strength_.emplace(model, name + ".strength", s);
  }

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const raw = decay_.raw(on, in.x);
    auto const finish = [=, this](tape<T>& back, auto& to) { decay_.adjoint(back, raw, to[3], s); };
    auto const keyed = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return keyed_inputs<T>{.query = rows(in.query), .key = rows(in.key), .value = rows(in.value)};
    };
    if constexpr (Erases) {
      tensor const strength = (*strength_)(on, in.x);
      auto const make = [=, this](tape<T> const& of) {
        auto const x = keyed(of);
        return gated_delta_net({.query = x.query,
                                .key = x.key,
                                .value = x.value,
                                .strength = by_head(of[strength], s.batch)},
                               decay_.gate(of, raw, s), unit_keys);
      };
      return record_memory(
          on, s, std::array{in.query, in.key, in.value, raw, strength}, make,
          [s](auto const& op, auto& to) {
            auto all = keyed_part(op, to, s);
            all.log_decay = by_head(to[3], s.batch), all.strength = by_head(to[4], s.batch);
            return all;
          },
          finish);
    } else {
      auto const make = [=, this](tape<T> const& of) {
        return gla(keyed(of), decay_.gate(of, raw, s), unit_keys);
      };
      return record_memory(
          on, s, std::array{in.query, in.key, in.value, raw}, make,
          [s](auto const& op, auto& to) {
            auto all = keyed_part(op, to, s);
            all.log_decay = by_head(to[3], s.batch);
            return all;
          },
          finish);
    }
  }

 private:
  head_decays<T> decay_;
  std::optional<strengths<T>> strength_;
};

// Mamba-2 without its convolution and gate: B is the key, C the query, x the value, A = -e^A_log.
template <class T>
class mamba2_memory : public memory<T> {
 public:
  mamba2_memory(parameters<T>& model, std::string const& name, token_shape const& s)
      : weight_(model.spread(name + ".gate", s.width(), s.heads, 1 / std::sqrt(s.width()))),
        log_rate_(model.filled(name + ".A_log", 1, s.heads, 0)),
        bias_(model.filled(name + ".dt_bias", 1, s.heads, -4)),
        direct_(model.filled(name + ".D", 1, s.heads, 0)) {}

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const dt = linear(on, in.x, weight_), bias = learned(on, bias_),
                 direct = learned(on, direct_);
    tensor const rate = each(
        on, learned(on, log_rate_), [](auto const& a) { return -a.exp(); },
        [](auto const&, auto const& y) { return y; });
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return mamba2<T>({.x = rows(in.value),
                        .dt = by_head(of[dt], s.batch),
                        .A = {of[rate].data(), s.heads},
                        .B = rows(in.key),
                        .C = rows(in.query),
                        .D = {of[direct].data(), s.heads},
                        .dt_bias = {of[bias].data(), s.heads}},
                       {.dt_softplus = true});
    };
    return record_memory(on, s, std::array{in.query, in.key, in.value, dt, rate, direct, bias},
                         make, [s](auto const&, auto& to) {
                           return
                               typename mamba2<T>::gradients{.x = in_heads(to[2], s.batch, s.heads),
                                                             .dt = by_head(to[3], s.batch),
                                                             .A = {to[4].data(), s.heads},
                                                             .B = in_heads(to[1], s.batch, s.heads),
                                                             .C = in_heads(to[0], s.batch, s.heads),
                                                             .D = {to[5].data(), s.heads},
                                                             .dt_bias = {to[6].data(), s.heads}};
                         });
  }

 private:
  std::size_t weight_, log_rate_, bias_, direct_;
};

// vla: rls, whose directions are the keys; unit, with learned directions f(k); and unit under the
// paper's features and division (eq. 11), lambda .1 and refresh.
enum class vla_form { rls, unit, quotient };

template <class T, vla_form Form>
class vla_memory : public memory<T> {
  static constexpr bool learns_directions = Form != vla_form::rls;
  static constexpr write_rule rule = learns_directions ? write_rule::unit : write_rule::rls;

 public:
  vla_memory(parameters<T>& model, std::string const& name, token_shape const& s) {
    if (learns_directions)
      direction_ = model.spread(name + ".direction", s.size, s.size, 1 / std::sqrt(s.size));
  }

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const u = learns_directions ? linear_of_heads(on, in.key, direction_) : in.key;
    if constexpr (Form == vla_form::quotient) return quotient(on, in, u, s);
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      vla_inputs<T> all{.query = rows(in.query), .key = rows(in.key), .value = rows(in.value)};
      if (learns_directions) all.direction = rows(u);
      return vla<T, rule>(all, vla_options::recall());
    };
    return record_memory(on, s, std::array{in.query, in.key, in.value, u}, make,
                         [s](auto const& op, auto& to) {
                           auto all = keyed_part(op, to, s);
                           if (learns_directions) all.direction = in_heads(to[3], s.batch, s.heads);
                           return all;
                         });
  }

 private:
  tensor quotient(tape<T>& on, memory_inputs const& in, tensor u, token_shape const& s) const {
    static T const one = 1;
    tensor const q = elu_plus_one(on, in.query), k = elu_plus_one(on, in.key);
    tensor const unit = unit_heads(on, in.key, s.size);
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      vla_options options = vla_options::paper();
      options.normalise = false;
      sequence_view<T const> const ones(&one, {s.batch, s.time, s.heads, 1}, {0, 0, 0, 0});
      return quotient_of(
          vla<T, rule>(
              {.query = rows(q), .key = rows(unit), .value = rows(in.value), .direction = rows(u)},
              options),
          gla<T, no_gate>({.query = rows(q), .key = rows(k), .value = ones}, no_gate{},
                          {.scale = 1}),
          1e-4);
    };
    return record_memory(on, s, std::array{q, unit, in.value, u, q, k}, make,
                         [s](auto const& op, auto& to) {
                           typename std::remove_cvref_t<decltype(op)>::gradients all;
                           all.first = keyed_part(op.first(), to, s);
                           all.first.direction = in_heads(to[3], s.batch, s.heads);
                           all.second.query = in_heads(to[4], s.batch, s.heads);
                           all.second.key = in_heads(to[5], s.batch, s.heads);
                           return all;
                         });
  }

  std::size_t direction_ = 0;
};

// The memory of that name; memory_names() has all.
template <class T>
std::unique_ptr<memory<T>> make_memory(std::string const& kind, parameters<T>& model,
                                       std::string const& name, token_shape const& s) {
  if (kind == "softmax") return std::make_unique<plain_memory<T, softmax_attention, false>>();
  if (kind == "linear") return std::make_unique<plain_memory<T, ungated_linear_attention, true>>();
  if (kind == "delta") return std::make_unique<delta_memory<T, false>>(model, name, s);
  if (kind == "gated-delta") return std::make_unique<gated_memory<T, true>>(model, name, s);
  if (kind == "gla") return std::make_unique<gated_memory<T, false>>(model, name, s);
  if (kind == "mamba2") return std::make_unique<mamba2_memory<T>>(model, name, s);
  if (kind == "vla-delta") return std::make_unique<delta_memory<T, true>>(model, name, s);
  if (kind == "vla") return std::make_unique<vla_memory<T, vla_form::rls>>(model, name, s);
  if (kind == "vla-unit") return std::make_unique<vla_memory<T, vla_form::unit>>(model, name, s);
  require(kind == "vla-quotient", "there is no memory ", kind);
  return std::make_unique<vla_memory<T, vla_form::quotient>>(model, name, s);
}

}  // namespace wane::recall
