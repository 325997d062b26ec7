// RWKV-7's own initial logits: values computed with 40 digits from its training code's formula.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/rwkv7_initial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

struct known {
  std::size_t channel;
  double logit, rate;
};

// Digits of the doubles: 4 ulp of the largest term, 6.
void expect_known(std::vector<double> const& logits, std::vector<known> const& values) {
  auto const rates = rwkv7_rates(logits);
  for (auto const& [n, logit, rate] : values) {
    EXPECT_NEAR(logits[n], logit, 4e-15) << n;
    EXPECT_NEAR(rates[n] / rate, 1, 1e-14) << n;
  }
}

TEST(Rwkv7Initial, OfTheFirstLayerIsALineWithTheZigzag) {
  expect_known(rwkv7_initial_logits(128, 64, {.layer = 0, .layers = 12}),
               {{0, -8, 0.00020340013586655065},
                {1, -7.7965452731107024, 0.00024927437972718653},
                {40, -3.4282004431985684, 0.019060626992016495},
                {63, -0.023622047244094488, 0.29968362242981534},
                {64, -4.9763779527559055, 0.0041557877849112489},
                {127, 3, 0.57776541356679616}});
}

TEST(Rwkv7Initial, OfTheLastLayerIsASquareWithTheZigzag) {
  expect_known(rwkv7_initial_logits(128, 64, {.layer = 11, .layers = 12}),
               {{1, -7.8434173668548899, 0.00023786444248724587},
                {40, -4.7227630323237467, 0.0053448899532999458},
                {63, -1.5235290470580941, 0.10853407437275977},
                {64, -6.4762849525699051, 0.00093233041070538961}});
}

TEST(Rwkv7Initial, OfLayersBetweenBendsWithTheDepth) {
  expect_known(rwkv7_initial_logits(768, 64, {.layer = 5, .layers = 12}),
               {{1, -7.8437480415502857, 0.0002377858305697853},
                {64, -7.9295106056377524, 0.00021824975116116352},
                {384, -6.2601420745120151, 0.001156853770886498},
                {767, 3, 0.57776541356679616}});
  expect_known(rwkv7_initial_logits(768, 64, {.layer = 1, .layers = 24}),
               {{40, -5.2191843509735376, 0.0032647192701523359},
                {384, -5.7070556403539982, 0.0020084890141467164}});
}

// The timescales: from 1.7 to 4900 tokens, whatever the layer and the length trained at.
TEST(Rwkv7Initial, GoesFromMinusEightToThree) {
  for (std::int64_t layer : {0, 3, 11}) {
    auto const logits = rwkv7_initial_logits(768, 64, {.layer = layer, .layers = 12});
    EXPECT_EQ(*std::min_element(logits.begin(), logits.end()), -8);
    EXPECT_EQ(*std::max_element(logits.begin(), logits.end()), 3);
  }
}

TEST(Rwkv7Initial, OfOneLayerIsThatOfTheFirst) {
  EXPECT_EQ(rwkv7_initial_logits(64, 64, {}),
            rwkv7_initial_logits(64, 64, {.layer = 0, .layers = 9}));
  EXPECT_EQ(rwkv7_initial_logits(1, 2, {}), std::vector<double>{-8});
}

TEST(Rwkv7Initial, RefusesALayerThatIsNotThere) {
  expect_refusal([] { (void)rwkv7_initial_logits(64, 64, {.layer = 12, .layers = 12}); },
                 {"layer is 12", "from 0 to 11"});
  expect_refusal([] { (void)rwkv7_initial_logits(64, 64, {.layer = -1, .layers = 12}); },
                 {"layer is -1"});
  expect_refusal([] { (void)rwkv7_initial_logits(64, 64, {.layer = 0, .layers = 0}); },
                 {"layers is 0"});
  expect_refusal([] { (void)rwkv7_initial_logits(0, 64, {}); }, {"channels is 0"});
}

}  // namespace
