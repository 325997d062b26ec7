// run on a GPU: scans, memories in chunks, and single tokens of memories.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/machine/device_queue.cuh"
#include "wane/cuda/workspace_bytes.hpp"

namespace wane::cuda {

// wane::run on a stream: the tensors of `op`, the output, states, positions and starts lie in
// memory that the device reads, and so does `memory`, of workspace_bytes(op, options). Returns when
// the work is queued; allocates nothing, and may be captured in a graph. The same bits each time.
//   wane::cuda::run(wane::cuda::stream{}, op, output, memory, {.final = state});
// The options threads and threads_over_time have no effect. Tensors may not overlap, but
// `final` may be `initial` (unless sequences are packed).
// MostRows, where given, run<64>(...), is the most rows that a memory with keys will have: one
// kernel is compiled then, in place of those for 64, 128 and 256.
// Throws wane::error when a shape does not fit, and wane::cuda::runtime_error when CUDA refuses.
template <int MostRows = impl::any_rows, class Op, class Out = output_type<Op>,
          class State = accumulate_type<Op>>
void run(stream on, Op const& op, sequence_view<Out> output, workspace memory,
         run_options<State> const& options = {}) {
  impl::queue_run<impl::device_sizes<MostRows>>(impl::device_queue(on), op, output, memory,
                                                options);
}

}  // namespace wane::cuda
