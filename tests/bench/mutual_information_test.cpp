// The mutual information of pairs: closed forms, bias, files that are never joined, threads.
// SPDX-License-Identifier: MIT
#include "spectra/mutual_information.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/renewal.hpp"
#include "shared/progress.hpp"
#include "spectra/text.hpp"
#include "spectra/text_measurement.hpp"

namespace wane::bench {
namespace {

measurement measured(std::vector<std::string> const& texts, std::vector<std::int64_t> const& lags,
                     unsigned threads = 1, std::uint64_t seed = 0) {
  progress silent(false);
  return measure_text(corpus_of(texts), lags, seed, threads, silent);
}

std::string random_text(std::size_t length, std::uint64_t symbols, std::uint64_t seed) {
  random_bits bits(seed);
  std::string text(length, ' ');
  for (char& c : text) c = static_cast<char>('a' + below(bits, symbols));
  return text;
}

TEST(MutualInformation, IsTheClosedFormOfATableLessItsBias) {
  std::array<std::uint64_t, 4> const counts{40, 10, 10, 40};
  double const plug_in = 0.8 * std::log(0.4 / 0.25) + 0.2 * std::log(0.1 / 0.25);
  EXPECT_NEAR(mutual_information(counts, 2), plug_in - 1.0 / 200, 1e-14);
}

TEST(MutualInformation, OfAnEmptyTableIsZero) {
  EXPECT_EQ(mutual_information(std::array<std::uint64_t, 4>{}, 2), 0);
}

// Independent symbols: the excess is within four standard deviations of zero at every lag (the
// chance that one of 6 is not is 4e-4; the seed is fixed), and the correction alone leaves less
// than a tenth of the plug-in's bias (29^2 / 2e5 = 4.2e-3).
TEST(MutualInformation, OfIndependentBytesIsZeroWithinNoise) {
  auto const m = measured({random_text(100'000, 30, 1)}, {1, 2, 10, 100, 1000, 10'000});
  for (auto const& lag : m.lags) {
    EXPECT_LT(std::abs(lag.excess()), 4 * lag.noise()) << lag.lag;
    EXPECT_LT(std::abs(lag.estimate), 4.2e-4) << lag.lag;
    EXPECT_FALSE(lag.above_noise()) << lag.lag;
  }
}

// The scatter that chance is said to have is that of chi-squared / 2N with 29^2 degrees of
// freedom, within the 30 % that 11 lags of 8 shuffles can tell.
TEST(MutualInformation, KnowsTheScatterOfChance) {
  std::vector<std::int64_t> lags(11);
  for (std::size_t i = 0; i < lags.size(); ++i) lags[i] = static_cast<std::int64_t>(3 * i + 1);
  auto const m = measured({random_text(100'000, 30, 2)}, lags);
  double const expected = std::sqrt(2.0 * 29 * 29) / 2e5 * std::sqrt(1 + 1.0 / 8);
  EXPECT_NEAR(m.lags[5].chance / expected, 1, 0.3);
}

TEST(MutualInformation, OfACopyIsTheEntropyAtItsLagAndNothingElsewhere) {
  constexpr std::size_t period = 5000, repeats = 20;
  std::string const once = random_text(period, 8, 3);
  std::string text;
  for (std::size_t i = 0; i < repeats; ++i) text += once;
  auto const m = measured({text}, {7, 5000});
  EXPECT_NEAR(m.lags[1].estimate, std::log(8.0), 2e-3);
  EXPECT_LT(m.lags[0].estimate, 0.02);  // the plug-in's bias of 5000 pairs, 49 / 1e4, seen often
}

// A symbol is kept with probability s, else redrawn: l places apart it is the same by descent with
// probability s^l, and 2 symbols are then equal with probability (1 + s^l) / 2.
TEST(MutualInformation, OfAMarkovChainIsItsClosedForm) {
  constexpr double kept = 0.8;
  random_bits bits(4);
  std::string text = "a";
  while (text.size() < 400'000) {
    bool const keep = static_cast<double>(below(bits, 1'000'000)) < kept * 1e6;
    text += keep ? text.back() : static_cast<char>('a' + below(bits, 2));
  }
  auto const m = measured({text}, {1, 2, 4, 8});
  for (auto const& lag : m.lags) {
    double const c = std::pow(kept, static_cast<double>(lag.lag));
    double const exact = ((1 + c) * std::log1p(c) + (1 - c) * std::log1p(-c)) / 2;
    EXPECT_NEAR(lag.excess(), exact, 4 * lag.noise()) << lag.lag;
    EXPECT_LT(lag.noise(), 0.1 * exact) << lag.lag;
  }
}

TEST(MutualInformation, CountsNoPairAcrossTexts) {
  auto const source = corpus_of(std::vector<std::string>{"ab", "ba", "a"});
  EXPECT_EQ(pairs_at(source, 1), 2);
  EXPECT_EQ(pairs_at(source, 2), 0);
  EXPECT_EQ(count_pairs(source, 1, 0, 2), (pair_counts{0, 1, 1, 0}));
  EXPECT_EQ(count_pairs(source, 1, 1, 2), (pair_counts{0, 0, 1, 0}));
}

// Texts with different symbols but without order: the baseline has all of the information.
TEST(MutualInformation, DoesNotTakeTheMixtureOfTextsForMemory) {
  std::string other = random_text(50'000, 4, 6);
  for (char& c : other) c = static_cast<char>(c + 4);
  auto const m = measured({random_text(50'000, 4, 5), other}, {1, 10, 100});
  for (auto const& lag : m.lags) {
    EXPECT_NEAR(lag.baseline, std::log(2.0), 1e-3);
    EXPECT_FALSE(lag.above_noise()) << lag.lag;
  }
}

TEST(MutualInformation, IsTheSameForAnyNumberOfThreads) {
  std::vector<std::string> const texts{renewal{}.text(20'000, 2, 7), random_text(3000, 2, 8)};
  auto const one = measured(texts, {1, 3, 30, 300}, 1);
  auto const five = measured(texts, {1, 3, 30, 300}, 5);
  for (std::size_t i = 0; i < one.lags.size(); ++i) {
    EXPECT_EQ(one.lags[i].estimate, five.lags[i].estimate);
    EXPECT_EQ(one.lags[i].baseline, five.lags[i].baseline);
    EXPECT_EQ(one.lags[i].without, five.lags[i].without);
  }
}

TEST(MutualInformation, ShufflesWithTheSeed) {
  auto const source = corpus_of(std::vector<std::string>{random_text(1000, 5, 9)});
  EXPECT_EQ(shuffled(source, 1).texts, shuffled(source, 1).texts);
  EXPECT_NE(shuffled(source, 1).texts, shuffled(source, 2).texts);
}

}  // namespace
}  // namespace wane::bench
