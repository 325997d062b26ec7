// Calls over ranks of the real NCCL, compiled and not linked: the emulated tests run the same.
// SPDX-License-Identifier: MIT
#include "wane/nccl.cuh"
#include "wane/operators/gla.hpp"

static_assert(wane::rank_group<wane::nccl_ranks>);

void run_over_nccl(ncclComm_t communicator,
                   wane::gla<float, wane::token_view<float const>> const& op,
                   wane::sequence_view<float> const& output,
                   wane::gla<float, wane::token_view<float const>>::gradients const& gradients) {
  wane::nccl_ranks const ranks(communicator);
  wane::sharded_run(ranks, op, output);
  wane::sharded_adjoint(ranks, op, output, gradients);
}
