// wane-spectra's report on Laplace nodes: half-lives, periods, the window's part, bad files.
// SPDX-License-Identifier: MIT
#include "spectra/laplace_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "bench/process.hpp"

namespace wane::bench {
namespace {

using nlohmann::json;
using spectra::window;
using enum spectra::window_shape;

TEST(LaplaceReport, MemoryIsThatOfTheLagsOneByOne) {
  for (auto const shape : {none, rectangular, hann, exponential, gaussian})
    for (double const width : {0.3, 1.0, 6.5, 64.0, 1000.5})
      for (double const rate : {5.0, 0.3, 0.01, 1e-4}) {
        window const weight(shape, width);
        long double sum = 0, moment = 0;
        double const last = std::min(weight.reach(), 50 / rate);
        for (double lag = 0; lag < last; ++lag) {
          long double const value = weight(lag) * std::exp(-rate * lag);
          sum += value;
          moment += value * lag;
        }
        auto const found = memory_of(rate, weight);
        // The terms of the Gaussian are off by 2.4e-8 at each of about ten widths of lags.
        double const near = shape == gaussian ? 3e-7 : 1e-12;
        EXPECT_NEAR(found.sum, static_cast<double>(sum), near * found.sum)
            << name_of(shape) << ' ' << width << ' ' << rate;
        EXPECT_NEAR(found.mean_lag, static_cast<double>(moment / sum), near * (1 + found.mean_lag))
            << name_of(shape) << ' ' << width << ' ' << rate;
      }
}

// Nodes that do not decay within the window, where closed forms in 1 - p would cancel.
TEST(LaplaceReport, MemoryOfAnEndlessNodeIsTheWindow) {
  auto const square = memory_of(1e-18, window(rectangular, 1e6));
  EXPECT_NEAR(square.sum, 1e6, 1e-6);
  EXPECT_NEAR(square.mean_lag, (1e6 - 1) / 2, 1e-6);
  auto const raised = memory_of(1e-18, window(hann, 1e6));
  EXPECT_NEAR(raised.sum, 5e5 + 0.5, 1e-6);
  EXPECT_NEAR(raised.mean_lag / 1e6, 0.5 - 2 / (std::numbers::pi * std::numbers::pi), 1e-6);
}

json report_of(std::string const& file, scratch const& place) {
  auto const result =
      run(WANE_SPECTRA, {"--laplace", file, "--json", place.file("j"), "--csv", place.file("c")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return json::parse(content_of(place.file("j")));
}

TEST(LaplaceReport, OfOneLayer) {
  scratch const place;
  auto const file = place.write(
      "nodes.json", R"({"sigma": [0.5, 0.25], "omega": [0, -1], "step": 0.5, "window": "hann",
                        "width": 2, "mask": [1, 0.25]})");
  auto const report = report_of(file, place);
  ASSERT_EQ(report["layers"].size(), 1u);
  auto const& layer = report["layers"][0];
  EXPECT_EQ(layer["window"], "hann");
  EXPECT_EQ(layer["width"], 2);
  ASSERT_EQ(layer["nodes"].size(), 2u);
  auto const& still = layer["nodes"][0];
  EXPECT_NEAR(still["half_life"], 4 * std::numbers::ln2, 1e-14);
  EXPECT_TRUE(still["period"].is_null());
  // Lags 0 and 1, with weights 1 and r/2, of 1/(1 - r).
  double const r = std::exp(-0.25), left = 1 + r / 2;
  EXPECT_NEAR(still["mean_lag"], r / 2 / left, 1e-14);
  EXPECT_NEAR(still["cut"], 1 - left * (1 - r), 1e-14);
  EXPECT_NEAR(layer["nodes"][1]["period"], 4 * std::numbers::pi, 1e-13);
  EXPECT_EQ(layer["nodes"][1]["mask"], 0.25);
  auto const table = run(WANE_SPECTRA, {"--laplace", file}).out;
  for (std::string const said :
       {"2 nodes, 1.25 left by the mask, window hann of half width 2", "half-life", "12.57"}) {
    EXPECT_NE(table.find(said), std::string::npos) << said << '\n' << table;
  }
}

TEST(LaplaceReport, OfSeveralLayersWithoutWindowOrMask) {
  scratch const place;
  auto const file = place.write("nodes.json", R"([
    {"name": "a,b", "sigma": [1e-3], "omega": [3.14159]},
    {"name": "second", "sigma": [1, 2], "omega": [0, 0], "window": "exponential", "width": 1}])");
  auto const report = report_of(file, place);
  ASSERT_EQ(report["layers"].size(), 2u);
  auto const& free = report["layers"][0]["nodes"][0];
  EXPECT_EQ(free["cut"], 0);
  EXPECT_TRUE(free["mask"].is_null());
  EXPECT_NEAR(free["mean_lag"], 1 / std::expm1(1e-3), 1e-9);
  EXPECT_NEAR(report["layers"][1]["nodes"][0]["mean_lag"], 1 / std::expm1(2), 1e-14);
  std::string const csv = content_of(place.file("c"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3);
  EXPECT_NE(csv.find("\n\"a,b\",0,"), std::string::npos);
}

TEST(LaplaceReport, DrawsAPicture) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  scratch const place;
  std::string const node = R"("sigma": [0.1, 1e-9], "omega": [0, 1e-6], "mask": [0, 1]})";
  for (std::string const& content :
       {"{" + node, R"([{"name": "a", )" + node +
                        R"(, {"name": "b", "window": "hann", "width": 9,)" + node + "]"}) {
    auto const file = place.write("it's.json", content);
    auto const result = run(WANE_SPECTRA, {"--laplace", file, "--plot", place.file("p.svg")});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    std::string const drawn = content_of(place.file("p.svg"));
    EXPECT_NE(drawn.find("Laplace nodes of it's.json"), std::string::npos);
    EXPECT_NE(drawn.find(">none<"), std::string::npos);
    EXPECT_NE(drawn.find("</svg>"), std::string::npos);
  }
}

}  // namespace
}  // namespace wane::bench
