// workspace_bytes, adjoint_workspace_bytes: the memory that a call on a GPU needs.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/kernels.hpp"
#include "wane/cuda/sizes.hpp"

namespace wane::cuda::impl {

// The bytes of a call with kernels of these sizes.
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
    bytes = adjoint_bytes_of<decltype(row), Sizes, Out>(op, options);
  });
  return bytes;
}

}  // namespace wane::cuda::impl

namespace wane::cuda {

// The bytes of workspace that run(stream, op, output, workspace, options) needs. They depend on
// shapes alone: one workspace, the largest, serves many calls that follow each other.
//   wane::cuda::workspace lent{nullptr, wane::cuda::workspace_bytes(op)};
// Throws wane::error where no kernel takes the operator.
template <class Op, class State = accumulate_type<Op>>
std::size_t workspace_bytes(Op const& op, run_options<State> const& options = {}) {
  return impl::run_bytes<impl::device_sizes<>>(op, options);
}

// The bytes of workspace that adjoint(stream, op, output_gradient, ...) needs, whichever
// gradients are taken, where output_gradient is of the type Out: for bfloat16 and a memory that is
// not penalised they are about half.
//   std::size_t const bytes = wane::cuda::adjoint_workspace_bytes_for<wane::bfloat16>(op);
template <class Out, class Op, class State = accumulate_type<Op>>
std::size_t adjoint_workspace_bytes_for(Op const& op, adjoint_options<State> const& options = {}) {
  return impl::adjoint_bytes<impl::device_sizes<>, Out>(op, options);
}
// Enough for any type of output_gradient.
template <class Op, class State = accumulate_type<Op>>
std::size_t adjoint_workspace_bytes(Op const& op, adjoint_options<State> const& options = {}) {
  return adjoint_workspace_bytes_for<accumulate_type<Op>>(op, options);
}

}  // namespace wane::cuda
