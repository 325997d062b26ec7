// The decays of lightning attention, in both spacings.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/lightning.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

// g_gamma = -(8 / H * (1 - layer_idx / num_layers)) * range(H) in flash-linear-attention.
TEST(Lightning, IsLinearInTheHeadAndFadesWithTheLayer) {
  EXPECT_EQ(lightning(4, 0, 2), (std::vector<double>{0, 2, 4, 6}));
  EXPECT_EQ(lightning(4, 1, 2), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(lightning(1, 0, 1), std::vector<double>{0});
  auto const rates = lightning(12, 5, 24);
  for (std::size_t h = 0; h < 12; ++h)
    EXPECT_NEAR(rates[h], 8. / 12 * (1 - 5. / 24) * static_cast<double>(h), 1e-15);
}

TEST(LightningAlibi, HasTheSlopesOfAlibiTimesThatOfTheLayer) {
  EXPECT_EQ(lightning_alibi(8, 0, 1),
            (std::vector<double>{0x1p-1 * (1 + 1e-5), 0x1p-2 * (1 + 1e-5), 0x1p-3 * (1 + 1e-5),
                                 0x1p-4 * (1 + 1e-5), 0x1p-5 * (1 + 1e-5), 0x1p-6 * (1 + 1e-5),
                                 0x1p-7 * (1 + 1e-5), 0x1p-8 * (1 + 1e-5)}));
  auto const last = lightning_alibi(64, 79, 80);  // of MiniMax-01
  for (std::size_t h = 0; h < 64; ++h)
    EXPECT_NEAR(last[h] / (1e-5 * std::exp2(-static_cast<double>(h + 1) / 8)), 1, 1e-11);
}

// ALiBi's get_slopes(12): those of 8 heads, then the 1st, 3rd, 5th and 7th of 16.
TEST(LightningAlibi, TakesHeadsThatAreNoPowerOfTwo) {
  auto const rates = lightning_alibi(12, 0, 2), eight = lightning_alibi(8, 0, 2),
             sixteen = lightning_alibi(16, 0, 2);
  for (std::size_t h = 0; h < 8; ++h) EXPECT_EQ(rates[h], eight[h]);
  for (std::size_t h = 0; h < 4; ++h) EXPECT_DOUBLE_EQ(rates[8 + h], sixteen[2 * h]);
}

TEST(Lightning, RefusesHeadsAndLayersItCannotHave) {
  for (auto const& rates : {lightning, lightning_alibi}) {
    expect_refusal([&] { rates(0, 0, 1); }, {"heads is 0", "at least 1"});
    expect_refusal([&] { rates(4, 0, 0); }, {"layers is 0", "at least 1"});
    expect_refusal([&] { rates(4, -1, 3); }, {"layer is -1", "from 0 to 2"});
    expect_refusal([&] { rates(4, 3, 3); }, {"layer is 3", "from 0 to 2"});
  }
}

}  // namespace
