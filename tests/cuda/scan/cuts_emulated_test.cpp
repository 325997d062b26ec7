// The scan of wane::cuda cut in tiles and groups of any size, those of the device included.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using support::index;

using wane::testing::emulated_gpu;

// As the device runs it: large blocks and many tokens a thread.
struct full_size_runner {
  template <class Op, class Out, class State>
  void operator()(Op const& op, wane::sequence_view<Out> output,
                  wane::run_options<State> const& options) const {
    using Config = wane::cuda::impl::default_scan_config<wane::accumulate_type<Op>>;
    wane::testing::run<Config>(emulated_gpu{.blocks = 2}, op, output, options);
  }
};
TEST(EmulatedScan, KeepsSlowDecaysOverLongTimes) {
  support::scan_cases<full_size_runner>{}.keep_slow_decays();
}
TEST(EmulatedScan, IsItsFormulaAtFullSize) {
  support::scan_cases<full_size_runner> const full{};
  for (index columns : {1, 3, 64, 200})
    full.expect_linear<float>({.batch = 2, .time = 9000 / columns, .columns = columns});
  full.expect_linear<double>({.time = 4000, .columns = 2});
  full.expect_bank<float>({16, {.time = 300, .heads = 2, .columns = 64}});
}

// Lines by the thousand are walked in order, others looked back upon; blocks of one warp and of
// four, fans of 2 and 8, groups of one level and of many.
template <class Config>
struct runner_of {
  template <class Op, class Out, class State>
  void operator()(Op const& op, wane::sequence_view<Out> output,
                  wane::run_options<State> const& options) const {
    wane::testing::run<Config>(emulated_gpu{}, op, output, options);
  }
};
template <class Config>
void expect_right() {
  support::scan_cases<runner_of<Config>> const cut{};
  for (index time : {1, 96, 97, 700})
    for (index columns : {1, 3, 70}) {
      cut.template expect_linear<float>({.batch = 2, .time = time, .columns = columns});
      cut.template expect_bank<double>({3, {.time = time, .heads = 2, .columns = columns}});
    }
}
TEST(EmulatedScan, IsItsFormulaHoweverItIsCut) {
  using wane::cuda::impl::scan_config;
  expect_right<scan_config<32, 1, 1, 1 << 30, 512>>();
  expect_right<scan_config<32, 3, 3, 1, 512>>();
  expect_right<scan_config<128, 5, 1, 1 << 30, 512>>();
  expect_right<scan_config<64, 3, 2, 64, 1>>();
}

}  // namespace
