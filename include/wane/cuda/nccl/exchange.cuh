// nccl_exchange: messages of host bytes between the ranks of an NCCL communicator.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <list>
#include <span>

#include "wane/core/error.hpp"
#include "wane/cuda/nccl/queue.cuh"

namespace wane::cuda::impl {

// Deadlock freedom. An operation of NCCL holds up what follows it on its communicator, on any
// stream, until the other rank makes the matching call. Fusing a send with a later receive in a
// group is no way out: both ranks would have to group alike. Therefore:
//
// 1. Messages to higher and to lower ranks, from even and from odd ranks, have a communicator and a
// stream each, and so have gathers. What a rank sends to a neighbour, and what it receives from
// one, then have a queue for each neighbour: an operation waits for earlier messages of its own
// link and direction, and for no others. So exchanges of neighbours, rings among them, end as if
// messages were kept until they are received. The device must run a few blocks of several kernels
// at the same time for this.
//
// 2. Where it does not, or where a call of CUDA or NCCL waits for the device, which NCCL says one
// may, wane's calls end all the same: they would even if every send waited for its receiver.
// In a round of exclusive_scan all messages go one way, and the ranks at the end only receive.
// Otherwise, between two all_gathers, messages join ranks of a line (a chain, a halo) or of a tree
// (broadcast), each link in one direction, so both of its ranks have the same order of messages. A
// cycle of messages that wait for each other leaves a rank over one link and, because links close
// no circle, comes back over the same link. The order of that link leads from there to here
// directly, so there is a shorter cycle without the detour, and at last one within the calls of one
// rank, which have an order. So there is none.
class nccl_exchange {
 public:
  explicit nccl_exchange(ncclComm_t communicator) {
    check_nccl(ncclCommCount(communicator, &size_), "ncclCommCount");
    check_nccl(ncclCommUserRank(communicator, &rank_), "ncclCommUserRank");
    check_nccl(ncclCommCuDevice(communicator, &device_), "ncclCommCuDevice");
    guarded([&] {
      for (auto& queue : queues_) queue = std::make_unique<nccl_queue>(communicator, rank_);
      if (size_ > 1)
        for (std::size_t k = 0; k < gathers; ++k) connect(*queues_[k]);
    });
  }
  nccl_exchange(nccl_exchange const&) = delete;
  // Waits until what was sent has left. While an exception passes, other ranks may wait for this
  // one in vain: aborting tells them.
  ~nccl_exchange() {
    try {
      current_device const device(device_);
      if (std::uncaught_exceptions() > exceptions_) abort();
      for (nccl_message const& message : messages_)
        if (message.use == nccl_message::sent && broken_.empty()) wait(message);
    } catch (...) {
      abort();
    }
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  void send(int to, std::span<std::byte const> bytes) {
    check_peer(to);
    guarded([&] {
      nccl_queue const& queue = queue_of(rank_, to);
      nccl_message& message = take(bytes.size());
      // The next receive finds memory: a call that allocates may wait for the device.
      take(bytes.size()).use = nccl_message::idle;
      copy(bytes, message.host());
      message.to_device(0, length(bytes), queue.stream());
      check_nccl(ncclSend(message.device(), length(bytes), ncclUint8, to, queue.communicator(),
                          queue.stream()),
                 "ncclSend");
      message.record(queue.stream());
      message.use = nccl_message::sent;
    });
  }
  void receive(int from, std::span<std::byte> bytes) {
    check_peer(from);
    guarded([&] {
      nccl_queue const& queue = queue_of(from, rank_);
      nccl_message& message = take(bytes.size());
      check_nccl(ncclRecv(message.device(), length(bytes), ncclUint8, from, queue.communicator(),
                          queue.stream()),
                 "ncclRecv");
      message.to_host(length(bytes), queue.stream());
      message.record(queue.stream());
      wait(message);
      copy({message.host(), bytes.size()}, bytes.data());
      message.use = nccl_message::idle;
    });
  }
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) {
    auto const ranks = static_cast<std::size_t>(size_), own = static_cast<std::size_t>(rank_);
    require(all.size() == ranks * mine.size(), "all has ", all.size(), " bytes; it must have ",
            ranks * mine.size(), ", those of all ranks");
    guarded([&] {
      nccl_queue const& queue = *queues_[gathers];
      std::size_t const each = length(mine);
      nccl_message& message = take(ranks * each);
      copy(mine, message.host() + own * each);
      message.to_device(own * each, each, queue.stream());
      check_nccl(ncclAllGather(message.device() + own * each, message.device(), each, ncclUint8,
                               queue.communicator(), queue.stream()),
                 "ncclAllGather");
      message.to_host(ranks * each, queue.stream());
      message.record(queue.stream());
      wait(message);
      copy({message.host(), all.size()}, all.data());
      message.use = nccl_message::idle;
    });
  }

