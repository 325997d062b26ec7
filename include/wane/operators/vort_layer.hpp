// vort_layer: retrieval over the whole past plus attention to the last tokens (VORT).
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/state/pair.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/undecayed_retrieval.hpp"

namespace wane {

//   wane::vort_layer<float> const layer(
//       {{.query = phi_q, .key = phi_k, .value = v, .alpha = alpha}, nodes},
//       {{.query = q, .key = k, .value = v}, {.window = 64}});
//   wane::run(layer, y);
//
// y_t = retrieval_t + local_attention_t (VORT, eq. 17). Each part has inputs, options and errors of
// its own; both have the heads and columns of y, [B, T, H, V]. Accumulate is the type of the
// retrieval; attention computes in widened<Io>. The layer gives no entropy: where order_map needs
// one, run local_attention before.
//
// The state is a pair: that of retrieval, then the ring of the last tokens. Gradients are
// {.first = those of retrieval, .second = those of local_attention}. The gradient of a value that
// both parts read is the sum of the two.
template <class Io, normaliser Normaliser = normaliser::decayed, class Accumulate = widened<Io>,
          spectra::order_nodes<Accumulate> Nodes = spectra::order_table<Accumulate>>
using vort_layer = sum_of<retrieval<Io, Normaliser, Accumulate, Nodes>, local_attention<Io>>;

}  // namespace wane
