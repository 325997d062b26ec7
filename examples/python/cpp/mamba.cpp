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

// Runs a scan whose dt, A, and parameters of channels (D, dt_bias) have these ranks.
template <class Scan, class T, class Options, int dt, int A, int channels>
void carry_out_scan(call const& at) {
  Scan const memory({.x = at.input<T, 4>("x"),
                     .dt = at.input<T, dt>("dt"),
                     .A = at.input<T, A>("A"),
                     .B = at.input<T, 4>("B"),
                     .C = at.input<T, 4>("C"),
                     .D = at.input<T, channels>("D"),
                     .dt_bias = at.input<T, channels>("dt_bias")},
                    options_of<Options>(at));
  index const heads = memory.shape().heads;
  grouped_gradient<T> const dB(at, "B", heads), dC(at, "C", heads);
  at.carry_out<T>(memory, [&] {
    return typename Scan::gradients{.x = at.gradient<T, 4>("x"),
                                    .dt = at.gradient<T, dt>("dt"),
                                    .A = at.gradient<T, A>("A"),
                                    .B = dB.of_heads(),
                                    .C = dC.of_heads(),
                                    .D = at.gradient<T, channels>("D"),
                                    .dt_bias = at.gradient<T, channels>("dt_bias")};
  });
  dB.add_up(), dC.add_up();
}

template <class T>
struct mamba1 {
  static constexpr auto carry_out =
      carry_out_scan<wane::mamba1<T>, T, wane::mamba1_options, 4, 3, 2>;
};
template <class T>
struct mamba2 {
  static constexpr auto carry_out =
      carry_out_scan<wane::mamba2<T>, T, wane::mamba2_options, 3, 1, 1>;
};

}  // namespace

std::vector<memory> mamba_memories() {
  std::vector<char const*> const inputs{"x", "dt", "A", "B", "C", "D", "dt_bias"};
  std::vector<char const*> const options{"dt_softplus", "dt_least", "dt_most"};
  return {memory_of<mamba1>("mamba1", inputs, options),
          memory_of<mamba2>("mamba2", inputs, options)};
}

}  // namespace wane_python
