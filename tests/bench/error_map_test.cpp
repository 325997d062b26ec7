// wane-error-map: every cell of its map is there and within its bound, a violated bound is named,
// two prints of bits are the same; wrong options are refused in a line.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/process.hpp"
#include "error_map/bound.hpp"

#ifdef WANE_ERROR_MAP
namespace wane::bench {
namespace {

using nlohmann::json;

std::set<std::string> const operators{"linear_recurrence",
                                      "exponential_bank",
                                      "retention",
                                      "retrieval",
                                      "rwkv4",
                                      "laplace",
                                      "gla",
                                      "retnet",
                                      "hgrn2",
                                      "rwkv6",
                                      "linear_attention",
                                      "mamba1",
                                      "mamba2",
                                      "longhorn",
                                      "log_linear",
                                      "delta_net",
                                      "gated_delta_net",
                                      "gated_delta_net2",
                                      "comba",
                                      "kimi_delta_attention",
                                      "rwkv7",
                                      "vla_delta_net",
                                      "delta_product",
                                      "log_linear_of",
                                      "mlstm",
                                      "mamba3",
                                      "vla",
                                      "preconditioned_delta_net",
                                      "mesa_net",
                                      "lightning_attention",
                                      "undecayed_retrieval",
                                      "laplace_coefficients"};

TEST(ErrorMap, HasEveryOperatorTypeLengthDecayAndCutWithinItsBound) {
  scratch const place;
  auto const result = run(WANE_ERROR_MAP, {"--tokens", "100", "--json", place.file("map.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  std::map<std::string, std::set<std::string>> decays;  // of each operator
  std::set<std::string> cells, types, cuts;
  std::set<int> tokens;
  auto const map = json::parse(content_of(place.file("map.json")))["errors"];
  for (auto const& row : map) {
    decays[row["operator"]].insert(row["log_decay"].dump());
    types.insert(row["type"]), cuts.insert(row["chunk"].dump()), tokens.insert(int(row["tokens"]));
    cells.insert(json(std::vector<json>{row["operator"], row["type"], row["tokens"],
                                        row["log_decay"], row["chunk"]})
                     .dump());
    EXPECT_LE(double(row["max_rel_error"]), double(row["bound"])) << row;
    // The largest is that of vla, 25.3 half units for each of 3 (10 + 4) + 100 (16 bits).
    EXPECT_LT(double(row["bound"]), 2.2e-4) << row;
  }
  EXPECT_EQ(types, (std::set<std::string>{"float", "bfloat16"}));
  EXPECT_EQ(tokens, (std::set{1, 4, 16, 64, 100}));
  EXPECT_EQ(cuts, (std::set<std::string>{"1", "4", "64", "null"}));
  std::size_t expected = 0;
  for (auto const& [name, of] : decays) {
    EXPECT_TRUE(operators.contains(name)) << name;
    // Whole runs of five lengths; pieces of 1, 4 and 64 of the longer ones.
    expected += of.size() * types.size() * (5 + 4 + 3 + 1);
  }
  EXPECT_EQ(decays["gla"].size(), 7u);
  for (char const* log_decay : {"0.0", "-1e-09", "-1e-06", "-0.001", "\"-inf\""})
    EXPECT_TRUE(decays["gla"].contains(log_decay)) << log_decay;
  EXPECT_EQ(decays["delta_net"], (std::set<std::string>{"null"}));
  EXPECT_EQ(decays.size(), operators.size());
  EXPECT_EQ(cells.size(), expected);
  EXPECT_EQ(cells.size(), map.size());
  EXPECT_NE(result.out.find("-inf"), std::string::npos);
}

TEST(ErrorMap, NamesEveryViolatedBoundAndFails) {
  auto const result =
      run(WANE_ERROR_MAP, {"--tokens", "4", "--only", "gla", "--allowance", "1e-3"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("wane-error-map: above its bound: gla, float, T 4, log decay -1e-06, "
                            "step: error "),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find(", bound "), std::string::npos) << result.err;
}

// The formula of docs/numerics.md: 3 half units of 2^-24 for each root, of memory and of products.
TEST(ErrorMap, BoundsGrowWithTheRootOfTheMemory) {
  double const of_16_products = 3 * 0x1p-24 * 4;
  auto const of_memory = [&](error_growth const& of, index tokens, double log_decay) {
    double const root = (bound_of(of, tokens, log_decay) - of_16_products) / (3 * 0x1p-24);
    return root * root;
  };
  EXPECT_NEAR(of_memory({}, 10000, 0), 10000, 1e-6);
  EXPECT_NEAR(of_memory({}, 10000, std::log(0.99)), 100, 1e-6);
  EXPECT_NEAR(of_memory({}, 10000, -HUGE_VAL), 1, 1e-6);
  EXPECT_NEAR(of_memory({.erased = 0.01}, 10000, 0), 100, 1e-6);
  EXPECT_NEAR(of_memory({.most_tokens = 64}, 10000, 0), 64, 1e-6);
  EXPECT_NEAR(bound_of({.condition = 7}, 100, 0), 7 * bound_of({}, 100, 0), 1e-15);
  EXPECT_NEAR(bound_of({}, 10000, 0, true), bound_of({}, 10000, 0) + 10000 * 0x1p-24, 1e-15);
  EXPECT_NEAR(bound_of({.idle = 512}, 10000, 0), bound_of({}, 10000, 0) + 512 * 0x1p-24, 1e-15);
}

TEST(ErrorMap, PrintsTheSameBitsTwice) {
  std::vector<std::string> const asked{"--bits", "--tokens", "70", "--only", "gated_delta_net"};
  auto const once = run(WANE_ERROR_MAP, asked), again = run(WANE_ERROR_MAP, asked);
  EXPECT_EQ(once.status, 0) << once.err;
  EXPECT_EQ(once.out, again.out);
  // Two types, seven decays, four cuts.
  EXPECT_EQ(std::count(once.out.begin(), once.out.end(), '\n'), 56);
}

// The cuts, "whole", "64", "4" and "1", of a run of an operator whose outputs have the bits of the
// whole; for all types and decays.
std::map<std::string, std::set<std::string>> cuts_with_the_bits_of_the_whole(
    std::string const& printed) {
  std::map<std::string, std::set<std::string>> found;
  std::istringstream lines(printed);
  std::string name, type, log_decay, cut, bits, whole;
  std::set<std::pair<std::string, std::string>> different;
  while (lines >> name >> type >> log_decay >> cut >> bits) {
    if (cut == "whole") whole = bits;
    found[name].insert(cut);
    if (bits != whole) different.insert({name, cut});
  }
  for (auto const& [of, at] : different) found[of].erase(at);
  return found;
}

TEST(ErrorMap, ShowsWhichCutsChangeNoBit) {
  auto const result = run(WANE_ERROR_MAP, {"--bits", "--tokens", "100"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const same = cuts_with_the_bits_of_the_whole(result.out);
  EXPECT_EQ(same.size(), operators.size());
  // Micro-chunks of four tokens begin at the same tokens, with the state that a run carries.
  for (char const* name : {"gla",
                           "retnet",
                           "lightning_attention",
                           "hgrn2",
                           "rwkv6",
                           "linear_attention",
                           "mamba2",
                           "log_linear",
                           "delta_net",
                           "gated_delta_net",
                           "gated_delta_net2",
                           "kimi_delta_attention",
                           "comba",
                           "rwkv7",
                           "vla_delta_net",
                           "delta_product",
                           "log_linear_of",
                           "mlstm",
                           "mamba3",
                           "preconditioned_delta_net",
                           "mesa_net",
                           "retrieval",
                           "undecayed_retrieval"})
    EXPECT_TRUE(same.at(name).contains("4") && same.at(name).contains("64")) << name;
  // Columns go token by token in a run as in a step.
  for (char const* name : {"linear_recurrence", "rwkv4", "mamba1", "longhorn"})
    EXPECT_EQ(same.at(name).size(), 4u) << name;
}

TEST(ErrorMap, AnswersWrongOptionsInALine) {
  for (auto const& [arguments, piece] : std::map<std::vector<std::string>, std::string>{
           {{"--tokens", "0"}, "--tokens"},
           {{"--tokens", "many"}, "--tokens"},
           {{"--colour", "red"}, "--colour"},
           {{"--only", "lstm"}, "no operator is called"},
           {{"--allowance", "0"}, "--allowance"},
           {{"--plot", "/nowhere/map.svg"}, "cannot be written"},
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
