// lightning: the decays of lightning attention as rates, fixed by head and layer.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra::impl {

inline void require_layer(std::int64_t layer, std::int64_t layers) {
  require_count(layers, "layers");
  require(layer >= 0 && layer < layers, "layer is ", layer, "; it must be from 0 to ", layers - 1);
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

// Layers count from 0, and rates are in the order of the heads.

//   auto const rates = wane::spectra::lightning(16, 3, 24);  // heads, layer, layers
//
// rate_h = 8 h / H (1 - layer / layers), h = 0..H-1, slowest first; head 0 never forgets.
// (TransNormerLLM, Qin et al. 2023; flash-linear-attention's chunk_lightning_attn.)
inline std::vector<double> lightning(std::int64_t heads, std::int64_t layer, std::int64_t layers) {
  impl::require_count(heads, "heads"), impl::require_layer(layer, layers);
  double const all = static_cast<double>(layers), left = static_cast<double>(layers - layer) / all;
  std::vector<double> rates(static_cast<std::size_t>(heads));
  for (std::size_t h = 0; h < rates.size(); ++h)
    rates[h] = 8 * left * static_cast<double>(h) / static_cast<double>(heads);
  return rates;
}

// rate_h = 2^{-8 (h+1) / H} (1 - layer / (layers - 1) + 1e-5), fastest first: the slopes of ALiBi
// (Press et al. 2022), as in the code of Lightning Attention-2 (Qin et al. 2024) and MiniMax-01.
// Where H is no power of two, those of the power of two below it come first, then every second one
// of the power above.
inline std::vector<double> lightning_alibi(std::int64_t heads, std::int64_t layer,
                                           std::int64_t layers) {
  impl::require_count(heads, "heads"), impl::require_layer(layer, layers);
  double const last = layers > 1 ? static_cast<double>(layers - 1) : 1;
  double const left = 1 - static_cast<double>(layer) / last + 1e-5;
  std::int64_t power = 1;
  while (power <= heads / 2) power *= 2;
  std::vector<double> rates;
  for (std::int64_t h = 0; h < heads; ++h) {
    double const eighths =
        static_cast<double>(h < power ? h + 1 : h - power) + (h < power ? 0 : 0.5);
    rates.push_back(left * std::exp2(-8 * eighths / static_cast<double>(power)));
  }
  return rates;
}

}  // namespace wane::spectra
