// What wane-spectra says of a checkpoint: timescales, channels that are alike, the power law.
// SPDX-License-Identifier: MIT
#include "spectra/checkpoint_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "support/safetensors_bytes.hpp"
#include "wane/spectra/rates/geometric.hpp"

namespace wane::bench {
namespace {

using nlohmann::json;
using support::named_numbers, support::safetensors_of;

std::string const folder = WANE_SOURCE_DIR "/tests/bench/checkpoints/";

TEST(CheckpointReport, OfTimescalesOneADecade) {
  auto const found = timescales_of({1, 0.1, 0.001, 1e-4}, 100'000, 0.99);
  EXPECT_DOUBLE_EQ(found.shortest, 1);
  EXPECT_DOUBLE_EQ(found.longest, 1e4);
  EXPECT_NEAR(found.median, 100, 1e-12);  // between 10 and 1000, on a log axis
  EXPECT_EQ(found.within, 4);
  EXPECT_NEAR(found.covered, 0.8, 1e-15);
  EXPECT_NEAR(found.widest_gap, 100, 1e-12);
  EXPECT_EQ(found.alike, 0);
  EXPECT_EQ(found.distinct, 4);
}

TEST(CheckpointReport, OfTimescalesOutsideTheHorizon) {
  auto const found = timescales_of({1e-9, 30}, 1000, 0.99);
  EXPECT_EQ(found.within, 0);
  EXPECT_EQ(found.covered, 1);  // all of [1, T] lies between the two
  EXPECT_NEAR(found.widest_gap, 1000, 1e-12);
  auto const fast = timescales_of({2, 3}, 1000, 0.99);
  EXPECT_EQ(fast.covered, 0);
  EXPECT_NEAR(fast.widest_gap, 1000, 1e-12);
}

// A geometric spectrum made for T holds a power law all the way; one channel holds none.
TEST(CheckpointReport, PowerLawHeld) {
  std::int64_t const horizon = 100'000;
  auto const geometric =
      power_law_of(spectra::geometric(24, spectra::wide_range(horizon)), horizon);
  EXPECT_EQ(geometric.reach, horizon);
  EXPECT_EQ(geometric.exponent, 1.5);
  auto const one = power_law_of({0.1}, horizon);
  EXPECT_LT(one.reach, 10);
  EXPECT_EQ(power_law_of({700}, horizon).reach, 1);  // one channel meets one lag
}

json report_of(std::vector<std::string> arguments, scratch const& place) {
  for (char const* const word : {"--json", "--csv"}) {
    arguments.push_back(word);
    arguments.push_back(place.file(word + 2));
  }
  auto const result = run(WANE_SPECTRA, arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return json::parse(content_of(place.file("json")));
}

TEST(CheckpointReport, OfAProcess) {
  scratch const place;
  auto const report =
      report_of({"--checkpoint", folder + "rwkv7.safetensors", "--horizon", "10000"}, place);
  EXPECT_EQ(report["horizon"], 10'000);
  ASSERT_EQ(report["layers"].size(), 3u);
  auto const& layer = report["layers"][0];
  EXPECT_EQ(layer["name"], "blocks.0.att");
  EXPECT_EQ(layer["channels"], 128);
  ASSERT_EQ(layer["heads"].size(), 2u);
  std::vector<double> const rates = layer["heads"][1]["rates"];
  auto const again = timescales_of(rates, 10'000, 0.99);
  EXPECT_EQ(layer["heads"][1]["median_timescale"], again.median);
  EXPECT_EQ(layer["heads"][1]["pairs_alike"], again.alike);
  std::string const csv = content_of(place.file("csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 2);  // heading, layers x heads
}

TEST(CheckpointReport, TableNamesEachLayerAndFormula) {
  auto const result = run(WANE_SPECTRA, {"--checkpoint", folder + "others.safetensors"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (std::string const said : {"6 layers", "decoder.retnet_rel_pos", "model.layers.3.attn",
                                 "r = e^A_log softplus(dt_bias)", "power law"}) {
    EXPECT_NE(result.out.find(said), std::string::npos) << said;
  }
}

TEST(CheckpointReport, PatternHeadSizeAndCoherenceCount) {
  scratch const place;
  auto const model = place.write(
      "m.safetensors", safetensors_of({{"mix.3.lambda", {4}, {0.5f, 0.25f, 0.125f, 0.0625f}}}));
  auto const report = report_of({"--checkpoint", model, "--pattern", "lambda$=rate", "--head-size",
                                 "2", "--coherence", "0.9"},
                                place);
  auto const& layer = report["layers"][0];
  EXPECT_EQ(layer["formula"], "r = x");
  EXPECT_EQ(layer["heads"].size(), 2u);
  EXPECT_EQ(layer["pairs_alike"], 3);  // sech(ln 2 / 2) = 0.943; sech(ln 4 / 2) = 0.8
}

TEST(CheckpointReport, HasOneUnit) {
  scratch const place;
  std::string const unit = "half-life in ";
  auto const said = [&](std::vector<named_numbers> const& tensors) {
    auto const file = place.write("m.safetensors", safetensors_of(tensors));
    auto const result = run(WANE_SPECTRA, {"--checkpoint", file});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  named_numbers const rates{"l.0.A_log", {2}, {0, 1}}, bias{"l.0.dt_bias", {2}, {-3, -4}};
  EXPECT_NE(said({rates, bias}).find(unit + "steps\n"), std::string::npos);
  EXPECT_NE(said({rates}).find(unit + "units of the step size\n"), std::string::npos);
  std::string const both = said({rates, bias, {"l.1.A_log", {2}, {0, 1}}});
  EXPECT_NE(both.find(unit + "steps, or units of the step size where marked *"), std::string::npos);
  EXPECT_NE(both.find("l.1 *"), std::string::npos) << both;
}

TEST(CheckpointReport, ShowsTheLayerAskedFor) {
  scratch const place;
  auto const file = place.write("m.safetensors", safetensors_of({{"layers.0.decay", {1}, {0.5f}},
                                                                 {"layers.1.decay", {1}, {0.9f}}}));
  auto const wrong = run(WANE_SPECTRA, {"--checkpoint", file, "--layer", "3"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("give one of 'layers.0', 'layers.1', or a number from 1 to 2"),
            std::string::npos)
      << wrong.err;
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  for (std::string const layer : {"1", "layers.0"}) {
    auto const result =
        run(WANE_SPECTRA, {"--checkpoint", file, "--layer", layer, "--plot", place.file("p.svg")});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(content_of(place.file("p.svg")).find("layers.0"), std::string::npos);
  }
}

TEST(CheckpointReport, DrawsAPicture) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  scratch const place;
  auto const model =
      place.write("a'b.safetensors", safetensors_of({{"layers.0.<decay>.decay", {2}, {0.5f, 0.99f}},
                                                     {"layers.1.decay", {1}, {0.9f}}}));
  auto const result = run(WANE_SPECTRA, {"--checkpoint", model, "--plot", place.file("p.svg")});
  ASSERT_EQ(result.status, 0) << result.err;
  std::string const drawn = content_of(place.file("p.svg"));
  EXPECT_NE(drawn.find("timescales of a'b.safetensors"), std::string::npos);
  EXPECT_NE(drawn.find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace wane::bench
