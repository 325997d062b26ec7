// wane-ggml-shapes: every operation agrees with its loop in double; wrong options are refused.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/process.hpp"

#ifdef WANE_GGML_SHAPES
namespace wane::bench {
namespace {

using nlohmann::json;

json rows_of(std::vector<std::string> arguments) {
  scratch const place;
  arguments.insert(arguments.end(), {"--json", place.file("rows.json")});
  auto const result = run(WANE_GGML_SHAPES, arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(content_of(place.file("rows.json")))["rows"];
}

TEST(GgmlShapes, AgreeWithALoopInDoubleWhateverTheThreads) {
  for (char const* threads : {"1", "3"}) {
    std::set<std::string> names;
    for (auto const& row : rows_of({"--untimed", "--threads", threads})) {
      names.insert(row["name"]);
      // Sums of at most 128 products, over 70 tokens.
      EXPECT_LT(double(row["max_rel_error"]), 2e-6) << row;
      EXPECT_GT(double(row["max_rel_error"]), 0) << row;
      EXPECT_FALSE(row.contains("tokens_per_second"));
    }
    EXPECT_EQ(names, (std::set<std::string>{"GATED_LINEAR_ATTN", "RWKV_WKV7", "GATED_DELTA_NET",
                                            "GATED_DELTA_NET/gate:channel",
                                            "SSM_SCAN/mamba:2/N:128", "SSM_SCAN/mamba:1/N:16"}));
  }
}

TEST(GgmlShapes, HaveATimeForEachSizeAndLength) {
  auto const rows = rows_of({"--only", "SSM_SCAN/mamba:1/N:16"});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["name"], "SSM_SCAN/mamba:1/N:16/H:16/D:64/T:512/threads:1");
  EXPECT_EQ(rows[3]["name"], "SSM_SCAN/mamba:1/N:16/H:16/D:128/T:4096/threads:1");
  for (auto const& row : rows) EXPECT_GT(double(row["tokens_per_second"]), 0) << row;
}

TEST(GgmlShapes, AnswersWrongOptionsInALine) {
  for (auto const& [arguments, piece] : std::map<std::vector<std::string>, std::string>{
           {{"--only", "SSM_SCAN"}, "choose from GATED_LINEAR_ATTN, "},
           {{"--threads", "0"}, "--threads"},
           {{"--threads", "two"}, "--threads"},
           {{"--colour", "red"}, "--colour"},
           {{"--json", "/nowhere/rows.json"}, "cannot be written"},
           {{"--json", ""}, "--json needs"}}) {
    auto const result = run(WANE_GGML_SHAPES, arguments);
    EXPECT_EQ(result.status, 2) << piece;
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("wane-ggml-shapes: ")) << result.err;
    EXPECT_NE(result.err.find(piece), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace wane::bench
#endif
