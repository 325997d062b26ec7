// Any text is the Laplace nodes of a model or refused; nodes that are read keep their promises.
// SPDX-License-Identifier: MIT
#include <cmath>

#include "fuzz/input.hpp"
#include "fuzz/memory_file.hpp"
#include "spectra/laplace_layers.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace wane::bench;
  static fuzz::memory_file const file("nodes.json");
  std::string const& path = file.with({reinterpret_cast<char const*>(data), size});
  std::vector<laplace_layer> layers;
  if (!fuzz::takes([&] { layers = read_laplace_layers(path); })) return 0;
  fuzz::must(!layers.empty(), "a file has no layer");
  for (auto const& layer : layers) {
    auto const& [sigma, omega, step] = layer.nodes;
    fuzz::must(!sigma.empty() && sigma.size() == omega.size(), "a layer has no nodes");
    fuzz::must(step > 0 && std::isfinite(step), "a step is not positive", step);
    for (std::size_t k = 0; k < sigma.size(); ++k) {
      fuzz::must(sigma[k] > 0 && std::isfinite(sigma[k]), "a node does not decay", sigma[k]);
      fuzz::must(std::isfinite(omega[k]), "a node turns without end", omega[k]);
    }
    fuzz::must(layer.window.width() > 0 && layer.window.width() <= widest_window,
               "a window has no width that can be used", layer.window.width());
    for (double const x : layer.mask) fuzz::must(x >= 0 && x <= 1, "a mask is no part of 1", x);
  }
  return 0;
}
