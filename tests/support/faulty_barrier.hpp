// A machine of an emulated GPU one of whose barriers is missing, counted from the start of a
// thread. SPDX-License-Identifier: MIT
#pragma once

#include "wane/testing/emulated_gpu.hpp"

namespace support {

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

}  // namespace support
