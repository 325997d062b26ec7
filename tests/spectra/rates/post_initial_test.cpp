// PoST's initial spectra: the values of the paper and of its authors' code.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/post_initial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

TEST(PostInitial, OfMamba2IsAsPublished) {
  auto const p = mamba2_log_rates(4, 512);
  double const rates[] = {0.0390625, 0.3125, 2.5, 20};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(std::exp(p[k]) / rates[k], 1, 1e-14);
  auto const taper = adaptive_taper(p, std::log(512)).values();
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(taper[k], 1 - static_cast<double>(k) / 3, 1e-15);
}

TEST(PostInitial, OfRwkv7IsAsPublished) {
  auto const small = rwkv7_logits(64, 512), large = rwkv7_logits(768, 2048);
  EXPECT_NEAR(small[0], -5.735099, 5e-7);
  EXPECT_EQ(small[63], 0.5);
  EXPECT_NEAR(rwkv7_taper(small, 512)[32], 0.559785, 5e-7);
  EXPECT_NEAR(large[0], -7.123814, 5e-7);
  EXPECT_NEAR(rwkv7_taper(large, 2048)[384], 0.558643, 5e-7);
  // The fastest timescale: 1/(0.6065 0.6225).
  EXPECT_NEAR(1 / (rwkv7_fastest_rate * logistic(small[63])), 2.649, 5e-4);
  auto const zigzag = rwkv7_zigzag(128, 64);
  EXPECT_EQ(zigzag[0], -2.5);
  EXPECT_EQ(zigzag[127], 2.5);
  EXPECT_EQ(zigzag[64], -2.5);
}

TEST(PostInitial, OfTheOthersSpansWhatWasTrained) {
  auto const retnet = retnet_log_rates(8, 2048), delta = gated_delta_net_log_rates(8, 2048);
  EXPECT_NEAR(std::exp(retnet.front()), 1.0 / 2048, 1e-18);
  EXPECT_EQ(retnet.back(), 0);
  EXPECT_EQ(delta.front(), 0);
  EXPECT_NEAR(delta.back(), std::log(2048), 1e-15);
  EXPECT_EQ(retnet_log_rates(1, 2048).size(), 1u);
}

TEST(PostInitial, TapersARwkv7LogitExactlyOrAsThePaperDoes) {
  for (double logit : {-5.7, -1.0, 0.5, 30.0})
    for (double alpha : {0.2, 1.0})
      for (std::int64_t t : {2, 512, 1000000}) {
        double const wanted = logistic(logit) * std::pow(static_cast<double>(t), -alpha);
        EXPECT_NEAR(logistic(rwkv7_exactly_tapered_logit(logit, alpha, t)) / wanted, 1, 1e-13);
      }
  // Additive: right far out on the left, and a tenth and more too fast in the middle.
  EXPECT_NEAR(logistic(rwkv7_tapered_logit(-9, 1, 8)) / (logistic(-9) / 8), 1, 2e-4);
  EXPECT_GT(logistic(rwkv7_tapered_logit(0.5, 0.5, 512)) / (logistic(0.5) * std::pow(512, -0.5)),
            1.1);
  EXPECT_EQ(rwkv7_tapered_logit(0.5, 0.5, 1), 0.5);
  EXPECT_NEAR(rwkv7_exactly_tapered_logit(0.5, 0.5, 1), 0.5, 1e-15);
}

TEST(PostInitial, RefusesALengthWithoutALogarithm) {
  expect_refusal([] { (void)mamba2_log_rates(4, 1); }, {"trained_at is 1"});
  constexpr std::int64_t longest = std::int64_t{1} << 53;
  EXPECT_LT(mamba2_log_rates(4, longest).front(), mamba2_log_rates(4, longest / 2).front());
  expect_refusal([] { (void)mamba2_log_rates(4, longest + 1); },
                 {"trained_at is 9007199254740993", "2 to 2^53"});
  expect_refusal([] { (void)rwkv7_logits(0, 512); }, {"count is 0"});
  expect_refusal([] { (void)rwkv7_zigzag(8, 1); }, {"of_head is 1"});
}

}  // namespace
