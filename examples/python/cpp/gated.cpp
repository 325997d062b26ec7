// Linear attention and gated linear attention.
// SPDX-License-Identifier: MIT
#include "keyed.hpp"
#include "memories.hpp"

namespace wane_python {
namespace {

template <class T>
wane::keyed_inputs<T> keyed_inputs_of(call const& at) {
  return {.query = at.input<T, 4>("q"), .key = at.input<T, 4>("k"), .value = at.input<T, 4>("v")};
}

// A decay for each token and row.
template <class T>
struct gla {
  static void carry_out(call const& at) {
    wane::gla const memory(keyed_inputs_of<T>(at), at.input<T, 4>("g"),
                           {.scale = at.option("scale")});
    keyed_gradients_of<T> const to(at);
    at.carry_out<T>(memory, [&] {
      return typename wane::gla<T>::gradients{.query = to.query.of_heads(),
                                              .key = to.key.of_heads(),
                                              .value = to.value,
                                              .log_decay = at.gradient<T, 4>("g")};
    });
    to.add_up();
  }
};

// A decay for each token and head, g, and a constant one for each head, g_gamma; either may be
// absent.
template <class T>
struct simple_gla {
  static void carry_out(call const& at) {
    wane::view<T const, 1> const constant = at.input<T, 1>("g_gamma");
    wane::token_view<T const> log_decay = log_decay_of_heads<T>(at);
    auto const& e = log_decay.extent;
    std::vector<T> sums;  // of both decays
    wane::require(!constant.data || constant.extent[0] == e[2], "g_gamma has heads ",
                  constant.extent[0], "; it must have ", e[2]);
    if (constant.data && at.has("g")) {
      for (index b = 0; b < e[0]; ++b)
        for (index t = 0; t < e[1]; ++t)
          for (index h = 0; h < e[2]; ++h) sums.push_back(log_decay(b, t, h) + constant(h));
      log_decay = {sums.data(), e[0], e[1], e[2]};
    } else if (constant.data) {
      log_decay = {constant.data, {e[0], e[1], e[2]}, {0, 0, constant.stride[0]}};
    }
    wane::gla const memory(keyed_inputs_of<T>(at), log_decay, {.scale = at.option("scale")});

    keyed_gradients_of<T> const to(at);
    wane::token_view<T> by_token = at.gradient<T, 3>("g");
    wane::view<T, 1> const by_head = at.gradient<T, 1>("g_gamma");
    std::vector<T> of_tokens;
    if (by_head.data && !by_token.data) {
      of_tokens.resize(static_cast<std::size_t>(e[0] * e[1] * e[2]));
      by_token = {of_tokens.data(), e[0], e[1], e[2]};
    }
    at.carry_out<T>(memory, [&] {
      return typename decltype(memory)::gradients{.query = to.query.of_heads(),
                                                  .key = to.key.of_heads(),
                                                  .value = to.value,
                                                  .log_decay = by_token};
    });
    to.add_up();
    if (by_head.data) wane::sum_over_tokens(by_token, by_head);
  }
};

// Means of values, weighed by q . k; the last column of the state is the sum of keys.
template <class T>
struct linear_attention {
  static void carry_out(call const& at) {
    wane::linear_attention<T> const memory(
        keyed_inputs_of<T>(at),
        {.keys = {.scale = at.option("scale")}, .floor = at.option("floor")});
    keyed_gradients_of<T> const to(at);
    at.carry_out<T>(memory, [&] {
      return typename decltype(memory)::gradients{
          .query = to.query.of_heads(), .key = to.key.of_heads(), .value = to.value};
    });
    to.add_up();
  }
};

}  // namespace

std::vector<memory> gated_memories() {
  return {memory_of<gla>("gla", {"q", "k", "v", "g"}, {"scale"}),
          memory_of<simple_gla>("simple_gla", {"q", "k", "v", "g", "g_gamma"}, {"scale"}),
          memory_of<linear_attention>("linear_attention", {"q", "k", "v"}, {"scale", "floor"})};
}

}  // namespace wane_python
