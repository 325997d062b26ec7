// emulated_grid: blocks of threads that take turns on the CPU, in any order.
// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <string_view>

#include "wane/core/error.hpp"
#include "wane/cuda/machine/machine.hpp"
#include "wane/testing/emulated_memory.hpp"
#include "wane/testing/fibers.hpp"

namespace wane::testing {

// Which block goes on when one may: any of them, or always the one that took work first or last.
// The latter runs ahead of the blocks it depends on, as far as it can; flags then become visible
// only when no thread can go on without one.
enum class turns { random, first_taken, last_taken };

// An emulated GPU: how many blocks are resident, the seed of all chance, whose turn it is.
struct emulated_gpu {
  int blocks = 3;
  unsigned seed = 1;
  turns order = turns::random;
};

}  // namespace wane::testing

namespace wane::testing::impl {

template <int Threads>
class emulated_thread;

// Runs body(machine) in every thread of every block; faults are thrown when all have stopped.
template <int Threads>
class emulated_grid {
 public:
  emulated_grid(emulated_gpu const& gpu, std::size_t shared_bytes)
      : gpu_(gpu), bits_(gpu.seed), scratch_(static_cast<std::size_t>(gpu.blocks)) {
    for (int b = 0; b < gpu.blocks; ++b) blocks_.emplace_back(shared_bytes, gpu.blocks);
  }

  template <class Body>
  void run(Body const& body) {
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (int t = 0; t < Threads; ++t) {
        threads_.emplace_back([this, &body, b, t] {
          try {
            if (!fault_) {
              emulated_thread<Threads> machine(*this, b, t);
              body(machine);
            }
          } catch (...) {
            if (!fault_) fault_ = std::current_exception();
          }
          end(b, t);
        });
        blocks_[b].ready.push_back(t);
      }
    unfinished_ = threads_.size();
    ended_.resize(threads_.size());
    for (auto& b : blocks_) std::shuffle(b.ready.begin(), b.ready.end(), bits_);
    running_ = next();
    outside_.switch_to(*running_);
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  friend class emulated_thread<Threads>;
  static constexpr int warps = Threads / cuda::impl::warp_size;

  // Where the threads of a warp meet to shuffle or multiply; two sets of values in turn.
  struct warp_state {
    alignas(16) std::byte values[2][cuda::impl::warp_size][64];
    std::vector<int> waiting;
    std::string_view act;  // that they wait for
  };
  struct block_state {
    shared_memory shared;
    std::vector<int> ready, at_barrier;
    std::uint64_t epoch = 0;
    std::uint64_t taken =
        ~std::uint64_t{0};     // the work it took last; the largest number before the first
    knowledge known, learned;  // by all threads since the last barrier, by any of them since
    std::vector<warp_state> warp{warps};
    struct {
      std::uint64_t epoch = 0;
      bool any = false;
    } votes[2];  // of the last two barriers

    block_state(std::size_t shared_bytes, int blocks)
        : shared(shared_bytes),
          known(static_cast<std::size_t>(blocks)),
          learned(static_cast<std::size_t>(blocks)) {}
  };
  struct waiting_thread {
    std::size_t block;
    int thread;
  };
  struct flag_state {
    bool visible = false;
    std::optional<knowledge> says;
    std::vector<waiting_thread> waiting;
  };

  fiber& fiber_of(std::size_t block, int thread) {
    return threads_[block * Threads + static_cast<std::size_t>(thread)];
  }

  // The fiber to go on with; where no thread can, a raised flag becomes visible. Outside at the
  // end.
  fiber* next() {
    if (unfinished_ == 0) return &outside_;
    if (fault_) return &threads_[first_unfinished()];
    if (!raised_.empty() && gpu_.order != turns::last_taken && bits_() % 8 == 0) show_flag();
    for (;;) {
      auto& able = able_;
      able.clear();
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (!blocks_[b].ready.empty()) able.push_back(b);
      if (able.empty()) {
        if (!raised_.empty()) {
          show_flag();
          continue;
        }
        fault_ = std::make_exception_ptr(machine_fault(
            "every thread waits: a barrier or a shuffle that some do not reach, or a flag that "
            "nobody raises"));
        return &threads_[first_unfinished()];
      }
      auto const earlier = [&](std::size_t a, std::size_t b) {
        return blocks_[a].taken < blocks_[b].taken;
      };
      std::size_t const b =
          gpu_.order == turns::first_taken  ? *std::min_element(able.begin(), able.end(), earlier)
          : gpu_.order == turns::last_taken ? *std::max_element(able.begin(), able.end(), earlier)
                                            : able[bits_() % able.size()];
      auto& ready = blocks_[b].ready;
      if (gpu_.order == turns::random) std::swap(ready[bits_() % ready.size()], ready.back());
      int const thread = ready.back();
      ready.pop_back();
      return &fiber_of(b, thread);
    }
  }
  // Leaves the thread that runs. The caller has put it among those that wait or are ready.
  void hand_over() {
    fiber* const own = running_;
    fiber* const other = next();
    if (other == own) {
      if (fault_) throw stopped{};
      return;
    }
    running_ = other;
    own->switch_to(*other);
    if (fault_) throw stopped{};
  }
  // After a fault every thread is continued once more, so that its stack unwinds.
  struct stopped {};
  std::size_t first_unfinished() const {
    return static_cast<std::size_t>(std::find(ended_.begin(), ended_.end(), false) -
                                    ended_.begin());
  }
  void end(std::size_t block, int thread) {
    --unfinished_;
    ended_[block * Threads + static_cast<std::size_t>(thread)] = true;
    fiber* const own = running_;
    running_ = next();
    own->leave(*running_);
  }
  void show_flag() {
    std::size_t const n = bits_() % raised_.size();
    flag_state& flag = flags_[raised_[n]];
    *raised_[n] = 1;
    raised_.erase(raised_.begin() + static_cast<std::ptrdiff_t>(n));
    flag.visible = true;
    for (waiting_thread const& w : flag.waiting) blocks_[w.block].ready.push_back(w.thread);
    flag.waiting.clear();
  }

  emulated_gpu gpu_;
  std::mt19937_64 bits_;
  scratch_memory scratch_;
  std::deque<block_state> blocks_;
  std::deque<fiber> threads_;
  std::map<std::uint32_t const*, flag_state> flags_;
  std::map<std::uint64_t const*, knowledge> counters_;
  std::vector<std::uint32_t*> raised_;  // not yet visible
  fiber outside_;
  fiber* running_ = nullptr;
  std::size_t unfinished_ = 0;
  std::vector<std::size_t> able_;  // blocks that can go on
  std::vector<bool> ended_;
  std::exception_ptr fault_;
};

}  // namespace wane::testing::impl
