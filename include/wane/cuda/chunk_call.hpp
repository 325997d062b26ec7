// What a call of the chunk kernel asks for.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call.hpp"
#include "wane/cuda/chunk.hpp"

namespace wane::cuda {

inline constexpr std::size_t chunk_workspace_bytes = 2 * sizeof(std::uint64_t);

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class Op, class Out, class State>
chunk_arguments<Op, Out, State> chunk_call(Op const& op, sequence_view<Out> output,
                                           run_options<State> const& options,
                                           workspace const& memory) {
  auto const common = checked_call(op, output, options);
  check_rows<Config>(op);
  check_workspace(memory, chunk_workspace_bytes, "workspace_bytes");
  recurrence_shape const shape = op.shape();
  return {common,
          {shape, pieces_of<Config>(shape.columns),
           chunk_layout::of<Config, token_of<Op>, stored_for<Out>>(shape.rows),
           static_cast<std::uint64_t*>(memory.data), nullptr}};
}

// The kernel, as every thread of the machine runs it.
template <class Config, machine M, class Op, class Out, class State>
WANE_HOST_DEVICE void chunk_kernel(M& machine, chunk_arguments<Op, Out, State> const& arguments) {
  chunk_walk<Config, precision_for<Out>, M, Op, Out, State>(machine, arguments)();
}

}  // namespace wane::cuda
