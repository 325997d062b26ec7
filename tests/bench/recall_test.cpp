// wane-recall: models learn to recall, in the same bits on any number of threads; options.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "shared/interval.hpp"

#ifdef WANE_RECALL
namespace wane::bench {
namespace {

using nlohmann::json;

outcome recall(std::vector<std::string> const& arguments) { return run(WANE_RECALL, arguments); }

json experiments_in(std::string const& file) {
  return json::parse(content_of(file))["experiments"];
}
// What a call that must succeed writes to --json.
json experiments_of(std::vector<std::string> arguments) {
  scratch const place;
  std::string const file = place.file("found.json");
  arguments.insert(arguments.end(), {"--json", file});
  auto const result = recall(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return experiments_in(file);
}

// 4 pairs, keys of the token before: learned in a few hundred steps by a model of width 32.
TEST(Recall, LearnsToNameTheValuesOfKeysInTheSameBitsOnAnyThreads) {
  json found[2];
  for (int threads : {1, 2})
    found[threads - 1] =
        experiments_of({"--memories", "gated-delta,delta", "--pairs", "4", "--mixing", "shift",
                        "--width", "32", "--heads", "2", "--learning-rate", "3e-3", "--steps",
                        "400", "--threads", std::to_string(threads)});
  for (std::size_t i = 0; i < 2; ++i) {
    json const &one = found[0][i], &two = found[1][i];
    EXPECT_GE(double(one["tests"][0]["accuracy"]), 0.999) << one["settings"]["memory"];
    EXPECT_EQ(one["training"], two["training"]) << one["settings"]["memory"];
    EXPECT_EQ(one["tests"], two["tests"]) << one["settings"]["memory"];
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
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5) << csv;
  auto const rows = experiments_in(document);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["tests"][1]["test"], "other keys");
  EXPECT_EQ(rows[0]["tests"][1]["paper"], 0.945);
  EXPECT_TRUE(rows[1]["tests"][0]["paper"].is_null()) << "the paper has no GLA";
  EXPECT_NE(content_of(svg).find("vla"), std::string::npos);
}

// Two layers of two heads of 8 channels, in float. vla carries a penalty matrix besides, softmax
// attention all keys and values of 13 tokens.
TEST(Recall, SaysWhatAMemoryCarries) {
  auto const rows = experiments_of({"--memories", "delta,vla,softmax,laplace-adaptive", "--pairs",
                                    "4", "--width", "16", "--heads", "2", "--steps", "2"});
  auto const test = [&](std::size_t n) { return rows[n]["tests"][0]; };
  EXPECT_EQ(test(0)["state_bytes"], 2 * 2 * 8 * 8 * 4);
  EXPECT_EQ(test(1)["state_bytes"], 2 * 2 * 2 * 8 * 8 * 4);
  EXPECT_EQ(test(2)["state_bytes"], 2 * 13 * 2 * 16 * 4);
  EXPECT_GT(double(test(3)["active_nodes"]), 32);
  EXPECT_LT(double(test(3)["active_nodes"]), 64);
  EXPECT_FALSE(test(0).contains("active_nodes"));
}

// Symbols are 64 keys, 16 labels and others. Orders begin near 0.7; the separator does not occur.
TEST(Recall, SaysTheOrdersOfSymbols) {
  scratch const place;
  std::string const file = place.file("found.json");
  std::vector<std::string> arguments{"--task",  "zipf", "--memories", "power-law-orders,power-law",
                                     "--width", "16",   "--heads",    "2",
                                     "--steps", "2",    "--json",     file};
  auto const result = recall(arguments);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("order of keys"), std::string::npos) << result.out;
  auto const rows = experiments_in(file);
  json const& test = rows[0]["tests"][0];
  json const& orders = test["orders_of_symbols"];
  ASSERT_EQ(orders.size(), 128u);
  EXPECT_TRUE(orders.back().is_null());
  std::vector<double> known;
  std::map<std::string, std::vector<double>> kinds;
  for (std::size_t n = 0; n < orders.size(); ++n) {
    if (orders[n].is_null()) continue;
    known.push_back(orders[n]);
    kinds[n < 64 ? "keys" : n < 80 ? "labels" : "others"].push_back(orders[n]);
  }
  EXPECT_GT(known.size(), 100u);
  auto const [least, most] = std::minmax_element(known.begin(), known.end());
  EXPECT_GT(*least, 0.4);
  EXPECT_LT(*most, 0.9);
  EXPECT_GT(*most - *least, 0.01) << "symbols have their own";
  ASSERT_EQ(kinds.size(), 3u);
  for (auto const& [kind, all] : kinds)
    EXPECT_NEAR(test["orders"][kind], interval_of(all).mean, 1e-12) << kind;
  EXPECT_FALSE(rows[1]["tests"][0].contains("orders_of_symbols")) << "0.7 for all";
  arguments.push_back("--resume");
  EXPECT_EQ(recall(arguments).out, result.out);
}

TEST(Recall, SavesWeightsWhoseDecaysWaneSpectraReads) {
  scratch const place;
  auto const result = recall({"--memories", "gated-delta", "--pairs", "4", "--steps", "5",
                              "--width", "16", "--heads", "2", "--save", place.file(".")});
  ASSERT_EQ(result.status, 0) << result.err;
  std::string const file =
      place.file("gated-delta-none-mqar-4-pairs-13-tokens-2-heads-5-steps-seed-42.safetensors");
  auto const read = run(WANE_SPECTRA, {"--checkpoint", file, "--json", place.file("rates.json")});
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_NE(read.out.find("layers.0.memory"), std::string::npos) << read.out;
}

TEST(Recall, TablesTrainWhatTheySayAndSumUpSeeds) {
  scratch const place;
  std::string const file = place.file("found.json");
  std::string text;
  for (int n = 0; n < 30'000; ++n) text += "of words " + std::to_string(n % 97) + '\n';
  std::string const prose = place.write("prose.txt", text);
  struct {
    char const *table, *memories;
    std::size_t rows;
    std::vector<std::string> tests;
  } const tables[] = {
      {"post-2", "retnet,retnet-post", 4, {"1 T", "2 T", "4 T", "8 T"}},
      {"vort-1", "power-law-attention", 2, {"lag to 100", "lag to 1000", "lag above 1000"}},
      {"vort-2", "exponential", 2, {"lag to 50", "lag to 500", "lag above 500"}},
      {"vort-3", "retention-orders", 2, {"from 0", "from 256"}},
      {"stlt-4", "laplace-16", 2, {"256 characters", "512 characters", "1024 characters"}},
      {"states", "vla", 2, {"8 pairs", "16 pairs", "32 pairs", "64 pairs"}},
      {"products", "delta-2", 4, {"64 tokens", "128 tokens", "256 tokens"}}};
  for (auto const& [table, memories, count, tests] : tables) {
    std::vector<std::string> arguments{"--table", table,     "--memories", memories,
                                       "--quick", "--steps", "1",          "--seed",
                                       "1,2",     "--json",  file};
    if (std::string(table) == "vort-3" || std::string(table) == "stlt-4")
      arguments.insert(arguments.end(), {"--text", prose});
    auto const result = recall(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    auto const rows = experiments_in(file);
    ASSERT_EQ(rows.size(), count) << table;
    for (json const& row : rows) {
      std::vector<std::string> names;
      for (json const& t : row["tests"]) names.push_back(t["test"]);
      EXPECT_EQ(names, tests) << table;
    }
    EXPECT_NE(result.out.find("95 % within"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("what PoST adds") != std::string::npos,
              std::string(table) == "post-2");
  }
}

TEST(Recall, ContinuesARunWhereItEnded) {
  scratch const place;
  std::string const file = place.file("found.json");
  std::vector<std::string> const first{"--memories", "linear", "--pairs", "4",  "--steps", "3",
                                       "--width",    "16",     "--json",  file, "--resume"};
  ASSERT_EQ(recall(first).status, 0);
  json before = json::parse(content_of(file));
  before["experiments"][0]["seconds"] = 1234.5;  // would change if it ran once more
  place.write("found.json", before.dump());
  auto more = first;
  more[1] = "linear,delta";
  auto const result = recall(more);
  ASSERT_EQ(result.status, 0) << result.err;
  json const after = json::parse(content_of(file));
  ASSERT_EQ(after["experiments"].size(), 2u) << after.dump(1);
  EXPECT_EQ(after["experiments"][0], before["experiments"][0]);
  EXPECT_EQ(after["experiments"][1]["settings"]["memory"], "delta");
  more[5] = "4";  // other steps are other experiments; the file keeps all
  ASSERT_EQ(recall(more).status, 0);
  auto const all = experiments_in(file);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0], before["experiments"][0]);
  EXPECT_EQ(all[2]["settings"]["steps"], 4);
  json diverged = before;  // no number of a run that diverged is one
  diverged["experiments"][0]["seconds"] = nullptr;
  diverged["experiments"][0]["tests"][0]["loss"] = nullptr;
  place.write("found.json", diverged.dump());
  EXPECT_EQ(recall(first).status, 0);
  EXPECT_TRUE(experiments_in(file)[0]["seconds"].is_null()) << "not run once more";
  place.write("found.json", R"({"program": "wane-claims"})");
  EXPECT_NE(recall(first).err.find("is no document of wane-recall"), std::string::npos);
}

// Every table, as its --quick promises: in all a quarter of an hour on two cores.
TEST(Recall, AllTablesTakeAQuarterOfAnHourSlow) {
  scratch const place;
  std::vector<std::string> arguments{"--all", "--quick", "--json", place.file("found.json")};
  std::string const text = WANE_SOURCE_DIR "/../shared/data/kjv.txt";
  if (std::filesystem::exists(text)) arguments.insert(arguments.end(), {"--text", text});
  auto const start = std::chrono::steady_clock::now();
  auto const result = recall(arguments);
  double const minutes =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 60;
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_LT(minutes, 15);
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
        {{"--table", "vla-11,vla-11"}, "twice"},
        {{"--table", "post-2", "--width", "8"}, "--width is given with --table post-2"},
        {{"--table", "vort-3"}, "--table vort-3 needs --text"},
        {{"--task", "parity", "--memories", "laplace-adaptive"}, "read the first quarter"},
        {{"--task", "text"}, "--task text needs --text"},
        {{"--task", "copy", "--pairs", "4"}, "--pairs is given with --task copy"},
        {{"--all", "--table", "vla-7"}, "--table is given with --all"},
        {{"--table", "vla-7,vla-9", "--plot", "p.svg"}, "a picture is of one"},
        {{"--task", "text", "--text", "/nowhere"}, "/nowhere"},
        {{"--text", "/nowhere"}, "--text is given with tasks that read no text"},
        {{"--resume"}, "--resume needs --json"},
        {{"--task", "zipf", "--pairs", "60", "--length", "100"}, "at least 720"},
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
