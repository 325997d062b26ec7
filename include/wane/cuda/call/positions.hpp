// How the kernels of run write the positions of the final state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/machine/machine.hpp"

namespace wane::cuda::impl {

// The last block to end writes the positions, because other blocks may read positions from the same
// memory. Every thread calls this when no work is left. `finished` counts blocks. `count` is a
// place in shared memory for this call alone.
template <machine M, class Arguments>
WANE_HOST_DEVICE void write_positions(M& machine, Arguments const& a, std::uint64_t* finished,
                                      std::uint64_t* count) {
  if (!a.final_positions) return;
  machine.barrier();
  if (machine.thread() == 0) machine.write_shared(count, machine.count(finished));
  machine.barrier();
  if (machine.read_shared(count) != static_cast<std::uint64_t>(a.blocks - 1)) return;
  for (index n = machine.thread(); n < a.states; n += M::threads)
    a.final_positions[n] =
        (a.sequences.positions ? a.sequences.positions[n] : 0) + a.sequences.length(n);
}

}  // namespace wane::cuda::impl
