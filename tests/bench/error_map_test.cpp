// wane-error-map: every cell of its map is there and small; wrong options are refused in a line.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/process.hpp"

#ifdef WANE_ERROR_MAP
namespace wane::bench {
namespace {

using nlohmann::json;

TEST(ErrorMap, HasEveryOperatorLengthDecayAndCutWithinSomeRoundings) {
  scratch const place;
  auto const result = run(WANE_ERROR_MAP, {"--tokens", "100", "--json", place.file("map.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  std::set<std::string> operators, cells, cuts, decays;
  std::set<int> tokens;
  auto const map = json::parse(content_of(place.file("map.json")))["errors"];
  for (auto const& row : map) {
    operators.insert(row["operator"]);
    tokens.insert(int(row["tokens"]));
    decays.insert(row["log_decay"].dump());
    cuts.insert(row["chunk"].dump());
    cells.insert(
        json(std::vector<json>{row["operator"], row["tokens"], row["log_decay"], row["chunk"]})
            .dump());
    // Sums of 32 products, and of up to 100 tokens, each rounded to 6e-8.
    for (char const* error : {"max_rel_error", "max_rel_error_of_state"}) {
      EXPECT_LT(double(row[error]), 1e-6) << row;
      EXPECT_GT(double(row[error]), 0) << row;
    }
  }
  EXPECT_EQ(operators, (std::set<std::string>{"gla", "gated_delta_net", "rwkv7"}));
  EXPECT_EQ(tokens, (std::set{64, 100}));
  EXPECT_EQ(cuts, (std::set<std::string>{"1", "4", "64", "null"}));
  EXPECT_TRUE(decays.contains("0.0") && decays.contains("-205.0") && decays.contains("\"-inf\""));
  EXPECT_EQ(cells.size(), operators.size() * tokens.size() * cuts.size() * decays.size());
  EXPECT_EQ(cells.size(), map.size());
  EXPECT_NE(result.out.find("-inf"), std::string::npos);
}

TEST(ErrorMap, AnswersWrongOptionsInALine) {
  for (auto const& [arguments, piece] : std::map<std::vector<std::string>, std::string>{
           {{"--tokens", "0"}, "--tokens"},
           {{"--tokens", "many"}, "--tokens"},
           {{"--colour", "red"}, "--colour"},
           {{"--json", "/nowhere/map.json"}, "cannot be written"},
           {{"--json", ""}, "--json needs"}}) {
    auto const result = run(WANE_ERROR_MAP, arguments);
    EXPECT_EQ(result.status, 2) << piece;
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("wane-error-map: ")) << result.err;
    EXPECT_NE(result.err.find(piece), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace wane::bench
#endif
