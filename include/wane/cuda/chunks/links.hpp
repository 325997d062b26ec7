// link_segments: finds the states between segments that were walked in parallel.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunks/plan.hpp"
#include "wane/cuda/machine/kernel.hpp"

namespace wane::cuda::impl {

// Finds the states before segments, one after the other: S <- E + T S with the E and T of the
// segment before (chunk_segments). A backward walk has its own E and takes T^T. One block takes
// some columns of a head of a sequence, one thread some rows of a column.
inline constexpr index columns_of_links = 8;
template <class Arguments>
index blocks_of_links(Arguments const& a) {
  return a.states * a.shape.heads * ((a.shape.columns + columns_of_links - 1) / columns_of_links);
}
template <class Config, machine M, class Arguments>
WANE_HOST_DEVICE void link_segments(M& machine, Arguments const& a, index block) {
  constexpr bool back = Arguments::goes_back;
  index const groups = (a.shape.columns + columns_of_links - 1) / columns_of_links;
  index const sequence_head = block / groups, rows = whole_rows(a.shape.rows);
  index const columns = (a.pieces + a.segments.unit_pieces) * Config::columns;
  index const column = block % groups * columns_of_links + machine.thread() % columns_of_links;
  constexpr index together = 8, step = Config::threads / columns_of_links * together;
  index const first = machine.thread() / columns_of_links * together;
  auto const state = [&](index segment) {
    return a.segments.states +
           (segment * a.states * a.shape.heads + sequence_head) * rows * columns;
  };
  for (index n = 2; n < a.segments.count; ++n) {
    float const* const before = state(n - 1);
    float const* const units =
        state(back ? a.segments.count + 1 - n : n) + a.pieces * Config::columns;
    machine.barrier();
    for (index i = first; i < rows; i += step) {
      float sum[together];
      for (int r = 0; r < together; ++r) sum[r] = state(n)[(i + r) * columns + column];
      for (index k = 0; k < a.shape.rows; ++k)
        for (int r = 0; r < together; ++r) {
          // A row that is forgotten may hold a NaN, so a product with 0 is left out.
          float const unit = back ? units[k * columns + i + r] : units[(i + r) * columns + k];
          if (unit != 0.f) sum[r] = multiply_add(unit, before[k * columns + column], sum[r]);
        }
      for (int r = 0; r < together; ++r) state(n)[(i + r) * columns + column] = sum[r];
    }
  }
}

struct chunk_link_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = 1;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return 0;
  }
  template <class Config, machine M, class Arguments>
  WANE_HOST_DEVICE static void run(M& machine, Arguments const& a, index block) {
    link_segments<Config>(machine, a, block);
  }
};

}  // namespace wane::cuda::impl
