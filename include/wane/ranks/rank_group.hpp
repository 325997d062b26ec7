// rank_group: the processes that share a sequence, and what they need of an engine such as MPI.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace wane {

// Ranks 0 to size() - 1, each of which makes the same calls in the same order.
//   rank()                  the number of this one
//   size()                  how many there are
//   send(to, bytes)         sends a message, a std::vector<std::byte>, and returns without waiting
//                           for its receiver; the engine keeps the bytes until they have left
//   receive(from, bytes)    waits for the next message of that rank, which has bytes.size() bytes
//   all_gather(mine, all)   waits for all ranks; all receives the bytes of rank 0, 1, ..., the same
//                           number from each
// Messages from one rank to another arrive in their order. Each call may throw, for example where
// another rank has ended.
template <class R>
concept rank_group = requires(R const& ranks, std::vector<std::byte> message,
                              std::span<std::byte const> mine, std::span<std::byte> bytes) {
  { ranks.rank() } -> std::convertible_to<int>;
  { ranks.size() } -> std::convertible_to<int>;
  ranks.send(0, std::move(message));
  ranks.receive(0, bytes);
  ranks.all_gather(mine, bytes);
};

// What all ranks of a call throw when one of them has thrown. That rank throws what it threw.
class rank_failure : public std::runtime_error {
 public:
  rank_failure(int failed, std::string const& why)
      : std::runtime_error("rank " + std::to_string(failed) + " failed: " + why), failed_(failed) {}
  // The rank that failed first.
  int rank() const { return failed_; }

 private:
  int failed_;
};

// A group of one rank, for programs that also run alone.
struct one_rank {
  int rank() const { return 0; }
  int size() const { return 1; }
  void send(int, std::vector<std::byte>) const {}
  void receive(int, std::span<std::byte>) const {}
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const {
    std::copy(mine.begin(), mine.end(), all.begin());
  }
};

}  // namespace wane
