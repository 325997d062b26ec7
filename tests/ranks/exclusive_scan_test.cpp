// exclusive_scan: order, directions, faults, and effects.
// SPDX-License-Identifier: MIT
#include "wane/ranks/exclusive_scan.hpp"

#include <gtest/gtest.h>

#include <array>

#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

// The ranks from `first` to `last`; joined in their order only.
struct stretch {
  int first, last;
  bool operator==(stretch const&) const = default;
};
void join(std::span<stretch const> first, std::span<stretch> second) {
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (first[i].last + 1 != second[i].first) throw std::logic_error("out of order");
    second[i].first = first[i].first;
  }
}
// From the last rank on.
void join_down(std::span<stretch const> first, std::span<stretch> second) {
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (first[i].first != second[i].last + 1) throw std::logic_error("out of order");
    second[i].last = first[i].last;
  }
}

TEST(ExclusiveScan, HoldsTheRanksBefore) {
  for (int size = 1; size <= 17; ++size)
    on_ranks(size, [&](thread_rank const& ranks) {
      int const r = ranks.rank();
      std::vector<stretch> const own(3, {r, r});
      auto const before = exclusive_scan(ranks, own, join);
      EXPECT_EQ(before, r == 0 ? std::vector<stretch>() : std::vector<stretch>(3, {0, r - 1}));
      auto const after = exclusive_scan(ranks, own, join_down, direction::reverse);
      EXPECT_EQ(after, r + 1 == size ? std::vector<stretch>()
                                     : std::vector<stretch>(3, {r + 1, size - 1}));
      EXPECT_TRUE(exclusive_scan(ranks, std::vector<stretch>(), join).empty());
    });
}

TEST(ExclusiveScan, OfEffectsIsWhatRunsBefore) {
  std::vector<effect<double>> const each{{.5, 1}, {2, -1}, {0, 3}, {.25, 1}, {-1, 2}};
  on_ranks(5, [&](thread_rank const& ranks) {
    auto const r = static_cast<std::size_t>(ranks.rank());
    auto const before = exclusive_scan(ranks, std::vector{each[r]});
    if (r == 0) return;
    effect<double> in_turn;
    for (std::size_t n = 0; n < r; ++n) in_turn = then(in_turn, each[n]);
    EXPECT_EQ(apply(before[0], 7.), apply(in_turn, 7.));
    EXPECT_EQ(std::isnan(apply(before[0], double(NAN))), r < 3);
  });
}

TEST(ExclusiveScan, OfARankThatThrowsEndsForAll) {
  for (int bad : {1, 3, 5}) {
    auto const outcomes = outcomes_on_ranks(6, [&](thread_rank const& ranks) {
      std::vector<int> const own{ranks.rank()};
      (void)exclusive_scan(ranks, own, [&](std::span<int const>, std::span<int>) {
        if (ranks.rank() == bad) throw std::domain_error("no join");
      });
    });
    for (int r = 0; r < 6; ++r) {
      auto const& outcome = outcomes[static_cast<std::size_t>(r)];
      // Rank 1 has one element, which it joins with nothing.
      if (bad == 1)
        EXPECT_FALSE(outcome) << r;
      else if (r == bad)
        EXPECT_THROW(std::rethrow_exception(outcome), std::domain_error);
      else
        EXPECT_THROW(std::rethrow_exception(outcome), rank_failure) << r;
    }
  }
}

// A rank whose engine has no memory for one of its messages.
struct failing_rank {
  thread_rank const& ranks;
  int& until_failure;
  int rank() const { return ranks.rank(); }
  int size() const { return ranks.size(); }
  void send(int to, std::vector<std::byte> message) const {
    if (until_failure-- == 0) throw std::bad_alloc();
    ranks.send(to, std::move(message));
  }
  void receive(int from, std::span<std::byte> to) const { ranks.receive(from, to); }
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const {
    ranks.all_gather(mine, all);
  }
};

TEST(ExclusiveScan, OfAMessageThatFailsEndsForAll) {
  for (int message : {0, 1, 2}) {
    auto const outcomes = outcomes_on_ranks(6, [&](thread_rank const& ranks) {
      int until_failure = ranks.rank() == 1 ? message : -1;
      (void)exclusive_scan(failing_rank{ranks, until_failure}, std::vector<effect<float>>(2));
    });
    for (int r = 0; r < 6; ++r) {
      auto const& outcome = outcomes[static_cast<std::size_t>(r)];
      ASSERT_TRUE(outcome) << r;
      if (r == 1)
        EXPECT_THROW(std::rethrow_exception(outcome), std::bad_alloc);
      else
        try {
          std::rethrow_exception(outcome);
        } catch (rank_failure const& failure) {
          EXPECT_EQ(failure.rank(), 1) << r;
        }
    }
  }
}

TEST(ExclusiveScan, RefusesOtherNumbersOfElements) {
  auto const outcomes = outcomes_on_ranks(3, [&](thread_rank const& ranks) {
    (void)exclusive_scan(ranks, std::vector<effect<float>>(ranks.rank() == 1 ? 2 : 3));
  });
  for (auto const& outcome : outcomes) EXPECT_THROW(std::rethrow_exception(outcome), error);
}

}  // namespace
}  // namespace wane::testing
