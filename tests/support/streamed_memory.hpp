// Memories whose tokens come from a rule: token t of sequence n is the same numbers whenever asked.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/mamba2.hpp"

namespace support {

using wane::index;

// A number in [-1, 1) for each place; `draft` tells wrong tokens from right ones.
struct token_name {
  index sequence, time;
  bool draft = false;

  float number(index array, index channel) const {
    std::uint64_t x = 1;
    for (index const part : {sequence, time, index{draft}, array, channel}) {
      x = (x ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
      x ^= x >> 29;
    }
    return static_cast<float>(x >> 40) * 0x1p-23f - 1;
  }
};

// An array of the inputs: its channels, and where its numbers lie.
struct input_array {
  index channels;
  float low = -1, high = 1;
};

// The arrays of the inputs of a memory, for as many tokens as `resize` says, and its outputs.
class streamed_inputs {
 public:
  explicit streamed_inputs(std::vector<input_array> const& shapes) : shapes_(shapes) {}

  void resize(index tokens) {
    arrays_.clear();
    for (input_array const& each : shapes_)
      arrays_.emplace_back(static_cast<std::size_t>(tokens * each.channels), NAN);
  }
  void put(index place, token_name const& token) {
    for (std::size_t a = 0; a < arrays_.size(); ++a) {
      auto const [channels, low, high] = shapes_[a];
      for (index c = 0; c < channels; ++c)
        arrays_[a][static_cast<std::size_t>(place * channels + c)] =
            low + (high - low) / 2 * (1 + token.number(static_cast<index>(a), c));
    }
  }
  float const* operator[](std::size_t array) const { return arrays_[array].data(); }

 private:
  std::vector<input_array> shapes_;
  std::vector<std::vector<float>> arrays_;
};

struct streamed_delta_net {
  static constexpr char const* name = "gated_delta_net";
  static constexpr index heads = 2, rows = 16, columns = 16;
  static std::vector<input_array> inputs() {
    return {{heads * rows}, {heads * rows}, {heads * columns}, {heads, 0, 1}, {heads, -0.2f, 0}};
  }
  static auto make(streamed_inputs const& x, index batch, index time) {
    return wane::gated_delta_net<float>({.query = {x[0], batch, time, heads, rows},
                                         .key = {x[1], batch, time, heads, rows},
                                         .value = {x[2], batch, time, heads, columns},
                                         .strength = {x[3], batch, time, heads}},
                                        {x[4], batch, time, heads}, {.normalise = true});
  }
};

struct streamed_mamba2 {
  static constexpr char const* name = "mamba2";
  static constexpr index heads = 3, rows = 16, columns = 8;
  static constexpr float rates[] = {-1, -0.25, -0.0625}, tapers[] = {0, 0.5, 1};
  static std::vector<input_array> inputs() { return {{heads * columns}, {heads}, {rows}, {rows}}; }
  static auto make(streamed_inputs const& x, index batch, index time) {
    return wane::mamba2<float>({.x = {x[0], batch, time, heads, columns},
                                .dt = {x[1], batch, time, heads},
                                .A = {rates, heads},
                                .B = {x[2], batch, time, 1, rows},
                                .C = {x[3], batch, time, 1, rows},
                                .taper = {tapers, heads}},
                               {.dt_softplus = true});
  }
};

struct streamed_attention {
  static constexpr char const* name = "local_attention";
  static constexpr index heads = 2, rows = 8, columns = 8;
  static std::vector<input_array> inputs() {
    return {{heads * rows}, {heads * rows}, {heads * columns}};
  }
  static auto make(streamed_inputs const& x, index batch, index time) {
    return wane::local_attention<float>({.query = {x[0], batch, time, heads, rows},
                                         .key = {x[1], batch, time, heads, rows},
                                         .value = {x[2], batch, time, heads, columns}},
                                        {.window = 13});
  }
};

}  // namespace support
