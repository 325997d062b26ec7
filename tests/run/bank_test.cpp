// The constants of a bank: how rows fill fours, and when they cannot be used.
// SPDX-License-Identifier: MIT
#include "wane/run/bank.hpp"

#include <gtest/gtest.h>

#include "wane/operators/exponential_bank.hpp"

namespace {

using wane::index;
using bank = wane::exponential_bank<float>;

struct nodes {
  std::vector<float> log_decay, key, query, value = {0.f};

  explicit nodes(index rows, float log = -0.1f)  // of a million tokens
      : log_decay(static_cast<std::size_t>(rows), log),
        key(log_decay.size(), 3.f),
        query(log_decay.size(), 5.f) {}
  wane::bank_constants<float> constants() const {
    auto const rows = static_cast<index>(key.size());
    bank const op({{log_decay.data(), 1, rows}, {key.data(), 1, rows}, {query.data(), 1, rows}},
                  {value.data(), 1, 1000000, 1, 1});
    return {op, 0};
  }
};

TEST(BankConstants, SharesOfTheLastRowAddUpToItsWeight) {
  for (index rows = 1; rows <= 9; ++rows) {
    auto const constants = nodes(rows).constants();
    ASSERT_EQ(constants.rows(), rows);
    ASSERT_EQ(constants.padded_rows() % 4, 0);
    std::vector<float> total(static_cast<std::size_t>(rows));
    for (index i = 0; i < constants.padded_rows(); ++i)
      total[static_cast<std::size_t>(constants.row(i))] +=
          constants.weight[static_cast<std::size_t>(i)];
    for (float sum : total) EXPECT_EQ(sum, 15.f) << rows << " rows";
  }
}

TEST(BankConstants, SayWhatTheRoundedFactorLost) {
  // Without contraction nothing is lost: the decay stays split.
  auto const constants = nodes(1, -1e-9f).constants();
  float const lost = wane::simd_contracts ? -1e-9f : 0.f;
  EXPECT_FLOAT_EQ(constants.last_correction(0, 500), 500 * lost);
  EXPECT_EQ(constants.last_correction(0, 0), 0.f);
  EXPECT_FLOAT_EQ(constants.rest[0], -1e-9f);
}

TEST(BankConstants, CorrectASlowNodeAsOftenAsItsMemoryAllows) {
  // The root of a memory of 1e6 tokens is 1000: corrected every 512, not every 16.
  auto const constants = nodes(1, -1e-6f).constants();
  index period = 1;
  while (constants.corrections(period)[0] == 0 && period < 1024) period *= 2;
  EXPECT_EQ(period, wane::simd_contracts ? 32 : 1024);
  if (!wane::simd_contracts) return;
  EXPECT_EQ(constants.corrections(3 * period)[0], constants.corrections(period)[0]);
  EXPECT_EQ(constants.corrections(3 * period / 2)[0], 0.f);
  EXPECT_EQ(constants.last_correction(0, 512), constants.corrections(period)[0]);
  EXPECT_EQ(constants.last_correction(0, 513), constants.last_correction(0, 1));
}

TEST(BankConstants, AreNotUsableWhereAScaledStateWouldBeLost) {
  EXPECT_TRUE(nodes(3).constants().usable(true));
  auto const usable = [](auto change, bool with_state = false) {
    nodes n(3);
    change(n);
    return n.constants().usable(with_state);
  };
  EXPECT_FALSE(usable([](nodes& n) { n.log_decay[1] = -HUGE_VALF; }));
  EXPECT_FALSE(usable([](nodes& n) { n.key[2] = n.query[2] = 1e30f; }));
  EXPECT_FALSE(usable([](nodes& n) { n.key[2] = n.query[2] = 1e-30f; }));
  EXPECT_TRUE(usable([](nodes& n) { n.key[0] = 0.f; }));
  EXPECT_FALSE(usable([](nodes& n) { n.key[0] = 0.f; }, true));
}

}  // namespace
