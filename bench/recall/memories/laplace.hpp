// STLT's Laplace nodes with a linear read-out, and its ablations.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>

#include "recall/memories/memory.hpp"

namespace wane::recall {

// What of the nodes is learned: Table 4 of the STLT paper keeps one of them as it begins, or has no
// frequencies at all. With adaptive nodes each sequence has gates of its own.
struct laplace_choices {
  index nodes = 32;
  bool rates = true, frequencies = true, width = true, oscillates = true, adaptive = false;
};

// laplace over the values, in a Hann window. Half-lives are even in the logarithm from 1 token to a
// quarter of the length trained at; the window begins with a width of half that length. Rates and
// the width are learned as logarithms, so that they stay above 0.
template <class T>
class laplace_memory : public memory<T> {
 public:
  laplace_memory(parameters<T>& model, std::string const& name, token_shape const& s,
                 laplace_choices const& how)
      : count_(how.nodes),
        read_out_(model.spread(name + ".read_out", how.nodes, 2 * s.width(),
                               1 / std::sqrt(static_cast<double>(how.nodes)))) {
    double const last = static_cast<double>(how.nodes - 1), length = static_cast<double>(s.time);
    matrix<T> rate(1, how.nodes), turn(1, how.nodes);
    for (index k = 0; k < how.nodes; ++k) {
      double const part = last > 0 ? static_cast<double>(k) / last : 0;
      rate(k) = T(std::log(std::numbers::ln2) - part * std::log(length / 4));
      // Multiples of the golden section scatter frequencies over rates.
      double const scattered = std::fmod(static_cast<double>(k) * std::numbers::phi, 1.);
      turn(k) = T(how.oscillates ? std::numbers::pi * scattered : 0);
    }
    rate_ = {model, name + ".log_sigma", rate, how.rates};
    turn_ = {model, name + ".omega", turn, how.frequencies && how.oscillates};
    width_ = {model, name + ".log_width", matrix<T>::Constant(1, 1, T(std::log(length / 2))),
              how.width};
    if (!how.adaptive) return;
    gate_ = model.spread(name + ".gate", how.nodes, s.width(), 1 / std::sqrt(s.width()));
    gate_bias_ = model.filled(name + ".gate_bias", 1, how.nodes, 2);  // nearly all are open
  }

  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const sigma = exponential(on, rate_(on)), width = exponential(on, width_(on)),
                 read_out = learned(on, read_out_);
    // The gradient passes the limits, so that a frequency may come back.
    tensor const omega = each(
        on, turn_(on), [](auto const& turn) { return turn.max(-most_turn).min(most_turn); },
        [](auto const& turn, auto const&) { return 0 * turn + 1; });
    tensor const gates =
        gate_ ? gates_of(on, in.x, s) : constant(on, matrix<T>::Ones(1, count_).eval());
    auto const nodes = [s, count = count_, sets = gate_ ? s.batch : 1](
                           auto* rates, auto* turns, auto* extent, auto* out, auto* masks) {
      using parameters = laplace_parameters<std::remove_pointer_t<decltype(rates)>>;
      return parameters{
          .sigma = {rates, 1, count},
          .omega = {turns, 1, count},
          .read_out = {reinterpret_cast<typename parameters::complex*>(out), 1, count, s.width()},
          .width = {extent, 1},
          .mask = {masks, sets, 1, count}};
    };
    auto const make = [=](tape<T> const& of) {
      return laplace<T, spectra::window_shape::hann>(
          {.value = in_heads(of[in.value], s.batch, 1)},
          nodes(of[sigma].data(), of[omega].data(), of[width].data(), of[read_out].data(),
                of[gates].data()));
    };
    return record_memory(on, {s.batch, s.time, 1, s.width()},
                         std::array{in.value, sigma, omega, width, read_out, gates}, make,
                         [=](auto const& op, auto& to) {
                           typename std::remove_cvref_t<decltype(op)>::gradients all;
                           all.value = in_heads(to[0], s.batch, 1);
                           all.nodes = nodes(to[1].data(), to[2].data(), to[3].data(), to[4].data(),
                                             to[5].data());
                           return all;
                         });
  }

 private:
  // Gates of the nodes, [B, S]: sigmoid(W pool(x) + b), where pool is the mean over the first
  // quarter of a sequence (STLT, section 3.6, without noise). The paper pools over all of it, which
  // a model that names the next symbol must not see.
  tensor gates_of(tape<T>& on, tensor x, token_shape const& s) const {
    auto const first_quarter = [s](auto& of) {
      auto rows = in_heads(of, s.batch, 1);
      rows.extent[1] = std::max<index>(1, s.time / 4);
      return rows;
    };
    auto const inputs = [=, this](tape<T> const& of) {
      return node_gate_inputs<T>{.x = first_quarter(of[x]),
                                 .weight = {of.weight(*gate_).data(), count_, s.width()},
                                 .bias = {of.weight(gate_bias_).data(), count_}};
    };
    matrix<double> logits(s.batch, count_);
    node_gate(inputs(on), {logits.data(), s.batch, count_});
    matrix<T> gates = logistic(logits.array()).template cast<T>();
    on.note_nodes(gates.sum());
    return on.record(std::move(gates), [=, this](tape<T>& back, tensor result) {
      auto const m = back[result].array();
      matrix<double> const g =
          (back.gradient(result).array() * m * (1 - m)).template cast<double>();
      matrix<T> dx = matrix<T>::Zero(back[x].rows(), back[x].cols());
      matrix<T> dweight(count_, s.width()), dbias(1, count_);
      node_gate_adjoint(inputs(back), {g.data(), s.batch, count_},
                        {.x = first_quarter(dx),
                         .weight = {dweight.data(), count_, s.width()},
                         .bias = {dbias.data(), count_}});
      back.give(x, std::move(dx));
      back.weight_gradient(*gate_) += dweight, back.weight_gradient(gate_bias_) += dbias;
    });
  }

  static constexpr T most_turn = T(3.14159);

  // Numbers that are learned, or stay as they begin.
  class numbers {
   public:
    numbers() = default;
    numbers(parameters<T>& model, std::string const& name, matrix<T> const& first, bool learns)
        : fixed_(first) {
      if (!learns) return;
      learned_ = model.given(name, first);
    }
    tensor operator()(tape<T>& on) const {
      return learned_ ? learned(on, *learned_) : constant(on, fixed_);
    }

   private:
    matrix<T> fixed_;
    std::optional<std::size_t> learned_;
  };

  index count_;
  std::size_t read_out_;
  std::optional<std::size_t> gate_;
  std::size_t gate_bias_ = 0;
  numbers rate_, turn_, width_;
};

}  // namespace wane::recall
