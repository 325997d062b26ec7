// Memory for vectors is aligned, and aligned vectors exchange their numbers with ordinary ones.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/aligned.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/memory_asked.hpp"

namespace {

using wane::impl::aligned_numbers;
using wane::impl::aligned_vector;

bool is_aligned(void const* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 64 == 0; }

TEST(AlignedNumbers, AreAlignedWhateverTheirNumber) {
  std::vector<aligned_numbers<float>> all;
  for (wane::index count = 0; count < 40; ++count) {
    all.emplace_back(count);
    EXPECT_TRUE(is_aligned(all.back().data())) << count;
    for (wane::index i = 0; i < count; ++i) all.back().data()[i] = static_cast<float>(count);
  }
  for (wane::index count = 0; count < 40; ++count)
    for (wane::index i = 0; i < count; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(count)].data()[i], static_cast<float>(count));
}

TEST(AlignedNumbers, AreHandedOver) {
  aligned_numbers<double> from(3);
  double* const memory = from.data();
  aligned_numbers<double> const to(std::move(from));
  EXPECT_EQ(to.data(), memory);
}

#ifndef WANE_TESTS_THREAD_SANITIZER  // under which nothing is counted
// How often memory is asked for by a call that takes and releases so many numbers.
std::ptrdiff_t times_asked(wane::index count) {
  std::ptrdiff_t const before = support::memory_taken.times;
  aligned_numbers<float> const numbers(count);
  numbers.data()[count - 1] = 1;
  return support::memory_taken.times - before;
}

#ifndef WANE_ADDRESS_SANITIZER
TEST(AlignedNumbers, AreKeptForTheNextCallOfTheThread) {
  times_asked(1000);
  EXPECT_EQ(times_asked(1000), 0);
  {
    aligned_numbers<float> const held(1000);
    EXPECT_EQ(times_asked(1000), 1) << "of the same size, while the block is in use";
  }
  std::thread([] {
    EXPECT_EQ(times_asked(1000), 1) << "on another thread";
    EXPECT_EQ(times_asked(1000), 0);
  }).join();
  for (wane::index other = 1; other <= 16; ++other) times_asked(1000 + other);
  EXPECT_EQ(times_asked(1000), 1) << "after 16 blocks of other sizes";
  EXPECT_EQ(times_asked(1016), 0);
}
#endif
TEST(AlignedNumbers, OfALargeBlockAreNotKept) {
  times_asked(1 << 20);
  EXPECT_EQ(times_asked(1 << 20), 1);
}
#endif

TEST(AlignedVector, IsAlignedBeginsAtZeroAndGrows) {
  aligned_vector<float> x(5);
  EXPECT_TRUE(is_aligned(x.data()));
  for (float one : x) EXPECT_EQ(one, 0);
  for (int n = 0; n < 100; ++n) {
    x.push_back(1);
    EXPECT_TRUE(is_aligned(x.data()));
  }
  EXPECT_EQ(x.size(), 105u);
}

TEST(AlignedVector, IsCopiedFromAndToAnOrdinaryOne) {
  std::vector<float> const ordinary{1, 2, 3};
  aligned_vector<float> x = ordinary;
  std::vector<float> const back = x;
  EXPECT_EQ(back, ordinary);
  x = std::vector<float>{4};
  EXPECT_EQ(x, aligned_vector<float>({4}));
}

}  // namespace
