// lightning_attention: linear attention whose decays are fixed by the head and the layer.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/retnet.hpp"

namespace wane {

// Which of how many layers; layers count from 0.
struct lightning_layer {
  index layer, layers;
};

// log w = -8 h / H (1 - layer / layers) for head h of H, as spectra::lightning().
template <class T>
class lightning_gate {
 public:
  // Throws wane::error unless 0 <= layer < layers.
  lightning_gate(index heads, lightning_layer const& in) {
    require(in.layers > 0, "layers is ", in.layers, "; it must be at least 1");
    require(in.layer >= 0 && in.layer < in.layers, "layer is ", in.layer, "; it must be from 0 to ",
            in.layers - 1);
    double const left = static_cast<double>(in.layers - in.layer) / static_cast<double>(in.layers);
    slope_ = -8 * left / static_cast<double>(heads);
  }

  WANE_INLINE T read(place<> where) const {
    return static_cast<T>(slope_ * static_cast<double>(where.head));
  }

 private:
  double slope_;
};

// S_t = w_h S_{t-1} + k_t v_t^T,   y_t = scale S_t^T q_t,   w_h = e^{-8 h / H (1 - layer / layers)}
// (Qin et al. 2024, 'Lightning Attention-2', with the decays of TransNormerLLM.)
//
//   wane::lightning_attention<float> const memory({.query = q, .key = k, .value = v},
//                                                 {.layer = 3, .layers = 24});
//   wane::run(memory, y);
//
// The state is [B, H, K, V]. MiniMax-01 has other decays: retnet with spectra::lightning_alibi().
template <class Io, class Accumulate = widened<Io>>
class lightning_attention : public retnet<Io, lightning_gate<widened<Io>>, Accumulate> {
  using gate = lightning_gate<widened<Io>>;

 public:
  // Throws wane::error when the shapes do not fit, an option is out of range, or there is no such
  // layer.
  lightning_attention(keyed_inputs<Io> const& in, lightning_layer const& layer,
                      keyed_options const& options = {})
      : retnet<Io, gate, Accumulate>(in, gate(in.value.extent[2], layer), options) {}
};

}  // namespace wane
