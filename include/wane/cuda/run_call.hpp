// Which kernel takes a recurrence, and what memory it asks for.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/one_token/call.hpp"
#include "wane/cuda/penalty/call.hpp"
#include "wane/cuda/scan/call.hpp"

namespace wane::cuda {

// What can be scanned is taken in chunks from so many rows on.
inline constexpr index rows_of_chunks = 16;

template <class Op>
bool runs_in_chunks(Op const& op) {
  if constexpr (chunkable<Op>)
    return !scannable<Op> || recurrence_shape(op.shape()).rows >= rows_of_chunks;
  else
    return false;
}

// One token of each sequence of such a memory has a kernel of its own, which keeps to the state.
template <class Op, class State>
bool runs_in_one_step(Op const& op, run_options<State> const& options) {
  return recurrence_shape(op.shape()).time == 1 && !options.packed.present();
}

// What no kernel takes is refused where the workspace is asked for, too.
template <class Op>
void check_rows_of_memory(Op const& op) {
  if constexpr (penalised_in_chunks<Op>)
    check_penalty<any_penalty_config>(op);
  else if (runs_in_chunks(op))
    check_rows<chunk_config<device_warps, most_rows_on_device>>(op);
}

// The bytes of workspace that run(stream, op, output, workspace, options) asks for. They depend on
// shapes alone, so that one workspace, of the largest, serves many calls that follow each other.
template <class Op, class State = accumulate_type<Op>>
std::size_t workspace_bytes(Op const& op, run_options<State> const& options = {}) {
  static_assert(step_workspace_bytes <= bytes_of_counters);
  check_operator<Op>();
  check_rows_of_memory(op);
  if constexpr (chunkable<Op>)
    if (runs_in_chunks(op)) return chunk_workspace_bytes<any_chunk_config>(op, options);
  if constexpr (penalised_in_chunks<Op>)
    return penalised_workspace_of<any_penalty_config, any_chunk_config>(op, options).bytes;
  else if constexpr (scannable<Op>)
    return scan_workspace_bytes<default_scan_config<accumulate_type<Op>>>(op, options);
  else
    return 0;
}

}  // namespace wane::cuda
