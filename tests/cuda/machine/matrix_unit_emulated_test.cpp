// The matrix unit of the emulated GPU multiplies, and is refused where a warp does not come.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/machine/matrix_unit_cases.hpp"
#include "support/expect_error.hpp"
#include "wane/testing/emulated_gpu.hpp"

namespace {

using wane::bfloat16;
using wane::float16;
using wane::cuda::impl::tf32;
using wane::testing::emulated_gpu;
using wane::testing::impl::emulated_grid;
using machine = wane::testing::impl::emulated_thread<64>;

static_assert(wane::cuda::impl::multiplies<machine, bfloat16>);

auto const run_emulated = []<class T>(support::unit_product<T>& p) {
  emulated_grid<64>({.blocks = 1}, 0).run([&](machine& m) {
    support::multiply_by_unit(m, p.a.data(), p.b.data(), p.c.data());
  });
};

TEST(EmulatedMatrixUnit, MultipliesBfloat16) { support::expect_products<bfloat16>(run_emulated); }
TEST(EmulatedMatrixUnit, MultipliesFloat16) { support::expect_products<float16>(run_emulated); }
TEST(EmulatedMatrixUnit, MultipliesTf32) { support::expect_products<tf32>(run_emulated); }
TEST(EmulatedMatrixUnit, MultipliesFloatsThreeTimes) {
  support::expect_floats_of_three(run_emulated);
}
TEST(EmulatedMatrixUnit, CutsSumsOff) { support::expect_sums_cut_off(run_emulated); }

TEST(EmulatedMatrixUnit, GivesEveryNumberOneHolder) {
  using unit = wane::cuda::impl::matrix_unit<float16>;
  std::vector<int> left(16 * 16), right(16 * 8), sum(16 * 8);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i)
      ++left[std::size_t(unit::of_left(lane, i).row * 16 + unit::of_left(lane, i).column)];
    for (int i = 0; i < 4; ++i) {
      ++right[std::size_t(unit::of_right(lane, i).row * 8 + unit::of_right(lane, i).column)];
      ++sum[std::size_t(unit::of_sum(lane, i).row * 8 + unit::of_sum(lane, i).column)];
    }
  }
  for (auto const* all : {&left, &right, &sum})
    for (int times : *all) EXPECT_EQ(times, 1);
}

TEST(EmulatedMatrixUnit, WantsAllOfAWarpAtOneAct) {
  emulated_grid<64> some({.blocks = 1}, 0), mixed({.blocks = 1}, 0);
  using unit = wane::cuda::impl::matrix_unit<tf32>;
  auto const multiply = [](machine& m) {
    unit::sum sum{};
    m.multiply_add<tf32>(sum, unit::left{}, unit::right{});
  };
  EXPECT_THROW(some.run([&](machine& m) {
    if (m.thread() != 40) multiply(m);
  }),
               wane::testing::machine_fault);
  EXPECT_THROW(mixed.run([&](machine& m) {
    if (m.thread() != 40)
      multiply(m);
    else
      m.shuffle_up(1.0f, 1);
  }),
               wane::testing::machine_fault);
}

TEST(Tf32, RoundsToTenBits) {
  EXPECT_EQ(tf32(1 + 0x1p-11f).value, 1 + 0x1p-10f);
  EXPECT_EQ(tf32(1 + 0x1.8p-12f).value, 1);
  EXPECT_EQ(tf32(-1 - 0x1p-11f).value, -1 - 0x1p-10f);
  EXPECT_EQ(tf32(INFINITY).value, INFINITY);
  EXPECT_TRUE(std::isnan(tf32(NAN).value));
  EXPECT_EQ(tf32(0x1.fffffep127f).value, INFINITY);
}

TEST(Tf32, ThatWasNotRoundedIsCutByTheUnit) {
  support::unit_product<tf32> p([] { return 0.0f; });
  p.a[0].value = 1 + 0x1.fp-11f, p.b[0] = tf32(1.0f);
  run_emulated(p);
  EXPECT_EQ(p.c[0], 1);
}

}  // namespace
