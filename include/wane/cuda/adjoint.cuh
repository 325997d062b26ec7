// adjoint on a GPU: gradients of scans and of memories in chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/gradient.hpp"
#include "wane/cuda/run.cuh"

namespace wane::cuda {

// wane::adjoint on a stream. Memory and errors are as in wane::cuda::run; `memory` has
// adjoint_workspace_bytes(op, options) bytes. A run finds the states again and keeps some; another
// kernel goes backward; a third adds up sums over columns. Gradients by decays of elements in a
// memory with rows, and by skips, are not supported. Gradients must not overlap inputs.
//   wane::cuda::adjoint(wane::cuda::stream{}, op, output_gradient, gradients, memory);
template <int MostRows = impl::any_rows, class Op, class Out = output_type<Op> const,
          class Gradients = wane::impl::own_gradients<Op>, class State = accumulate_type<Op>>
void adjoint(stream on, Op const& op, sequence_view<Out> output_gradient,
             Gradients const& gradients, workspace memory,
             adjoint_options<State> const& options = {}) {
  impl::queue_adjoint<impl::device_sizes<MostRows>>(impl::device_queue(on), op, output_gradient,
                                                    gradients, memory, options);
}

}  // namespace wane::cuda
