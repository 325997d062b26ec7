// A machine of an emulated GPU one of whose barriers is missing, and a block of such threads.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/testing/emulated_queue.hpp"

namespace support {

// Barriers are counted from the start of a thread.
template <int Threads>
class faulty_barrier : public wane::testing::impl::emulated_thread<Threads> {
  using base = wane::testing::impl::emulated_thread<Threads>;

 public:
  // None is missing where `missing` is -1.
  faulty_barrier(base const& sound, int missing) : base(sound), missing_(missing) {}

  void barrier() {
    if (!is_missing()) base::barrier();
  }
  bool any(bool x) { return is_missing() ? x : base::any(x); }

 private:
  bool is_missing() { return passed_++ == missing_; }

  int missing_, passed_ = 0;
};

// body(machine) for every thread of one block, which has so many bytes of shared memory.
template <int Threads, class Body>
void run_without(int missing, std::size_t shared, Body const& body) {
  wane::testing::impl::emulated_grid<Threads>({1, 1}, shared)
      .run([&](wane::testing::impl::emulated_thread<Threads>& sound) {
        faulty_barrier<Threads> machine(sound, missing);
        body(machine);
      });
}

// The threads of an emulated queue: those of kernel Faulty lack a barrier.
template <class Faulty>
struct without_barrier {
  int missing = -1;

  template <class Kernel, class Thread, class Body>
  void run(Thread& sound, Body const& body) const {
    if constexpr (std::is_same_v<Kernel, Faulty>) {
      faulty_barrier<Thread::threads> machine(sound, missing);
      body(machine);
    } else {
      body(sound);
    }
  }
};
// A queue of such threads, whose kernels have one block at a time.
template <class Faulty>
auto queue_without(int missing) {
  return wane::testing::impl::emulated_queue<without_barrier<Faulty>>({1, 1}, {missing});
}

}  // namespace support
