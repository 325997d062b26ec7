// LinearAttention of ONNX: a prompt, then tokens one by one; the state goes from node to node.
// SPDX-License-Identifier: MIT
#include "onnx_linear_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr wane::index prompt = 96, tokens = 128, q_heads = 8, kv_heads = 2, d_k = 32, d_v = 64;
using numbers = std::vector<float>;

numbers some(wane::index count, float low, float high) {
  static std::mt19937 bits(1);
  std::uniform_real_distribution<float> even(low, high);
  numbers x(static_cast<std::size_t>(count));
  for (float& each : x) each = even(bits);
  return x;
}

// Tokens [begin, end) of [1, tokens, width].
template <class T>
onnx::packed<T> part(T* data, wane::index width, wane::index begin, wane::index end) {
  return {data + begin * width, 1, end - begin, width};
}

}  // namespace

int main() {
  float const short_key = 1 / std::sqrt(float{d_k});
  numbers const query = some(tokens * q_heads * d_k, -1, 1);
  numbers const key = some(tokens * kv_heads * d_k, -short_key, short_key);
  numbers const value = some(tokens * kv_heads * d_v, -1, 1);
  numbers const decay = some(tokens * kv_heads, -0.1f, 0), beta = some(tokens * kv_heads, 0, 1);
  onnx::attributes const node{onnx::update_rule::gated_delta, q_heads, kv_heads};

  // A node of the model: what it computes for tokens [begin, end), from one state to the next.
  auto const run_node = [&](wane::index begin, wane::index end, float const* past, numbers& output,
                            numbers& present) {
    onnx::linear_attention<float, float>(node,
                                         {.query = part(query.data(), q_heads * d_k, begin, end),
                                          .key = part(key.data(), kv_heads * d_k, begin, end),
                                          .value = part(value.data(), kv_heads * d_v, begin, end),
                                          .past_state = past,
                                          .decay = part(decay.data(), kv_heads, begin, end),
                                          .beta = part(beta.data(), kv_heads, begin, end),
                                          .output = part(output.data(), q_heads * d_v, begin, end),
                                          .present_state = present.data()});
  };
  numbers whole(tokens * q_heads * d_v), decoded = whole;
  numbers state(kv_heads * d_k * d_v), after_all = state;
  run_node(0, tokens, nullptr, whole, after_all);
  run_node(0, prompt, nullptr, decoded, state);
  for (wane::index t = prompt; t < tokens; ++t) run_node(t, t + 1, state.data(), decoded, state);

  float apart = 0, largest = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    apart = std::max(apart, std::abs(whole[i] - decoded[i]));
    largest = std::max(largest, std::abs(whole[i]));
  }
  std::printf("%d query heads read %d states of %d x %d\n", int{q_heads}, int{kv_heads}, int{d_k},
              int{d_v});
  std::printf("prompt of %d and %d tokens one by one: %.1e from one run, of %.2f\n", int{prompt},
              int{tokens - prompt}, static_cast<double>(apart), static_cast<double>(largest));
  return apart <= 1e-5f * largest ? 0 : 1;
}
