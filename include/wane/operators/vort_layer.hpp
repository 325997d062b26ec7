// VORT's layer: retrieval of what keys find in all that was, and attention to the last tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/state/pair.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/undecayed_retrieval.hpp"

namespace wane {

// y_t = retrieval_t + local_attention_t (VORT, eq. 17), made of the two:
//   vort_layer<float> const layer({features, alpha, nodes}, {{query, key, value}, {.window = 64}});
// each with inputs, options and errors of its own, and both with the heads and columns of y, [B, T,
// H, V]. Accumulate is the retrieval's; attention computes in widened<Io>, and gives no entropy:
// where orders come of it (order_map), it is run before.
//
// The state is that of a pair, the retrieval's and then the ring of the last tokens; gradients are
// {.first = those of retrieval, .second = {query, key, value}}, and that of a value that both read
// is their sum.
template <class Io, normaliser Normaliser = normaliser::decayed, class Accumulate = widened<Io>,
          spectra::order_nodes<Accumulate> Nodes = spectra::order_table<Accumulate>>
using vort_layer = sum_of<retrieval<Io, Normaliser, Accumulate, Nodes>, local_attention<Io>>;

}  // namespace wane
