// A machine of an emulated GPU one of whose barriers is missing, and a block of such threads.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/testing/emulated_gpu.hpp"

namespace support {

// Barriers are counted from the start of a thread.
template <int Threads>
class faulty_barrier : public wane::testing::emulated_thread<Threads> {
  using base = wane::testing::emulated_thread<Threads>;

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
  wane::testing::emulated_grid<Threads>({1, 1}, shared)
      .run([&](wane::testing::emulated_thread<Threads>& sound) {
        faulty_barrier<Threads> machine(sound, missing);
        body(machine);
      });
}

}  // namespace support
