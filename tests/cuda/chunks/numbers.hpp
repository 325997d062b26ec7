// Inputs of memories with keys, and operators of each kind that read them.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "support/random_values.hpp"
#include "wane/core/numbers/storage.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/hgrn2.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/operators/vla.hpp"
#include "wane/operators/vla_delta_net.hpp"

namespace support {

using wane::direction;
using wane::index;

struct chunk_shape {
  index batch = 1, time = 37, heads = 2, rows = 5, columns = 17;
  index of(index channels) const { return batch * time * heads * channels; }
};

// Numbers that every type holds exactly: those of bfloat16.
template <class Io>
struct chunk_numbers {
  using T = wane::widened<Io>;
  chunk_shape shape;
  random_values random{7};
  bool strong = false;  // some decays are 0, resets, or round to 1
  std::vector<Io> query = numbers(shape.rows, 1), key = numbers(shape.rows, 1),
                  value = numbers(shape.columns, 2), removal = numbers(shape.rows, 1),
                  rate = numbers(shape.rows, 0.5), strength = numbers(1, 1),
                  by_head = log_decays(1), by_row = log_decays(shape.rows), factor = factors();
  std::vector<T> constant = std::vector<T>(static_cast<std::size_t>(shape.heads), T(-0.03125)),
                 taper = std::vector<T>(static_cast<std::size_t>(shape.heads), T(0.5)),
                 bonus = parameters(shape.rows);

  wane::gla<Io> gla() const { return {in(), rows_of(by_row)}; }
  wane::hgrn2<Io> hgrn2() const {
    return {{.query = rows_of(query), .value = tensor(value, shape.columns)}, rows_of(by_row)};
  }
  wane::retnet<Io> retnet() const { return {in(), {{constant.data(), shape.heads}}}; }
  // Its taper looks at positions, its D is direct.
  wane::mamba2<Io> mamba2() const {
    wane::view<T const, 1> const of_heads(constant.data(), shape.heads);
    return wane::mamba2<Io>({.x = tensor(value, shape.columns),
                             .dt = heads_of(strength),
                             .A = of_heads,
                             .B = rows_of(key),
                             .C = rows_of(query),
                             .D = of_heads,
                             .taper = {taper.data(), shape.heads}});
  }
  wane::gated_delta_net<Io> gated_delta_net() const {
    return {delta_in(), heads_of(by_head), {.normalise = true}};
  }
  wane::delta_net<Io> delta_net() const {
    return wane::delta_net<Io>(delta_in(), {.normalise = true});
  }
  // One in four of its decays is 0.
  wane::vla_delta_net<Io> vla_delta_net() const {
    return wane::vla_delta_net<Io>(in<wane::vla_delta_net_inputs<Io>>({.decay = heads_of(factor)}),
                                   {.normalise = true});
  }
  wane::kimi_delta_attention<Io> kimi() const {
    return {delta_in(), rows_of(by_row), {.normalise = true}};
  }
  wane::rwkv7<Io> rwkv7() const {
    return {in<wane::rwkv7_inputs<Io>>({.removal = rows_of(removal),
                                        .rate = rows_of(rate),
                                        .bonus = {bonus.data(), shape.heads, shape.rows}}),
            rows_of(by_row),
            {.normalise = true}};
  }
  // Directions are given, or are the keys.
  wane::vla_inputs<Io> vla_in(bool given) const {
    auto x = in<wane::vla_inputs<Io>>();
    if (given) x.direction = rows_of(removal);
    return x;
  }
  template <wane::write_rule Rule>
  wane::vla<Io, Rule> vla(bool given) const {
    return wane::vla<Io, Rule>(vla_in(given), {.lambda = 0.1});
  }
  template <wane::write_rule Rule>
  wane::vla<Io, Rule, wane::token_view<Io const>> fading_vla(bool given) const {
    return {vla_in(given), heads_of(by_head), {.lambda = 0.1}};
  }

 private:
  static Io held(double x) { return static_cast<Io>(static_cast<float>(wane::bfloat16(float(x)))); }
  std::vector<Io> numbers(index channels, double size) {
    std::vector<Io> x;
    for (index i = 0; i < shape.of(channels); ++i) x.push_back(held(size * random.uniform(0, 1)));
    return x;
  }
  std::vector<T> parameters(index each) {
    std::vector<T> x;
    for (index i = 0; i < shape.heads * each; ++i)
      x.push_back(static_cast<T>(random.uniform(0, 1)));
    return x;
  }
  std::vector<Io> log_decays(index channels) {
    constexpr double reset = -std::numeric_limits<double>::infinity();
    double const kinds[] = {0, -1e-7, -0.5, -8, -60, -1000, reset};
    std::vector<Io> x;
    for (index i = 0; i < shape.of(channels); ++i) {
      double const slow = -0.1 * random.uniform(0, 1);
      auto const kind = static_cast<std::size_t>(random.uniform(0, 40));
      x.push_back(held(!strong || kind >= std::size(kinds) ? slow : kinds[kind]));
    }
    return x;
  }
  std::vector<Io> factors() {
    std::vector<Io> x = numbers(1, 1);
    for (std::size_t i = 0; i < x.size(); i += 4) x[i] = held(0);
    return x;
  }
  wane::sequence_view<Io const> tensor(std::vector<Io> const& x, index channels) const {
    return {x.data(), shape.batch, shape.time, shape.heads, channels};
  }
  wane::sequence_view<Io const> rows_of(std::vector<Io> const& x) const {
    return tensor(x, shape.rows);
  }
  wane::token_view<Io const> heads_of(std::vector<Io> const& x) const {
    return {x.data(), shape.batch, shape.time, shape.heads};
  }
  template <class Inputs = wane::keyed_inputs<Io>>
  Inputs in(Inputs x = {}) const {
    x.query = rows_of(query), x.key = rows_of(key), x.value = tensor(value, shape.columns);
    return x;
  }
  wane::delta_inputs<Io> delta_in() const {
    return in<wane::delta_inputs<Io>>({.strength = heads_of(strength)});
  }
};

// Of penalised memories, R, upper triangular and far from singular, and the log of what is left of
// lambda, in the last columns of states.
template <class T, class Op>
void set_factors(wane::impl::aligned_vector<T>& values, Op const& op) {
  if constexpr (wane::penalised_memory<Op>) {
    wane::recurrence_shape const shape = op.shape();
    for (std::size_t n = 0; n < values.size(); ++n) {
      index const at = static_cast<index>(n), row = at / shape.columns % shape.rows,
                  column = at % shape.columns - op.output_columns();
      if (column >= 0) values[n] /= 8;
      if (column == row) values[n] = 1 + std::abs(values[n]);
      if (column >= 0 && column < row) values[n] = 0;
      if (column == shape.rows) values[n] = row == 0 ? T(-0.5) : T(0);
    }
  }
}

}  // namespace support
