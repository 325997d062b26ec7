// Partial loads and stores at the end of a page whose neighbour is protected.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "wane/core/recurrence/view.hpp"

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>

namespace {

// One page to use, between two that may not be read or written.
class fenced_page {
 public:
  fenced_page() {
    memory_ = static_cast<char*>(
        mmap(nullptr, 3 * size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + size(), size(), PROT_READ | PROT_WRITE);
  }
  ~fenced_page() { munmap(memory_, 3 * size()); }
  fenced_page(fenced_page const&) = delete;
  fenced_page& operator=(fenced_page const&) = delete;

  static std::size_t size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  char* begin() const { return memory_ + size(); }
  char* end() const { return memory_ + 2 * size(); }

 private:
  char* memory_;
};

template <class T>
class PartialLoads : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(PartialLoads, Scalars);

TYPED_TEST(PartialLoads, TouchNothingBeyondTheEndOfAPage) {
  using T = TypeParam;
  constexpr int W = wane::simd_width<T>;
  fenced_page const page;
  for (int count = 0; count < W; ++count) {
    T* const at = reinterpret_cast<T*>(page.end()) - count;
    for (int l = 0; l < count; ++l) at[l] = static_cast<T>(l + 1);
    auto const x = wane::impl::load_first<T, W>(at, count);
    wane::impl::store_first(at, count, x + x);
    for (int l = 0; l < count; ++l) EXPECT_EQ(at[l], static_cast<T>(2 * l + 2));
  }
}

TYPED_TEST(PartialLoads, OfAViewTouchNothingBeyondItsLastColumn) {
  using T = TypeParam;
  constexpr int W = wane::simd_width<T>;
  fenced_page const page;
  for (int count = 1; count < W; ++count) {
    T* const at = reinterpret_cast<T*>(page.end()) - count;
    for (int l = 0; l < count; ++l) at[l] = static_cast<T>(l + 1);
    wane::sequence_view<T> const values(at, 1, 1, 1, count);
    wane::partial_lanes<W> const columns{0, count};
    auto const x = values.read(wane::place<>{0, 0, 0}, columns);
    values.write(wane::place<>{0, 0, 0}, columns, x + x);
    for (int l = 0; l < W; ++l) EXPECT_EQ(x[l], l < count ? static_cast<T>(l + 1) : T(0));
    for (int l = 0; l < count; ++l) EXPECT_EQ(at[l], static_cast<T>(2 * l + 2));
  }
}

TYPED_TEST(PartialLoads, InTimeTouchNothingBesideTheirTokens) {
  using T = TypeParam;
  constexpr int W = wane::simd_width<T>;
  fenced_page const page;
  T* const first = reinterpret_cast<T*>(page.begin());
  T* const last = reinterpret_cast<T*>(page.end()) - W;
  for (T* at : {first, last}) {
    for (int l = 0; l < W; ++l) at[l] = static_cast<T>(l);
    wane::sequence_view<T const> const values(at, 1, W, 1, 1);
    auto const forward =
        values.read(wane::place<wane::time_lanes<W, 1>>{0, {0, 1}, 0}, wane::time_columns<1>{0});
    auto const reverse = values.read(wane::place<wane::time_lanes<W, 1>>{0, {W - 1, -1}, 0},
                                     wane::time_columns<1>{0});
    for (int l = 0; l < W; ++l) {
      EXPECT_EQ(forward[l], static_cast<T>(l));
      EXPECT_EQ(reverse[l], static_cast<T>(W - 1 - l));
    }
  }
}

}  // namespace
#endif
