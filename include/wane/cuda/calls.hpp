// run and adjoint over any queue, and the size of the workspace that they need.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_gradients.hpp"
#include "wane/cuda/check_adjoint.hpp"
#include "wane/cuda/kernels.hpp"

namespace wane::cuda::impl {

template <class Sizes, class Op, class State>
std::size_t run_bytes(Op const& op, run_options<State> const& options) {
  check_operator<Op>();
  std::size_t bytes = 0;
  with_row<pass::run>(kernels{}, op, options, [&](auto row) {
    bytes = decltype(row)::template run_bytes<Sizes>(op, options);
  });
  return bytes;
}
template <class Sizes, class Out, class Op, class State>
std::size_t adjoint_bytes(Op const& op, adjoint_options<State> const& options) {
  check_operator<Op>();
  std::size_t bytes = 0;
  with_row<pass::adjoint>(kernels{}, op, options, [&](auto row) {
    bytes = decltype(row)::template adjoint_bytes<Sizes, std::remove_const_t<Out>>(op, options);
  });
  return bytes;
}

template <class Sizes, class Queue, class Op, class Out, class State>
void queue_run(Queue const& queue, Op const& op, sequence_view<Out> const& output,
               workspace const& memory, run_options<State> const& options) {
  check_run<Op, Out>();
  with_row<pass::run>(kernels{}, op, options, [&](auto row) {
    decltype(row)::template run<Sizes>(queue, op, output, memory, options);
  });
}
template <class Sizes, class Queue, class Op, class Out, class Gradients, class State>
void queue_adjoint(Queue const& queue, Op const& op, sequence_view<Out> const& output_gradient,
                   Gradients const& gradients, workspace const& memory,
                   adjoint_options<State> const& options) {
  check_adjoint<Op, Out, Gradients>();
  with_row<pass::adjoint>(kernels{}, op, options, [&](auto row) {
    decltype(row)::template adjoint<Sizes>(queue, op, output_gradient, gradients, memory, options);
  });
}

}  // namespace wane::cuda::impl
