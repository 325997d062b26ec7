// wane-claims as a process: what holds, what does not, the answers to wrong options.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/process.hpp"

namespace wane::bench {
namespace {

using nlohmann::json;

TEST(WaneClaims, GivesEveryStatementItsVerdict) {
  scratch const place;
  auto const result = run(WANE_CLAIMS, {"--json", place.file("c.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const rows = json::parse(content_of(place.file("c.json")))["claims"];
  EXPECT_GE(rows.size(), 25u);
  std::map<std::string, std::string> verdicts;
  for (auto const& row : rows) {
    std::string const id = row["id"];
    EXPECT_TRUE(verdicts.emplace(id, row["verdict"]).second) << id << " twice";
    EXPECT_TRUE(row["measured"].is_number()) << id;
    EXPECT_NE(result.out.find(id), std::string::npos);
    EXPECT_FALSE(std::string(row["remark"]).empty());
  }
  // What docs/errata.md says of them.
  for (char const* id :
       {"vort-eq5", "vort-beta", "vort-3.1-lower", "vort-3.1-upper", "vort-4.4-step", "post-4.5",
        "post-4.10", "post-4.12", "post-4.13", "post-B.1", "post-5.1"})
    EXPECT_EQ(verdicts[id], "corrected") << id;
  for (char const* id : {"vort-fig4b-length", "post-eq12"}) EXPECT_EQ(verdicts[id], "fails") << id;
  for (char const* id : {"vort-fig4b", "vort-4.1", "vort-4.2", "vort-4.4", "vort-4.5", "post-4.1",
                         "post-4.9", "post-4.13-scale", "post-B.1-ratio", "post-B.2"})
    EXPECT_EQ(verdicts[id], "holds") << id;
}

TEST(WaneClaims, MeasuresOneAlone) {
  auto const result = run(WANE_CLAIMS, {"--only", "vort-4.4"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("holds"), std::string::npos);
  EXPECT_EQ(result.out.find("post-"), std::string::npos);
}

TEST(WaneClaims, AnswersWrongOptionsInALine) {
  for (auto const& [arguments, piece] : std::map<std::vector<std::string>, std::string>{
           {{"--only", "vort-9"}, "no claim is called 'vort-9'"},
           {{"--jason", "x"}, "--jason"},
           {{"--only", "vort-4.4", "--json", "/nowhere/c.json"}, "cannot be written"}}) {
    auto const result = run(WANE_CLAIMS, arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error_lines(), 1);
    EXPECT_NE(result.err.find(piece), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace wane::bench
