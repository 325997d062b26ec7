// 64-bit offsets in the scan of wane::cuda: tokens that lie gigabytes apart in a sparse mapping.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "wane/operators/linear_recurrence.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using wane::index;

// Memory that exists only where it is touched.
class sparse_memory {
 public:
  explicit sparse_memory(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~sparse_memory() {
    if (there()) munmap(data_, bytes_);
  }
  bool there() const { return data_ != MAP_FAILED; }
  float* floats() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

TEST(EmulatedScan, ReachesTokensBeyondFourGigabytes) {
  index const far = (index{1} << 32) + 3, time = 7, channels = 2;
  sparse_memory const memory(static_cast<std::size_t>(far * time) * sizeof(float));
  if (!memory.there()) GTEST_SKIP() << "this system maps no 120 GB that are never touched";
  for (index direction : {1, -1}) {
    index const extents[] = {1, time, 1, channels}, strides[] = {0, far, 0, 1};
    wane::view<float, 4> const x(memory.floats(), extents, strides);
    for (index t = 0; t < time; ++t)
      for (index c = 0; c < channels; ++c) x(0, t, 0, c) = 0.5f;
    std::vector<float> values(14);
    wane::sequence_view<float> const y(values.data(), 1, time, 1, channels);
    wane::run_options<float> options;
    options.direction = static_cast<wane::direction>(direction);
    wane::testing::run(
        wane::testing::emulated_gpu{},
        wane::linear_recurrence<wane::decay_as::factor, float>({.decay = x, .drive = x}), y,
        options);
    float h = 0;
    for (index k = 0; k < time; ++k) {
      h = 0.5f * h + 0.5f;
      for (index c = 0; c < channels; ++c)
        EXPECT_EQ(y(0, direction > 0 ? k : time - 1 - k, 0, c), h);
    }
  }
}

}  // namespace
