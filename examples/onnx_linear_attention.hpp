// A node LinearAttention of ONNX (opset 27) as a run of wane: its tensors are viewed, not copied.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <wane/wane.hpp>

namespace onnx {

using wane::index;

enum class update_rule { linear, gated, delta, gated_delta };

// chunk_size, a hint, is left out: wane chooses.
struct attributes {
  onnx::update_rule update_rule = update_rule::gated_delta;
  index q_num_heads = 1, kv_num_heads = 1;
  float scale = 0;  // 0: 1/sqrt(d_k)
};

// [B, T, width]: `width` is heads times channels.
template <class T>
struct packed {
  T* data = nullptr;
  index batch = 0, time = 0, width = 0;

  bool given() const { return width > 0; }
  wane::sequence_view<T> heads(index count) const {
    return {data, batch, time, count, width / count};
  }
};

// Inputs and outputs of the node, in its order. An input that the node leaves out is left out.
template <class T, class S>
struct tensors {
  packed<T const> query, key, value;
  S const* past_state = nullptr;  // [B, kv_num_heads, d_k, d_v]
  packed<T const> decay = {}, beta = {};
  packed<T> output = {};
  S* present_state = nullptr;
};

// Runs `memory`, or `memory` with several queries a head.
template <class T, class S, class Memory>
void run(attributes const& node, tensors<T, S> const& x, Memory const& memory) {
  index const d_k = x.key.width / node.kv_num_heads, d_v = x.value.width / node.kv_num_heads;
  auto const state = [&](auto* data) {
    return wane::view<std::remove_pointer_t<decltype(data)>, 4>(data, x.query.batch,
                                                                node.kv_num_heads, d_k, d_v);
  };
  wane::run_options<S> options;
  if (x.past_state) options.initial = {state(x.past_state)};
  options.final = {state(x.present_state)};
  wane::sequence_view<T> const output = x.output.heads(node.q_num_heads);
  if (memory.queries() == 1)
    wane::run(memory, output, options);
  else
    wane::run(wane::grouped_queries(memory), output, options);
}

// Throws wane::error where attributes and tensors do not fit.
template <class T, class S>
void linear_attention(attributes const& node, tensors<T, S> const& x) {
  using wane::require;
  bool const gated =
      node.update_rule == update_rule::gated || node.update_rule == update_rule::gated_delta;
  bool const erases =
      node.update_rule == update_rule::delta || node.update_rule == update_rule::gated_delta;
  index const heads = node.kv_num_heads;
  require(heads > 0 && node.q_num_heads > 0 && node.q_num_heads % heads == 0, "q_num_heads is ",
          node.q_num_heads, "; it must be a multiple of kv_num_heads, ", heads);
  auto const check = [&](char const* name, auto const& tensor, index count) {
    require(tensor.width > 0 && tensor.width % count == 0, name, " is ", tensor.width,
            " wide; it must be a multiple of its heads, ", count);
  };
  check("query", x.query, node.q_num_heads), check("key", x.key, heads);
  check("value", x.value, heads), check("output", x.output, node.q_num_heads);
  require(gated == x.decay.given(), "decay belongs to the rules gated and gated_delta, alone");
  require(erases == x.beta.given(), "beta belongs to the rules delta and gated_delta, alone");
  wane::keyed_options const options{
      .scale = node.scale == 0 ? std::nullopt : std::optional<double>(node.scale),
      .queries = node.q_num_heads / heads};
  wane::keyed_inputs<T> const in{.query = x.query.heads(node.q_num_heads),
                                 .key = x.key.heads(heads),
                                 .value = x.value.heads(heads)};

  // The decay is [B, T, H], or [B, T, H d_k]; without one it is a 0 at every token and head.
  static T const never = T(0);
  index const B = x.query.batch, Time = x.query.time, d_k = x.key.width / heads;
  bool const by_row = gated && x.decay.width == heads * d_k && d_k > 1;
  require(!gated || by_row || x.decay.width == heads, "decay is ", x.decay.width,
          " wide; it must be ", heads, " or ", heads * d_k);
  wane::token_view<T const> const of_heads =
      gated ? wane::token_view<T const>(x.decay.data, x.decay.batch, x.decay.time, heads)
            : wane::token_view<T const>(&never, {B, Time, heads}, {0, 0, 0});
  if (!erases) {
    if (by_row) return run(node, x, wane::gla<T>(in, x.decay.heads(heads), options));
    return run(node, x, wane::gla<T, wane::token_view<T const>>(in, of_heads, options));
  }
  require(x.beta.width == heads || x.beta.width == 1, "beta is ", x.beta.width,
          " wide; it must be ", heads, " or 1");
  wane::delta_inputs<T> const delta{
      .query = in.query,
      .key = in.key,
      .value = in.value,
      .strength = {x.beta.data,
                   {x.beta.batch, x.beta.time, heads},
                   {x.beta.time * x.beta.width, x.beta.width, x.beta.width == 1 ? 0 : 1}}};
  if (by_row)
    return run(node, x, wane::kimi_delta_attention<T>(delta, x.decay.heads(heads), options));
  run(node, x, wane::gated_delta_net<T>(delta, of_heads, options));
}

}  // namespace onnx