 private:
  static constexpr std::size_t gathers = 4;  // the last queue

  nccl_queue const& queue_of(int from, int to) const {
    return *queues_[static_cast<std::size_t>((to > from ? 0 : 2) + from % 2)];
  }
  // A message without bytes travels as one byte, so that it is waited for too.
  static std::size_t length(std::span<std::byte const> bytes) {
    return std::max<std::size_t>(1, bytes.size());
  }
  static void copy(std::span<std::byte const> from, std::byte* to) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  void check_peer(int other) const {
    require(other >= 0 && other < size_ && other != rank_, "rank ", rank_, " of ", size_,
            " exchanges a message with rank ", other, "; it must be another rank of the group");
  }

  // After an error ranks may wait for what will never come, so it ends the group on this rank.
  template <class Work>
  void guarded(Work const& work) {
    if (!broken_.empty()) throw std::runtime_error(broken_);
    try {
      current_device const device(device_);
      work();
    } catch (std::exception const& e) {
      broken_ = e.what();
      abort();
      throw;
    }
  }
  void abort() {
    for (auto& queue : queues_)
      if (queue) queue->abort();
    if (broken_.empty()) broken_ = "NCCL: this group has ended";
  }
  void wait(nccl_message const& message) const {
    for (int polls = 0; !message.done();) {
      for (auto const& queue : queues_) queue->check();
      if (polls < 1000)
        ++polls, std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  // Memory for a message. None is freed while another message has work: that waits for the device.
  nccl_message& take(std::size_t bytes) {
    bool any = false;
    nccl_message* found = nullptr;
    for (nccl_message& m : messages_) {
      if (m.use == nccl_message::sent && m.done()) m.use = nccl_message::idle;
      if (m.use != nccl_message::idle)
        any = true;
      else if (m.bytes >= bytes && (!found || m.bytes < found->bytes))
        found = &m;
    }
    if (!found && !any) messages_.clear();
    if (!found) found = &messages_.emplace_back(std::max<std::size_t>(bytes, 16));
    found->use = nccl_message::taken;
    return *found;
  }

  // Connects this rank with its neighbours on a ring. The first message of two ranks waits, on the
  // host, until both are in their call, which a send must not do.
  void connect(nccl_queue const& queue) {
    nccl_message& message = take(16);
    int const neighbours[] = {(rank_ + 1) % size_, (rank_ + size_ - 1) % size_};
    ncclResult_t result = ncclGroupStart();
    std::byte* byte = message.device();
    for (int other : neighbours) {
      if (result == ncclSuccess && &queue_of(rank_, other) == &queue)
        result = ncclSend(byte++, 1, ncclUint8, other, queue.communicator(), queue.stream());
      if (result == ncclSuccess && &queue_of(other, rank_) == &queue)
        result = ncclRecv(byte++, 1, ncclUint8, other, queue.communicator(), queue.stream());
    }
    ncclResult_t const end = ncclGroupEnd();
    check_nccl(result == ncclSuccess ? end : result, "a first message to each neighbour");
    message.record(queue.stream());
    wait(message);
    message.use = nccl_message::idle;
  }

  int rank_ = 0, size_ = 1, device_ = 0;
  int const exceptions_ = std::uncaught_exceptions();
  std::string broken_;  // why this group has ended
  std::list<nccl_message> messages_;
  std::array<std::unique_ptr<nccl_queue>, gathers + 1> queues_;
};

}  // namespace wane::cuda::impl
