// The common arguments of the kernels of run.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/view.hpp"
#include "wane/cuda/call/sequences.hpp"

namespace wane::cuda::impl {

template <class Op, class Out, class State>
struct run_arguments {
  Op op;
  sequence_view<Out> output;
  view<State const, 4> initial;
  view<State, 4> final;
  index* final_positions;
  sequence_list sequences;
  index states;      // one for each sequence
  index blocks = 0;  // known when the kernel is launched
};

}  // namespace wane::cuda::impl
