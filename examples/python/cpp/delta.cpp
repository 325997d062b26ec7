// The delta rule, with a decay for each head or each row.
// SPDX-License-Identifier: MIT
#include "keyed.hpp"
#include "memories.hpp"

namespace wane_python {
namespace {

template <class T>
wane::delta_inputs<T> delta_inputs_of(call const& at) {
  return {.query = at.input<T, 4>("q"),
          .key = at.input<T, 4>("k"),
          .value = at.input<T, 4>("v"),
          .strength = at.input<T, 3>("beta")};
}
wane::keyed_options options_of(call const& at) {
  return {.scale = at.option("scale"), .normalise = at.is_set("normalise")};
}

template <class T, int Rank>
void carry_out_delta(call const& at, wane::view<T const, Rank> const& log_decay) {
  wane::delta_net const memory(delta_inputs_of<T>(at), log_decay, options_of(at));
  keyed_gradients_of<T> const to(at);
  at.carry_out<T>(memory, [&] {
    return typename decltype(memory)::gradients{.query = to.query.of_heads(),
                                                .key = to.key.of_heads(),
                                                .value = to.value,
                                                .strength = at.gradient<T, 3>("beta"),
                                                .log_decay = at.gradient<T, Rank>("g")};
  });
  to.add_up();
}

// g: [B, T, H], or absent.
template <class T>
struct gated_delta_rule {
  static void carry_out(call const& at) { carry_out_delta<T>(at, log_decay_of_heads<T>(at)); }
};
// g: [B, T, H, K]
template <class T>
struct kda {
  static void carry_out(call const& at) { carry_out_delta<T>(at, at.input<T, 4>("g")); }
};

}  // namespace

std::vector<memory> delta_memories() {
  return {memory_of<gated_delta_rule>("gated_delta_rule", {"q", "k", "v", "g", "beta"},
                                      {"scale", "normalise"}),
          memory_of<kda>("kda", {"q", "k", "v", "g", "beta"}, {"scale", "normalise"})};
}

}  // namespace wane_python
