// The logits of decay that RWKV-7's own training code begins with.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/algebra/softplus.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/rates/post_initial.hpp"

namespace wane::spectra {

// A layer, counted from 0, of how many.
struct place_in_depth {
  std::int64_t layer = 0;
  std::int64_t layers = 1;
};

//   auto const w0 = wane::spectra::rwkv7_initial_logits(768, 64, {.layer = 5, .layers = 12});
//
//   w0_n = -6 + 6 (n / (C-1))^(1 + depth^0.3) + 0.5 + zigzag_n,    depth = layer / (layers - 1),
//
// by channel, not in the order of the rates: the zigzag runs from -2.5 to 2.5 within each head.
// Without it the logits go from -5.5 to 0.5. (RWKV-LM, RWKV-v7 training code; PoST, Table 8, calls
// it the official power law with zigzag.) One layer alone has depth 0.
inline std::vector<double> rwkv7_initial_logits(std::int64_t channels, std::int64_t of_head,
                                                place_in_depth place) {
  impl::require_count(place.layers, "layers");
  require(place.layer >= 0 && place.layer < place.layers, "layer is ", place.layer,
          "; it must be from 0 to ", place.layers - 1);
  std::vector<double> logits = rwkv7_zigzag(channels, of_head);
  double const last = channels > 1 ? static_cast<double>(channels - 1) : 1;
  double const depth =
      place.layers > 1 ? static_cast<double>(place.layer) / static_cast<double>(place.layers - 1)
                       : 0;
  double const power = 1 + std::pow(depth, 0.3);
  for (std::size_t n = 0; n < logits.size(); ++n) {
    logits[n] += -5.5 + 6 * std::pow(static_cast<double>(n) / last, power);
  }
  return logits;
}

// The rates of such logits where the input adds nothing: e^{-1/2} logistic(w0), by channel.
inline std::vector<double> rwkv7_rates(std::vector<double> const& logits) {
  std::vector<double> rates;
  for (double const logit : logits) rates.push_back(rwkv7_fastest_rate * logistic(logit));
  return rates;
}

}  // namespace wane::spectra
