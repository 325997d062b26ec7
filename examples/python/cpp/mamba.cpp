// The selective scans of Mamba and Mamba-2.
// SPDX-License-Identifier: MIT
#include "memories.hpp"

namespace wane_python {
namespace {

// dt_softplus, and dt_limit as two numbers.
template <class Options>
Options options_of(call const& at) {
  Options options;
  options.dt_softplus = at.is_set("dt_softplus");
  options.dt_limit[0] = at.option("dt_least"), options.dt_limit[1] = at.option("dt_most");
  return options;
}

template <class T>
struct mamba1 {
  static void carry_out(call const& at) {
    wane::mamba1<T> const memory({.x = at.input<T, 4>("x"),
                                  .dt = at.input<T, 4>("dt"),
                                  .A = at.input<T, 3>("A"),
                                  .B = at.input<T, 4>("B"),
                                  .C = at.input<T, 4>("C"),
                                  .D = at.input<T, 2>("D"),
                                  .dt_bias = at.input<T, 2>("dt_bias")},
                                 options_of<wane::mamba1_options>(at));
    index const heads = memory.shape().heads;
    grouped_gradient<T> const dB(at, "B", heads), dC(at, "C", heads);
    at.carry_out<T>(memory, [&] {
      return typename wane::mamba1<T>::gradients{.x = at.gradient<T, 4>("x"),
                                                 .dt = at.gradient<T, 4>("dt"),
                                                 .A = at.gradient<T, 3>("A"),
                                                 .B = dB.of_heads(),
                                                 .C = dC.of_heads(),
                                                 .D = at.gradient<T, 2>("D"),
                                                 .dt_bias = at.gradient<T, 2>("dt_bias")};
    });
    dB.add_up(), dC.add_up();
  }
};

template <class T>
struct mamba2 {
  static void carry_out(call const& at) {
    wane::mamba2<T> const memory({.x = at.input<T, 4>("x"),
                                  .dt = at.input<T, 3>("dt"),
                                  .A = at.input<T, 1>("A"),
                                  .B = at.input<T, 4>("B"),
                                  .C = at.input<T, 4>("C"),
                                  .D = at.input<T, 1>("D"),
                                  .dt_bias = at.input<T, 1>("dt_bias")},
                                 options_of<wane::mamba2_options>(at));
    index const heads = memory.shape().heads;
    grouped_gradient<T> const dB(at, "B", heads), dC(at, "C", heads);
    at.carry_out<T>(memory, [&] {
      return typename wane::mamba2<T>::gradients{.x = at.gradient<T, 4>("x"),
                                                 .dt = at.gradient<T, 3>("dt"),
                                                 .A = at.gradient<T, 1>("A"),
                                                 .B = dB.of_heads(),
                                                 .C = dC.of_heads(),
                                                 .D = at.gradient<T, 1>("D"),
                                                 .dt_bias = at.gradient<T, 1>("dt_bias")};
    });
    dB.add_up(), dC.add_up();
  }
};

}  // namespace

std::vector<memory> mamba_memories() {
  return {memory_of<mamba1>("mamba1", {"x", "dt", "A", "B", "C", "D", "dt_bias"},
                            {"dt_softplus", "dt_least", "dt_most"}),
          memory_of<mamba2>("mamba2", {"x", "dt", "A", "B", "C", "D", "dt_bias"},
                            {"dt_softplus", "dt_least", "dt_most"})};
}

}  // namespace wane_python
