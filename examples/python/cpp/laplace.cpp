// STLT's Laplace nodes, without a window, through an exponential or through Hann's.
// SPDX-License-Identifier: MIT
#include "memories.hpp"

namespace wane_python {
namespace {

template <class T>
struct laplace {
  using complex = std::complex<T>;

  template <wane::spectra::window_shape Window>
  static void carry_out_with(call const& at) {
    using transform = wane::laplace<T, Window>;
    transform const memory({.value = at.input<T, 4>("x")},
                           {.sigma = at.input<T, 2>("sigma"),
                            .omega = at.input<T, 2>("omega"),
                            .read_out = at.input<complex, 3>("read_out"),
                            .width = at.input<T, 1>("width"),
                            .mask = at.input<T, 3>("mask")});
    at.carry_out<T>(memory, [&] {
      return
          typename transform::gradients{.value = at.gradient<T, 4>("x"),
                                        .nodes = {.sigma = at.gradient<T, 2>("sigma"),
                                                  .omega = at.gradient<T, 2>("omega"),
                                                  .read_out = at.gradient<complex, 3>("read_out"),
                                                  .width = at.gradient<T, 1>("width"),
                                                  .mask = at.gradient<T, 3>("mask")}};
    });
  }
  static void carry_out(call const& at) {
    using wane::spectra::window_shape;
    if (!at.has("width"))
      carry_out_with<window_shape::none>(at);
    else if (at.is_set("hann"))
      carry_out_with<window_shape::hann>(at);
    else
      carry_out_with<window_shape::exponential>(at);
  }
};

}  // namespace

std::vector<memory> laplace_memories() {
  return {memory_of<laplace>("laplace", {"x", "sigma", "omega", "read_out", "width", "mask"},
                             {"hann"})};
}

}  // namespace wane_python
