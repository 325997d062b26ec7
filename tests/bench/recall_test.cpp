// wane-recall: models learn to recall, in the same bits on any number of threads; options.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/process.hpp"

#ifdef WANE_RECALL
namespace wane::bench {
namespace {

using nlohmann::json;

outcome recall(std::vector<std::string> const& arguments) { return run(WANE_RECALL, arguments); }

json experiments_in(std::string const& file) {
  return json::parse(content_of(file))["experiments"];
}

// 4 pairs, keys of the token before: learned in a few hundred steps by a model of width 32.
TEST(Recall, LearnsToNameTheValuesOfKeysInTheSameBitsOnAnyThreads) {
  scratch const place;
  json found[2];
  for (int threads : {1, 2}) {
    std::string const file = place.file("found.json");
    auto const result =
        recall({"--memories", "gated-delta,vla", "--pairs", "4", "--mixing", "shift", "--width",
                "32", "--heads", "2", "--learning-rate", "3e-3", "--steps", "400", "--threads",
                std::to_string(threads), "--json", file});
    ASSERT_EQ(result.status, 0) << result.err;
    found[threads - 1] = experiments_in(file);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    json const &one = found[0][i], &two = found[1][i];
    EXPECT_GE(double(one["accuracy"]), 0.999) << one["memory"];
    EXPECT_EQ(one["training"], two["training"]) << one["memory"];
    EXPECT_EQ(one["loss"], two["loss"]) << one["memory"];
    EXPECT_GT(double(one["training"][0]["loss"]), 4 * double(one["training"].back()["loss"]));
  }
}

TEST(Recall, PutsThePapersNumbersBesideItsOwn) {
  scratch const place;
  std::string const svg = place.file("t.svg"), table = place.file("t.csv"),
                    document = place.file("t.json");
  auto const result = recall({"--table", "vla-13", "--quick", "--steps", "2", "--memories",
                              "vla,gla", "--plot", svg, "--csv", table, "--json", document});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("1.000"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("0.945"), std::string::npos) << result.out;
  std::string const csv = content_of(table);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  auto const rows = experiments_in(document);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["paper_other_keys"], 0.945);
  EXPECT_TRUE(rows[1]["paper"].is_null()) << "the paper has no GLA";
  EXPECT_NE(content_of(svg).find("vla"), std::string::npos);
}

TEST(Recall, SavesWeightsWhoseDecaysWaneSpectraReads) {
  scratch const place;
  auto const result = recall({"--memories", "gated-delta", "--pairs", "4", "--steps", "5",
                              "--width", "16", "--heads", "2", "--save", place.file(".")});
  ASSERT_EQ(result.status, 0) << result.err;
  std::string const file =
      place.file("gated-delta-none-mqar-4-pairs-13-tokens-seed-42.safetensors");
  auto const read = run(WANE_SPECTRA, {"--checkpoint", file, "--json", place.file("rates.json")});
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_NE(read.out.find("layers.0.memory"), std::string::npos) << read.out;
}

TEST(Recall, RefusesWhatItDoesNotHaveInOneLine) {
  using arguments = std::vector<std::string>;
  for (auto const& [wrong, says] :
       {std::pair<arguments, char const*>{{"--memories", "foo"}, "choose from softmax"},
        {{"--table", "vla-99"}, "choose from vla-7"},
        {{"--pairs", "65"}, "pairs is 65"},
        {{"--length", "10"}, "length is 10; it must be at least 25"},
        {{"--width", "30"}, "multiple of the heads, 4"},
        {{"--learning-rate", "-1"}, "not a positive number"},
        {{"--mixing", "stir"}, "choose from none"},
        {{"--seed", "1,1"}, "twice"},
        {{"--table", "vla-11", "--pairs", "8"}, "--pairs is given with --table vla-11"},
        {{"--table", "vla-9", "--seed", "1"}, "--seed is given with --table vla-9"},
        {{"--threads", "0"}, "from 1 to 1024"},
        {{"--save", "/nowhere"}, "is no directory"},
        {{"--json", "/nowhere/f"}, "cannot be written"}}) {
    auto const result = recall(wrong);
    EXPECT_NE(result.status, 0) << wrong[0];
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
  }
}

}  // namespace
}  // namespace wane::bench
#endif
