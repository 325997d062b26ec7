// nccl_ranks: the ranks of an NCCL communicator, for sharded_run and sharded_adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/nccl/exchange.cuh"
#include "wane/ranks.hpp"

namespace wane {

//   ncclCommInitRank(&communicator, size, id, rank);
//   {
//     wane::nccl_ranks const ranks(communicator);
//     wane::sharded_run(ranks, op, output);
//   }  // gone before ncclCommDestroy
//
// Messages are bytes of the host: they pass through pinned memory and through memory of the
// communicator's device, which this object owns. So it carries states of runs on the CPU, and
// states that the caller copies from a GPU and back; it has nothing for states on a device.
//
// All ranks construct it at the same time, while the communicator has no other work, and make the
// same calls. It does not own that communicator: it splits five of its own from it, with a stream
// each, because a send on a stream of the caller would hold up the caller's kernels until its
// receiver is there. send returns at once between neighbours (the last rank and the first are
// neighbours); the first one between other ranks waits for its receiver. A message is received
// before its receiver's next all_gather. One thread at a time may use the object, and any device
// may be the current one.
//
// Throws cuda::runtime_error or std::runtime_error with the text of CUDA or NCCL where a call of
// these fails or NCCL reports an error while a rank waits; wane::error where a message goes to no
// other rank, or `all` of all_gather has not the bytes of all ranks. After an error of CUDA or NCCL
// its communicators are aborted and every call throws that error; so they are where it goes while
// an exception passes. Other ranks end as soon as NCCL tells them.
class nccl_ranks {
 public:
  explicit nccl_ranks(ncclComm_t communicator)
      : exchange_(std::make_unique<cuda::impl::nccl_exchange>(communicator)) {}

  int rank() const { return exchange_->rank(); }
  int size() const { return exchange_->size(); }

  void send(int to, std::span<std::byte const> bytes) const { exchange_->send(to, bytes); }
  void receive(int from, std::span<std::byte> bytes) const { exchange_->receive(from, bytes); }
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const {
    exchange_->all_gather(mine, all);
  }

 private:
  std::unique_ptr<cuda::impl::nccl_exchange> exchange_;
};

}  // namespace wane
