// The octave-band predictive information of sources whose information is known, and the verdicts.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/renewal.hpp"
#include "shared/progress.hpp"
#include "shared/random.hpp"
#include "spectra/octaves/coarse_graining.hpp"
#include "spectra/octaves/conditions.hpp"
#include "spectra/octaves/measurement.hpp"
#include "spectra/text.hpp"

namespace wane::bench {
namespace {

octave_measurement measured(std::vector<std::string> const& texts, std::int64_t longest,
                            unsigned threads = 1) {
  progress silent(false);
  return measure_octaves(corpus_of(texts), longest, threads, silent);
}

bool happens(random_bits& bits, double probability) {
  return static_cast<double>(below(bits, 1'000'000)) < 1e6 * probability;
}

char letter(random_bits& bits, std::uint64_t symbols) {
  return static_cast<char>('a' + below(bits, symbols));
}

double entropy(std::vector<double> const& probabilities) {
  double sum = 0;
  for (double const p : probabilities) sum -= p > 0 ? p * std::log2(p) : 0;
  return sum;
}

// Learning costs: each octave that adds nothing loses the code length of its weights, below 2e-3
// bits with 30000 symbols to score.
constexpr double cost = 2e-3;

void expect_nothing_but(octave_measurement const& found, std::int64_t sigma) {
  for (auto const& octave : found.octaves) {
    if (octave.sigma == sigma) continue;
    EXPECT_NEAR(octave.information(), 0, cost) << octave.sigma;
    EXPECT_FALSE(octave.above_noise() && octave.information() > 1e-3) << octave.sigma;
  }
}

TEST(Octaves, OfIndependentSymbolsHoldNothing) {
  random_bits bits(1);
  std::string text;
  while (text.size() < 60'000) text += letter(bits, 5);
  auto const found = measured({text}, 512);
  EXPECT_NEAR(found.plain, std::log2(5.0), 1e-3);
  EXPECT_NEAR(found.last_symbol.information(), 0, cost);
  EXPECT_EQ(found.octaves.size(), 9u);
  expect_nothing_but(found, 0);
  EXPECT_FALSE(equipartition_of(found.octaves).holds());
}

// A symbol is kept with probability 0.7, else redrawn from 4: all information is in the last
// symbol.
TEST(Octaves, OfAMarkovChainHoldNothingBeyondItsLastSymbol) {
  random_bits bits(2);
  std::string text = "a";
  while (text.size() < 60'000) text += happens(bits, 0.7) ? text.back() : letter(bits, 4);
  auto const found = measured({text}, 256);
  double const exact = 2 - entropy({0.775, 0.075, 0.075, 0.075});
  EXPECT_NEAR(found.last_symbol.information(), exact,
              4 * found.last_symbol.standard_error() + cost);
  EXPECT_LT(found.last_symbol.standard_error(), 0.02);
  expect_nothing_but(found, 0);
}

// x_t = x_{t-1} xor x_{t-3}, wrong with probability 0.1. Two symbols tell nothing, three tell
// 1 - h(0.1) bits: the octave of 2 to 4 holds everything.
TEST(Octaves, OfAChainOfOrderThreeHoldItWhereTheThirdSymbolIs) {
  random_bits bits(3);
  std::vector<int> x{0, 1, 1};
  std::string text;
  while (text.size() < 60'000) {
    std::size_t const t = x.size();
    x.push_back(x[t - 1] ^ x[t - 3] ^ static_cast<int>(happens(bits, 0.1)));
    text += static_cast<char>('a' + x.back());
  }
  auto const found = measured({text}, 256);
  auto const& third = found.octaves[1];
  EXPECT_EQ(third.sigma, 2);
  EXPECT_NEAR(third.information(), 1 - entropy({0.1, 0.9}), 4 * third.standard_error() + cost);
  EXPECT_LT(third.standard_error(), 0.02);
  expect_nothing_but(found, 2);
  EXPECT_FALSE(equipartition_of(found.octaves).holds());
  EXPECT_NEAR(half_of_the_information(found.octaves), std::exp2(1.5), 0.05);
}

// x_t repeats x_{t-37} with probability 1/2, else it is drawn from 8. No short context recurs more
// often than by chance; the lag is found. What the octave lacks is the cost of its 64 pairs.
TEST(Octaves, OfACopyHoldItWhereItsLagIs) {
  random_bits bits(4);
  std::string text;
  while (text.size() < 60'000) {
    bool const copied = text.size() >= 37 && happens(bits, 0.5);
    text += copied ? text[text.size() - 37] : letter(bits, 8);
  }
  auto const found = measured({text}, 256);
  auto const& copy = found.octaves[5];
  double const exact =
      3 - entropy({0.5625, 0.0625, 0.0625, 0.0625, 0.0625, 0.0625, 0.0625, 0.0625});
  EXPECT_EQ(copy.sigma, 32);
  EXPECT_EQ(copy.lag, 37);
  EXPECT_NEAR(copy.information(), exact, 4 * copy.standard_error() + 0.02);
  EXPECT_LT(copy.standard_error(), 0.02);
  expect_nothing_but(found, 32);
}

// 600 symbols are drawn, then come again in strings of 40, three strings at a time in random order:
// 520 to 680 symbols after they stood there first. None of that is in a window of 512.
TEST(Octaves, OfStringsThatComeAgainHoldThemWhereTheyStood) {
  random_bits bits(5);
  std::string text;
  while (text.size() < 80'000) {
    std::size_t const begin = text.size();
    for (int n = 0; n < 600; ++n) text += letter(bits, 16);
    for (std::size_t group = 0; group < 5; ++group) {
      std::vector<std::size_t> order{0, 1, 2};
      shuffle(std::span(order), bits);
      for (std::size_t const i : order) text += text.substr(begin + 40 * (3 * group + i), 40);
    }
  }
  auto const found = measured({text}, 1024);
  auto const& octave = found.octaves.back();
  EXPECT_EQ(octave.sigma, 512);
  EXPECT_GT(octave.information(), 1.2);  // of 2 bits, less the symbols that find the place
  EXPECT_LT(octave.information(), 2);
  expect_nothing_but(found, 512);
}

TEST(Octaves, CountOnlyPlacesThatHaveTheWindowBeforeThemInTheirText) {
  random_bits bits(6);
  std::vector<std::string> texts(2);
  for (auto& text : texts) {
    while (text.size() < 20'000) text += letter(bits, 3);
  }
  auto const found = measured(texts, 1024);
  EXPECT_EQ(found.scored, 20'000);
  EXPECT_EQ(found.last_symbol.all().places, 20'000 - 1);
  for (auto const& octave : found.octaves) {
    EXPECT_EQ(octave.all().places, 20'000 - octave.window);
  }
}

// The latter half is texts of 100 symbols, in which no window of 128 has a place.
TEST(Octaves, EndWhereTheTextsDo) {
  random_bits bits(10);
  std::vector<std::string> texts(101);
  while (texts[0].size() < 10'000) texts[0] += letter(bits, 3);
  for (std::size_t i = 1; i < texts.size(); ++i) {
    while (texts[i].size() < 100) texts[i] += letter(bits, 3);
  }
  EXPECT_EQ(measured(texts, 1024).octaves.back().window, 64);
}

TEST(Octaves, AreTheSameForAnyNumberOfThreads) {
  std::string const text = renewal{}.text(20'000, 4, 7);
  auto const one = measured({text}, 256, 1), five = measured({text}, 256, 5);
  for (std::size_t i = 0; i < one.octaves.size(); ++i) {
    EXPECT_EQ(one.octaves[i].information(), five.octaves[i].information());
    EXPECT_EQ(one.octaves[i].standard_error(), five.octaves[i].standard_error());
  }
}

std::vector<measured_octave> octaves_with(std::vector<double> const& information) {
  std::vector<measured_octave> octaves;
  for (double const j : information) {
    measured_octave octave{.sigma = std::int64_t{1} << octaves.size()};
    for (auto& piece : octave.pieces) piece = {1 + j, 1, 1};
    octaves.push_back(octave);
  }
  return octaves;
}

TEST(Equipartition, HasTheLeastSlackThatHoldsEveryOctave) {
  auto const found = equipartition_of(octaves_with({0.3, 0.2, 0.25, 0.28}));
  EXPECT_NEAR(found.usual, 0.25, 1e-12);
  EXPECT_NEAR(found.slack, 0.2, 1e-12);
  EXPECT_NEAR(found.least_slack, 0.2, 1e-9);  // octaves without noise
  EXPECT_NEAR(found.taper_bound(), 0.5, 1e-12);
  EXPECT_TRUE(found.says_something());
}

TEST(Equipartition, SaysNothingFromASlackOfOneThirdOn) {
  EXPECT_TRUE(equipartition_of(octaves_with({0.199, 0.1})).says_something());
  auto const found = equipartition_of(octaves_with({0.201, 0.1}));
  EXPECT_TRUE(found.holds());
  EXPECT_FALSE(found.says_something());
  EXPECT_FALSE(equipartition_of(octaves_with({0.2, 0.0})).holds());
}

TEST(Equipartition, MayHoldFromAnOctaveOn) {
  EXPECT_EQ(equal_from(octaves_with({0.7, 0.2, 0.1, 0.09, 0.1})), 2u);
  EXPECT_EQ(equal_from(octaves_with({0.8, 0.4, 0.2, 0.1, 0.05})), 5u);
}

TEST(Equipartition, IsLogGrowthWhereInformationDoesNotDecay) {
  EXPECT_TRUE(information_decay_of(octaves_with({0.2, 0.21, 0.19, 0.2, 0.2})).logarithmic());
  auto const halved = information_decay_of(octaves_with({0.8, 0.4, 0.2, 0.1, 0.05}));
  EXPECT_NEAR(halved.gamma, 1, 1e-9);
  EXPECT_FALSE(halved.logarithmic());
  EXPECT_FALSE(information_decay_of(octaves_with({0.2, 0.2})).known());
}

// Runs of one symbol, long ones with the tail of a renewal process: the agreement of symbols goes
// as lag^-0.7, and so does that of blocks.
TEST(CoarseGraining, OfARenewalProcessHasItsExponent) {
  auto const found =
      coarse_grain(corpus_of(std::vector<std::string>{renewal{}.text(400'000, 4, 8)}), 1024);
  auto const similar = self_similarity_of(std::span(found).subspan(2));
  EXPECT_TRUE(similar.holds()) << similar.farthest;
  EXPECT_NEAR(similar.mean, 0.7, 0.1);
}

TEST(CoarseGraining, OfIndependentSymbolsHasNoExponent) {
  random_bits bits(9);
  std::string text;
  while (text.size() < 100'000) text += letter(bits, 4);
  auto const found = coarse_grain(corpus_of(std::vector<std::string>{text}), 256);
  EXPECT_FALSE(self_similarity_of(found).holds());
}

// "ab" again and again: neighbours never agree, blocks of two are all alike.
TEST(CoarseGraining, OfAlternationIsNegative) {
  std::string text;
  while (text.size() < 10'000) text += "ab";
  auto const found = coarse_grain(corpus_of(std::vector<std::string>{text}), 4);
  EXPECT_NEAR(found[0].covariance, -0.5, 1e-12);
  EXPECT_NEAR(found[1].covariance, 0, 1e-12);
  EXPECT_FALSE(self_similarity_of(found).positive);
  EXPECT_FALSE(self_similarity_of(found).holds());
}

}  // namespace
}  // namespace wane::bench
