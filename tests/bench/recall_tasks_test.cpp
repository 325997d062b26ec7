// The tasks of wane-recall ask for what they say.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "recall/tasks/draw.hpp"
#include "recall/tasks/text.hpp"

namespace wane::recall {
namespace {

TEST(RecallTasks, AskForWhatTheySay) {
  bench::random_bits bits(1);
  task const pairs{.pairs = 5, .time = 20};
  examples const drawn = draw(pairs, 3, bits);
  for (index b = 0; b < 3; ++b) {
    auto const token = [&](index t) { return drawn.tokens[static_cast<std::size_t>(b * 20 + t)]; };
    auto const asked = [&](index t) { return drawn.answers[static_cast<std::size_t>(b * 20 + t)]; };
    for (index t = 0; t < 15; ++t) EXPECT_EQ(asked(t), -1);
    for (index t = 15; t < 20; ++t) {
      index pair = 0;
      while (pair < 5 && token(2 * pair) != token(t)) ++pair;
      ASSERT_LT(pair, 5) << "a key that was not stored";
      EXPECT_EQ(asked(t), token(2 * pair + 1));
      EXPECT_GE(asked(t), pairs.keys);
    }
    for (index t = 10; t < 15; ++t) EXPECT_EQ(token(t), 127) << "the separator fills";
  }
  task const copy{.name = "copy", .time = 9};
  examples const copied = draw(copy, 1, bits);
  EXPECT_EQ(copied.tokens[4], 127);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(copied.answers[4 + t], copied.tokens[t]);
    EXPECT_EQ(copied.tokens[5 + t], copied.tokens[t]);
  }
}

// Calls use(tokens, answers) for each of `count` sequences.
template <class Use>
void for_each_sequence(task const& of, index count, Use const& use) {
  of.check();
  bench::random_bits bits(2);
  examples const drawn = draw(of, count, bits);
  for (index b = 0; b < count; ++b) {
    examples const own = drawn.part(b, b + 1);
    use(own.tokens, own.answers);
  }
}

TEST(RecallTasks, AskForLabelsAtTheLagsThatAreWanted) {
  for (char const* const name : {"zipf", "labels"}) {
    task of{.name = name, .pairs = 20, .keys = 20, .time = 1000};
    int asked_of_all = 0, asked_of_some = 0;
    for (bool const all : {true, false}) {
      index const least = all ? 0 : 100, most = all ? 1 << 30 : 400;
      of.least_lag = least, of.most_lag = most;
      for_each_sequence(of, 5, [&](auto const& tokens, auto const& answers) {
        for (std::size_t t = 0; t < tokens.size(); ++t) {
          if (answers[t] < 0) continue;
          ++(all ? asked_of_all : asked_of_some);
          auto const key = std::find(tokens.begin(), tokens.end(), tokens[t]);
          EXPECT_LT(tokens[t], of.keys);
          EXPECT_EQ(answers[t], key[1]) << name << ": the label follows the first mention";
          EXPECT_GE(answers[t], of.keys);
          EXPECT_LT(answers[t], of.keys + task::labels);
          auto const lag = static_cast<std::ptrdiff_t>(t) - (key - tokens.begin() + 1);
          EXPECT_GE(lag, std::max<index>(1, least));
          EXPECT_LE(lag, most);
        }
      });
    }
    EXPECT_EQ(asked_of_all,
              5 * (std::string(name) == "zipf" ? 20 : 180));  // without first mentions
    if (std::string(name) == "zipf") {
      EXPECT_EQ(asked_of_some, asked_of_all) << "all lags are drawn between the limits";
    } else {
      EXPECT_GT(asked_of_some, 0);
      EXPECT_LT(asked_of_some, asked_of_all);
    }
  }
}

TEST(RecallTasks, LagsOfZipfFollowThePowerLaw) {
  task const of{.name = "zipf", .pairs = 60, .time = 20'000, .exponent = 1};
  int below_100 = 0, all = 0;
  for_each_sequence(of, 40, [&](auto const& tokens, auto const& answers) {
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (answers[t] < 0) continue;
      auto const key = std::find(tokens.begin(), tokens.end(), tokens[t]);
      below_100 += static_cast<std::ptrdiff_t>(t) - (key - tokens.begin()) <= 101, ++all;
    }
  });
  // log 100 of log T lies below 100, a little more where long lags find no place.
  EXPECT_NEAR(below_100 / static_cast<double>(all), std::log(100) / std::log(20'000), 0.04);
}

TEST(RecallTasks, ProductsAreThoseOfBitsAndOfPermutations) {
  for_each_sequence({.name = "parity", .time = 50}, 5, [](auto const& tokens, auto const& answers) {
    int sum = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) EXPECT_EQ(answers[t], (sum += tokens[t]) % 2);
  });
  // Symbols 0 to 2 are rotations, 3 to 5 swaps: the parity of a product is the sum of the parities,
  // nothing changes nothing, and a swap twice is nothing.
  for_each_sequence({.name = "s3", .time = 200}, 5, [](auto const& tokens, auto const& answers) {
    int swaps = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      swaps += tokens[t] >= 3;
      EXPECT_EQ(answers[t] >= 3, swaps % 2 == 1);
      if (t > 1 && tokens[t] == 0) {
        EXPECT_EQ(answers[t], answers[t - 1]);
      }
      if (t > 1 && tokens[t] >= 3 && tokens[t - 1] == tokens[t]) {
        EXPECT_EQ(answers[t], answers[t - 2]);
      }
    }
  });
}

TEST(RecallTasks, ATextAsksForItsNextSymbolAndKeepsATenthForTests) {
  std::string letters;
  for (int n = 0; n < 1000; ++n) letters += static_cast<char>('a' + n % 7);
  text const prose(letters);
  EXPECT_EQ(prose.vocabulary, 8);
  EXPECT_EQ(prose.first->size(), 900u);
  EXPECT_EQ(prose.last->size(), 100u);
  task of = prose.trained_on(20);
  of.least_lag = 5, of.most_lag = 9;  // places of the sequence
  for_each_sequence(of, 5, [](auto const& tokens, auto const& answers) {
    for (std::size_t t = 0; t < tokens.size(); ++t)
      EXPECT_EQ(answers[t], t >= 5 && t <= 9 ? (tokens[t] + 1) % 7 : -1);
    EXPECT_EQ(tokens[6], answers[5]);
  });
}

// Keys that a model was not trained on, and values that are any symbol (VLA, Table 13).
TEST(RecallTasks, KeysAreThoseThatAreAskedFor) {
  task const of{.pairs = 6, .keys = 63, .first_key = 64, .time = 19};
  int low = 0;
  for_each_sequence(of, 20, [&](auto const& tokens, auto const& answers) {
    for (std::size_t t = 0; t < 12; t += 2) {
      EXPECT_GE(tokens[t], 64);
      low += tokens[t + 1] < 64;
    }
    for (std::size_t t = 13; t < 19; ++t) EXPECT_NE(answers[t], -1);
  });
  EXPECT_GT(low, 20) << "values are of all symbols";
}

}  // namespace
}  // namespace wane::recall
