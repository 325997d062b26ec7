// wane-long-runs: every operator keeps its bound, allocates nothing in steps and grows by nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/process.hpp"

#ifdef WANE_LONG_RUNS
namespace wane::bench {
namespace {

using nlohmann::json;

// All rows of a run of the program, which must end with status 0.
json rows_of(std::vector<std::string> arguments) {
  scratch const place;
  arguments.insert(arguments.end(), {"--json", place.file("runs.json")});
  auto const result = run(WANE_LONG_RUNS, arguments);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  return json::parse(content_of(place.file("runs.json")))["runs"];
}

TEST(LongRuns, OfEveryOperatorKeepTheirBounds) {
  std::set<std::string> names;
  for (auto const& row : rows_of({"--tokens", "30000", "--piece", "10000"})) {
    names.insert(row["operator"]);
    EXPECT_EQ(row["tokens"], 30000);
    // The bound is the row's own: docs/numerics.md, for its memory.
    EXPECT_LT(double(row["run_error"]), double(row["bound"])) << row;
    EXPECT_LT(double(row["step_error"]), double(row["bound"])) << row;
    EXPECT_TRUE(row["within"]) << row;
  }
  EXPECT_EQ(names.size(), 45u);
  for (char const* name : {"linear_recurrence", "gla", "gated_delta_net", "rwkv7", "mamba2", "vla",
                           "laplace, hann window", "log_linear", "local_attention", "mesa_net"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(LongRuns, OfAMillionTokensKeepTheirBounds) {
  auto const rows = rows_of({"--operator", "linear_recurrence", "--operator", "gla", "--operator",
                             "gated_delta_net", "--operator", "mamba2 with a taper"});
  std::vector<std::pair<std::string, int>> reports;
  for (auto const& row : rows) reports.emplace_back(row["operator"], row["tokens"]);
  ASSERT_EQ(reports.size(), 8u);
  EXPECT_EQ(reports[0], (std::pair<std::string, int>("linear_recurrence", 100000)));
  EXPECT_EQ(reports[7], (std::pair<std::string, int>("mamba2 with a taper", 1000000)));
}

TEST(LongRuns, OfAHundredMillionTokensKeepTheirBoundsSlow) {
  rows_of({"--tokens", "100000000", "--operator", "linear_recurrence", "--operator", "gla",
           "--operator", "gated_delta_net", "--operator", "rwkv7 with a taper", "--operator",
           "mamba2 with a taper", "--operator", "laplace", "--operator", "retention"});
}
TEST(LongRuns, OfEveryOperatorOverTenMillionTokensKeepTheirBoundsSlow) {
  rows_of({"--tokens", "10000000"});
}

TEST(LongRuns, AnswerWrongOptionsInALine) {
  for (auto const& [arguments, piece] : std::map<std::vector<std::string>, std::string>{
           {{"--tokens", "0"}, "--tokens"},
           {{"--piece", "many"}, "--piece"},
           {{"--operator", "glaa"}, "it must be one of"},
           {{"--json", "/nowhere/runs.json"}, "cannot be written"}}) {
    auto const result = run(WANE_LONG_RUNS, arguments);
    EXPECT_EQ(result.status, 2) << piece;
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(piece), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace wane::bench
#endif
