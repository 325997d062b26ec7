// The cost model of one sequence over ranks: its limits, its crossings, and the committed curves.
// SPDX-License-Identifier: MIT
#include "ranks/cost_model.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "bench/process.hpp"
#include "ranks/scale.hpp"

namespace wane::bench {
namespace {

constexpr network_cost free_messages{"free", 0, std::numeric_limits<double>::infinity()};

// A million tokens, 1 us each; joining costs nothing.
cost_case simple(index heads, bool erases, network_cost const& network = free_messages) {
  return {{"simple", heads, 64, 64, erases, erases ? 2. : 1., 1},
          {1e6, 1, std::numeric_limits<double>::infinity()},
          network,
          1e6};
}

TEST(CostModel, OneRankIsOneRun) {
  for (cost_case const& c : cases_of_curves()) {
    EXPECT_EQ(chain_seconds(c, 1), work(c));
    EXPECT_EQ(tree_seconds(c, 1), work(c));
    EXPECT_EQ(gather_seconds(c, 1), work(c));
    EXPECT_EQ(early_seconds(c, 1), work(c));
    EXPECT_EQ(heads_seconds(c, 1), work(c));
    EXPECT_EQ(best_cut(c, 1).seconds, work(c));
  }
}

TEST(CostModel, ChainIsIdleWhileItFills) {
  cost_case const c = simple(8, false);
  for (index P : {2, 3, 16, 1000})
    for (index n : {1, 2, 32}) {
      double const p = double(P), parts = double(n);
      EXPECT_NEAR(chain_seconds(c, P, n), (parts + p - 1) / (parts * p), 1e-12) << P << " " << n;
    }
  EXPECT_NEAR(chain_seconds(c, 64, 1), 1, 1e-12) << "one part: ranks work one after the other";
  EXPECT_NEAR(chain_seconds(c, 64, 1'000'000), 1. / 64, 1e-5) << "many parts: all ranks work";
}

TEST(CostModel, ChainHasItsHeadsAndSequencesAsParts) {
  EXPECT_EQ(chain_parts(simple(8, false), 1), 1);
  EXPECT_EQ(chain_parts(simple(8, false), 2), 8);
  EXPECT_EQ(chain_parts(simple(128, false), 2), 8);
  EXPECT_EQ(chain_parts(simple(128, false), 100), 32);
  cost_case batch = simple(1, false);
  batch.sequences = 5;
  EXPECT_EQ(chain_parts(batch, 100), 5);
}

// Ranks wait for a network that is slower than they are: the bytes of all parts pass one link.
TEST(CostModel, ChainWaitsForASlowNetwork) {
  cost_case const c = simple(8, false, {"slow", 0, 1});
  EXPECT_NEAR(chain_seconds(c, 2, 8) / state_bytes(c), 1, 1e-4);
  cost_case const late = simple(8, false, {"late", 7, free_messages.bytes_a_second});
  EXPECT_NEAR(chain_seconds(late, 11, 8) - chain_seconds(simple(8, false), 11, 8), 70, 1e-9);
}

TEST(CostModel, EffectsCostARunOrMore) {
  EXPECT_NEAR(tree_seconds(simple(8, false), 1000), 2e-3, 1e-12);
  EXPECT_NEAR(tree_seconds(simple(8, true), 1000), 3e-3, 1e-12) << "two runs";
  EXPECT_NEAR(gather_seconds(simple(8, true), 1000), 3e-3, 1e-12);
}

TEST(CostModel, FadingStatesCostWhatTheyNeedToFade) {
  cost_case c = simple(8, false);
  EXPECT_FALSE(early_seconds(c, 2));
  c.memory.fades_in = 1000;
  EXPECT_NEAR(early_seconds(c, 10).value(), .1 * 1.01, 1e-12);
  EXPECT_NEAR(early_seconds(c, 125).value(), 1.125 / 125, 1e-12);
  EXPECT_FALSE(early_seconds(c, 126)) << "more than an eighth";
}

TEST(CostModel, CountsBytesOfStatesAndEffects) {
  EXPECT_EQ(state_bytes(simple(8, false)), 8 * 64 * 64 * 4);
  EXPECT_EQ(effect_bytes(simple(8, false)), 8 * 64 * 65 * 4);
  EXPECT_EQ(effect_bytes(simple(8, true)), 8 * 64 * 128 * 4);
  EXPECT_EQ(gather_bytes(simple(8, true), 100), 100 * 8 * 64 * 128 * 4);
}

TEST(CostModel, TreeSendsALogarithmOfMessages) {
  cost_case const c = simple(8, true, {"late", 1, 1e6});
  double const message = 1 + effect_bytes(c) / 1e6;
  EXPECT_NEAR(tree_seconds(c, 2), 3. / 2 + message, 1e-12);
  EXPECT_NEAR(tree_seconds(c, 1025), 3. / 1025 + 11 * message, 1e-9);
  EXPECT_NEAR(tree_seconds(c, 1026), 3. / 1026 + 12 * message, 1e-9);
  EXPECT_NEAR(gather_seconds(c, 1024), 3. / 1024 + 10 + 1023 * (message - 1), 1e-9);
}

// (n + P - 1) / n = 1 + c where P = n c + 1.
TEST(CostModel, TreePassesTheChainAfterAsManyRanksAsPartsTimesItsRuns) {
  for (index heads : {1, 8, 32})
    for (bool erases : {false, true}) {
      cost_case const c = simple(heads, erases);
      index const runs = erases ? 2 : 1;
      auto const tree = [&](index P) { return tree_seconds(c, P) * (1 - 1e-12); };
      auto const chain = [&](index P) { return chain_seconds(c, P); };
      auto const at = crossing_of(tree, chain, 4096);
      ASSERT_TRUE(at);
      EXPECT_EQ(*at, heads * runs + 1) << heads << erases;
      EXPECT_NEAR(tree_seconds(c, *at), chain_seconds(c, *at), 1e-12);
    }
}

TEST(CostModel, CrossesNowhereWhereOneStaysSlower) {
  auto const one = [](index) { return 1.; };
  auto const two = [](index) { return 2.; };
  EXPECT_FALSE(crossing_of(two, one, 100));
  EXPECT_EQ(crossing_of(one, two, 100), 2);
  EXPECT_EQ(best_ranks([](index P) { return std::abs(double(P) - 37); }, 100), 37);
}

TEST(CostModel, HeadsAndSequencesAreCutWhereSumsAreFree) {
  cost_case c = simple(32, false);
  EXPECT_NEAR(best_cut(c, 32).seconds, 1. / 32, 1e-12);
  EXPECT_EQ(best_cut(c, 32).time, 1);
  c.sequences = 4;
  EXPECT_NEAR(best_cut(c, 128).seconds, 4. / 128, 1e-12);
  EXPECT_EQ(best_cut(c, 128).time, 1);
  EXPECT_NEAR(best_cut(c, 1024).seconds, 4. / 512, 1e-12) << "beyond, time; effects cost a run";
  EXPECT_TRUE(best_cut(c, 1024).tree);
}

// Sums over heads grow with the tokens, a boundary in time does not.
TEST(CostModel, TimeIsCutWhereTokensAreManyForTheNetwork) {
  cost_case const c = simple(32, false, {"slow", 0, 1e8});
  EXPECT_EQ(best_cut(c, 8).heads, 1);
  EXPECT_EQ(best_cut(c, 8).time, 8);
  EXPECT_FALSE(best_cut(c, 8).tree);
}

TEST(CostModel, CommittedCurvesAreThoseOfTheCommittedConstants) {
  EXPECT_TRUE(content_of(WANE_SOURCE_DIR "/docs/pictures/ranks.csv") == curves_csv())
      << "wane-bench-ranks --model curves > docs/pictures/ranks.csv";
}

TEST(CostModel, DocumentHasTheTablesOfTheModel) {
  std::string const document = content_of(WANE_SOURCE_DIR "/docs/ranks.md");
  EXPECT_NE(document.find(crossings_table()), std::string::npos) << crossings_table();
  EXPECT_NE(document.find(cuts_table()), std::string::npos) << cuts_table();
}

}  // namespace
}  // namespace wane::bench
