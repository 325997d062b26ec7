// The operators that wane-bench-ranks runs, each over the tokens of one rank.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/operators/retention.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace wane::bench {

// Numbers [1, tokens, heads, channels] between two ends. A number depends on its token alone, so
// all ranks together have what one rank has.
struct drawn_tokens {
  index first, tokens, heads;

  std::vector<float> of(unsigned seed, index channels, double low, double high) const {
    std::vector<float> x(static_cast<std::size_t>(tokens * heads * channels));
    std::uint64_t at =
        static_cast<std::uint64_t>(first * heads * channels) + (std::uint64_t{seed} << 48);
    for (float& number : x) {
      std::uint64_t z = at++ * 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u, z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      number = static_cast<float>(low + (high - low) * static_cast<double>(z >> 40) * 0x1p-24);
    }
    return x;
  }
  sequence_view<float> rows(std::vector<float>& x, index channels) const {
    return {x.data(), 1, tokens, heads, channels};
  }
  token_view<float> numbers(std::vector<float>& x) const { return {x.data(), 1, tokens, heads}; }
};

// A tensor of the tokens of a rank, and its gradient.
struct drawn_tensor {
  std::vector<float> values, gradient;
  drawn_tensor(std::vector<float> x) : values(std::move(x)), gradient(values.size()) {}
};

// Each is made of some tokens, and has op() and gradients().
// `fades`: within 1400 tokens; else what is written lasts.
template <index Heads, index Size, bool fades>
struct gla_of {
  static constexpr char const* name = fades ? "gla" : "gla, lasting";
  static constexpr index heads = Heads, size = Size, columns = size;
  drawn_tokens at;
  drawn_tensor q = at.of(1, size, -1, 1), k = at.of(2, size, -.2, .2), v = at.of(3, size, -1, 1),
               g = at.of(4, size, fades ? -.1 : -.0001, 0);
  auto op() {
    return gla<float>({.query = at.rows(q.values, size),
                       .key = at.rows(k.values, size),
                       .value = at.rows(v.values, size)},
                      at.rows(g.values, size));
  }
  auto gradients() {
    return gla<float>::gradients{.query = at.rows(q.gradient, size),
                                 .key = at.rows(k.gradient, size),
                                 .value = at.rows(v.gradient, size),
                                 .log_decay = at.rows(g.gradient, size)};
  }
};
using gla_memory = gla_of<8, 64, true>;

template <index Heads, index Size>
struct gated_delta_of {
  static constexpr char const* name = "gated_delta_net";
  static constexpr index heads = Heads, size = Size, columns = size;
  drawn_tokens at;
  drawn_tensor q = at.of(1, size, -1, 1), k = at.of(2, size, -1, 1), v = at.of(3, size, -1, 1),
               beta = at.of(4, 1, 0, 1), g = at.of(5, 1, -.01, 0);
  auto op() {
    return gated_delta_net<float>({.query = at.rows(q.values, size),
                                   .key = at.rows(k.values, size),
                                   .value = at.rows(v.values, size),
                                   .strength = at.numbers(beta.values)},
                                  at.numbers(g.values), {.normalise = true});
  }
  auto gradients() {
    return gated_delta_net<float>::gradients{.query = at.rows(q.gradient, size),
                                             .key = at.rows(k.gradient, size),
                                             .value = at.rows(v.gradient, size),
                                             .strength = at.numbers(beta.gradient),
                                             .log_decay = at.numbers(g.gradient)};
  }
};
using gated_delta_memory = gated_delta_of<8, 64>;

struct mamba2_memory {
  static constexpr char const* name = "mamba2";
  static constexpr index heads = 8, size = 128, columns = 64;
  drawn_tokens at, shared{at.first, at.tokens, 1};
  drawn_tensor x = at.of(1, columns, -1, 1), dt = at.of(2, 1, .001, .1),
               B = shared.of(3, size, -.3, .3), C = shared.of(4, size, -1, 1);
  std::vector<float> A = std::vector<float>(heads, -1), of_A = A, of_B = at.of(0, size, 0, 0),
                     of_C = of_B;
  auto op() {
    return mamba2<float>({.x = at.rows(x.values, columns),
                          .dt = at.numbers(dt.values),
                          .A = {A.data(), heads},
                          .B = shared.rows(B.values, size),
                          .C = shared.rows(C.values, size)});
  }
  auto gradients() {
    return mamba2<float>::gradients{.x = at.rows(x.gradient, columns),
                                    .dt = at.numbers(dt.gradient),
                                    .A = {of_A.data(), heads},
                                    .B = at.rows(of_B, size),
                                    .C = at.rows(of_C, size)};
  }
};

struct retention_memory {
  static constexpr char const* name = "retention";
  static constexpr index heads = 1, columns = 1024;
  static spectra::order_weights<float> const& weights() {
    static spectra::order_weights<float> const all(spectra::shared_rates(16, 65536));
    return all;
  }
  drawn_tokens at;
  drawn_tensor v = at.of(1, columns, -1, 1), alpha = at.of(2, 1, .2, .9);
  auto op() {
    return retention<float>(
        {.value = at.rows(v.values, columns), .alpha = at.numbers(alpha.values)},
        weights().table());
  }
  auto gradients() {
    return retention<float>::gradients{.value = at.rows(v.gradient, columns),
                                       .alpha = at.numbers(alpha.gradient)};
  }
};

struct channels_memory {
  static constexpr char const* name = "linear_recurrence";
  static constexpr index heads = 1, columns = 1024;
  drawn_tokens at;
  drawn_tensor a = at.of(1, columns, -.1, 0), b = at.of(2, columns, -1, 1);
  auto op() {
    return linear_recurrence<decay_as::log, float>(
        {.decay = at.rows(a.values, columns), .drive = at.rows(b.values, columns)});
  }
  auto gradients() {
    return linear_recurrence<decay_as::log, float>::gradients{
        .decay = at.rows(a.gradient, columns), .drive = at.rows(b.gradient, columns)};
  }
};

}  // namespace wane::bench
