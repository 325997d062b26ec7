// Memory of an emulated GPU: a read that no barrier orders behind its write throws machine_fault.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "wane/core/numbers/unroll.hpp"

namespace wane::testing {

// A kernel broke the rules of the machine, although its result may be right.
class machine_fault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace wane::testing

namespace wane::testing::impl {

// Internals of testing find those of core.
using namespace wane::impl;

// For each block, how many of its releases are visible to a thread, a block or a flag.
class knowledge {
 public:
  explicit knowledge(std::size_t blocks = 0) : seen_(blocks) {}
  std::uint64_t of(std::size_t block) const { return seen_[block]; }
  void learn(std::size_t block, std::uint64_t releases) {
    seen_[block] = std::max(seen_[block], releases);
  }
  void learn(knowledge const& other) {
    for (std::size_t b = 0; b < seen_.size(); ++b) learn(b, other.seen_[b]);
  }

 private:
  std::vector<std::uint64_t> seen_;
};

// Where a thread stands: its block, itself, and the barriers its block has passed.
struct standpoint {
  std::size_t block;
  int thread;
  std::uint64_t epoch;
};

// Scratch in device memory. A value may be read by its writer, by its block behind a barrier, and
// by any thread once a release that follows it has been acquired.
class scratch_memory {
 public:
  explicit scratch_memory(std::size_t blocks) : released_(blocks), waiting_(blocks) {}

  void write(void const* at, standpoint const& by) {
    written_[at] = {by, 0};
    waiting_[by.block].push_back(at);
  }
  // Every write of the block that comes before this moment of this thread; returns the release.
  std::uint64_t release(standpoint const& by) {
    std::uint64_t const number = ++released_[by.block];
    auto& list = waiting_[by.block];
    auto const ready = [&](void const* at) {
      record& r = written_[at];
      if (r.by.thread != by.thread && r.by.epoch >= by.epoch) return false;
      r.release = number;
      return true;
    };
    list.erase(std::remove_if(list.begin(), list.end(), ready), list.end());
    return number;
  }
  void read(void const* at, standpoint const& by, knowledge const& seen) const {
    auto const found = written_.find(at);
    if (found == written_.end()) throw machine_fault("scratch is read that nobody has written");
    record const& r = found->second;
    bool const same_block = r.by.block == by.block;
    if (same_block && (r.by.thread == by.thread || r.by.epoch < by.epoch)) return;
    if (r.release == 0 || r.release > seen.of(r.by.block))
      throw machine_fault(same_block ? "scratch of another thread is read without a barrier between"
                                     : "scratch of another block is read before its flag");
  }

 private:
  struct record {
    standpoint by;
    std::uint64_t release;
  };
  std::unordered_map<void const*, record> written_;
  std::vector<std::uint64_t> released_;
  std::vector<std::vector<void const*>> waiting_;
};

// The shared memory of a block: between accesses of different threads to a byte, one of them a
// write, there must be a barrier.
class shared_memory {
 public:
  explicit shared_memory(std::size_t bytes) : bytes_(bytes, std::byte{0xff}), last_(bytes) {}

  std::byte* data() { return bytes_.data(); }

  void see_write(void const* at, std::size_t size, standpoint const& by) {
    for (last_access& x : range(at, size)) {
      if (x.write_epoch == by.epoch && x.writer != by.thread)
        throw machine_fault("two threads write to shared memory without a barrier between");
      if (x.read_epoch == by.epoch && x.reader != by.thread)
        throw machine_fault(
            "shared memory is written that another thread reads, without a "
            "barrier between");
      x.write_epoch = by.epoch, x.writer = by.thread;
    }
  }
  void see_read(void const* at, std::size_t size, standpoint const& by) {
    for (last_access& x : range(at, size)) {
      if (x.write_epoch == by.epoch && x.writer != by.thread)
        throw machine_fault("shared memory of another thread is read without a barrier between");
      bool const others = x.read_epoch == by.epoch && x.reader != by.thread;
      x.read_epoch = by.epoch, x.reader = others ? many : by.thread;
    }
  }

 private:
  static constexpr int many = -1;
  struct last_access {
    std::uint64_t write_epoch = ~std::uint64_t{0}, read_epoch = ~std::uint64_t{0};
    int writer = 0, reader = 0;
  };
  struct accesses {
    last_access *first, *last;
    last_access* begin() const { return first; }
    last_access* end() const { return last; }
  };
  accesses range(void const* at, std::size_t size) {
    auto const offset = static_cast<std::byte const*>(at) - bytes_.data();
    if (offset < 0 || static_cast<std::size_t>(offset) + size > bytes_.size())
      throw machine_fault("an access beyond the shared memory of the block");
    return {last_.data() + offset, last_.data() + offset + size};
  }

  std::vector<std::byte> bytes_;
  std::vector<last_access> last_;
};

}  // namespace wane::testing::impl
