// The example that reads a marked token of a text again: its figures, and refused inputs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace wane::bench {
namespace {

using spectra::gruenwald_letnikov;

constexpr double orders[] = {0.3, 0.5, 0.7, 0.9, 0.9}, around[] = {0.3, 0.5, 0.7, 0.9, 0.3};
constexpr int halved[] = {3, 5, 14, 1512};
constexpr int tokens = 5000, mark = tokens / 10;

// Rows of the CSV: a lag, then signal and noise of five memories and four exponentials.
std::vector<std::vector<double>> figures_of(std::string const& text) {
  scratch const place;
  auto const result =
      run(EXAMPLE_RETENTION_TEXT, {place.write("text", text), "--picture", place.file("picture")});
  EXPECT_EQ(result.status, 0) << result.err;
  std::istringstream csv(content_of(place.file("picture.csv")));
  std::string line, cell;
  std::getline(csv, line);
  EXPECT_EQ(std::count(line.begin(), line.end(), ','), 18) << line;
  std::vector<std::vector<double>> rows;
  while (std::getline(csv, line)) {
    std::istringstream cells(line);
    for (rows.emplace_back(); std::getline(cells, cell, ',');)
      rows.back().push_back(std::stod(cell));
    EXPECT_EQ(rows.back().size(), 19u) << line;
  }
  return rows;
}

// Two bytes in turn: their values less the mean are one vector and its negative, about as long as
// half the difference of two random directions.
std::string in_turn() {
  std::string text;
  for (int t = 0; t < tokens; ++t) text += "ab"[t % 2];
  return text;
}

TEST(RetentionText, ReadsWhatTheKernelsLeave) {
  auto const rows = figures_of(in_turn());
  ASSERT_EQ(rows.size(), 11u);  // 1, 2, 5, ..., 2000: the text has 4499 tokens behind the mark
  for (auto const& row : rows) {
    double const lag = row[0];
    for (std::size_t h = 0; h < 5; ++h) {
      double const left = gruenwald_letnikov(orders[h])(std::llround(lag));
      EXPECT_NEAR(row[1 + 2 * h], left, 1e-3 * left) << "order " << orders[h] << ", lag " << lag;
    }
    for (std::size_t h = 0; h < 4; ++h) {
      double const left = orders[h] * std::exp2(-(lag - 1) / (halved[h] - 1));
      EXPECT_NEAR(row[11 + 2 * h], left, 1e-5 * orders[h]) << orders[h] << ", lag " << lag;
    }
  }
}

TEST(RetentionText, FindsTheNoiseOfTheOtherTokens) {
  for (auto const& row : figures_of(in_turn())) {
    int const last = mark + static_cast<int>(row[0]);
    double sums[9] = {};
    for (int t = 0; t <= last; ++t)
      for (std::size_t h = 0; t != mark && h < 9; ++h) {
        int const lag = last - t;
        double const left = h < 5 ? gruenwald_letnikov(around[h])(lag)
                            : lag == 0
                                ? 1
                                : orders[h - 5] * std::exp2(-(lag - 1.) / (halved[h - 5] - 1));
        sums[h] += t % 2 ? -left : left;
      }
    // The cosine of two random directions in 64 dimensions is 0 +- 1/8.
    double const length = row[2] / std::abs(sums[0]);
    EXPECT_NEAR(length, std::sqrt(0.5 / 64), 0.3 * std::sqrt(0.5 / 64)) << "lag " << row[0];
    for (std::size_t h = 1; h < 9; ++h)
      EXPECT_NEAR(row[2 + 2 * h] / length, std::abs(sums[h]), 2e-3) << h << ", lag " << row[0];
  }
}

TEST(RetentionText, GoesAsFarAsTheTextDoes) {
  EXPECT_EQ(figures_of(in_turn().substr(0, 1000)).back()[0], 500);
  EXPECT_EQ(figures_of(in_turn().substr(0, 550)).back()[0], 200);
  EXPECT_EQ(figures_of("ab").size(), 1u);
}

TEST(RetentionText, DrawsNothingWithoutGnuplot) {
  scratch const place;
  auto const result = run(EXAMPLE_RETENTION_TEXT, {"--picture", place.file("p")}, {"PATH=/none"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("p.svg is not drawn: gnuplot is missing"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(place.file("p.svg")));
  EXPECT_FALSE(content_of(place.file("p.csv")).empty());
}

TEST(RetentionText, RefusesWhatIsNoText) {
  scratch const place;
  auto const refuses = [](std::vector<std::string> const& arguments, std::string const& says) {
    auto const result = run(EXAMPLE_RETENTION_TEXT, arguments);
    EXPECT_EQ(result.status, 2) << says;
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
  };
  refuses({place.file("nothing")}, "nothing cannot be opened");
  refuses({place.write("a", "a")}, "a has 1 bytes; it must be a text of 2 or more");
  refuses({place.file("")}, " has 0 bytes; it must be a text of 2 or more");
  refuses({"--picture"}, "--picture cannot be opened; give a text, or --picture NAME");
  refuses({"--picture", place.file("no folder/p")}, "p.csv cannot be opened");
}

}  // namespace
}  // namespace wane::bench
