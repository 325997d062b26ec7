// snapshots: a state is restored, sequence by sequence, or an error says how far it can go back.
// SPDX-License-Identifier: MIT
#include "wane/core/state/snapshots.hpp"

#include <gtest/gtest.h>

#include <array>

#include "support/expect_error.hpp"
#include "support/memory_asked.hpp"

namespace {

using wane::index;
using wane::recurrent_state;
using wane::snapshots;

// A token: position n goes up, and every value of sequence n becomes 100 n + its position + `what`.
void take(recurrent_state<float>& state, float what = 0) {
  for (index n = 0; n < 2; ++n) {
    float const position = static_cast<float>(++state.positions()[static_cast<std::size_t>(n)]);
    for (std::size_t i = 0; i < 6; ++i)
      state.values()[static_cast<std::size_t>(n) * 6 + i] =
          100 * static_cast<float>(n) + position + what;
  }
}
struct pushed {
  recurrent_state<float> state{2, 1, 2, 3};
  snapshots<float> last{4, state};

  explicit pushed(int tokens) {
    for (int t = 0; t < tokens; ++t) take(state), last.push(state);
  }
  // The value of the sequences, each the same everywhere in its own.
  std::array<float, 2> values() const {
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(state.values()[i], state.values()[i / 6 * 6]);
    return {state.values()[0], state.values()[6]};
  }
  using positions = std::vector<index>;
};

TEST(Snapshots, UndoTheLastTokens) {
  pushed p(10);
  p.last.rollback(3, p.state);
  EXPECT_EQ(p.values(), (std::array{7.f, 107.f}));
  EXPECT_EQ(p.state.positions(), (pushed::positions{7, 7}));
  p.last.rollback(0, p.state);
  EXPECT_EQ(p.values(), (std::array{7.f, 107.f}));
}

TEST(Snapshots, UndoOtherNumbersOfTokensInEverySequence) {
  pushed p(10);
  p.last.rollback_to(pushed::positions{7, 9}, p.state);
  EXPECT_EQ(p.values(), (std::array{7.f, 109.f}));
  EXPECT_EQ(p.state.positions(), (pushed::positions{7, 9}));
}

TEST(Snapshots, OfWhatWasUndoneAreForgotten) {
  pushed p(10);
  p.last.rollback_to(pushed::positions{7, 9}, p.state);
  take(p.state, 0.5f), p.last.push(p.state);  // at 8 and 10, another way
  take(p.state, 0.5f);
  p.last.rollback(1, p.state);
  EXPECT_EQ(p.values(), (std::array{8.5f, 110.5f}));
  take(p.state, 0.25f), take(p.state, 0.25f);
  support::expect_error({"sequence 0", "position 9"}, [&] {
    p.last.rollback_to(pushed::positions{9, 10}, p.state);
  });
}

TEST(Snapshots, UndoAllButOneAgainAndAgain) {
  pushed p(4);
  for (int again = 0; again < 10; ++again) {
    p.last.rollback(3, p.state);
    EXPECT_EQ(p.values(), (std::array{1.f, 101.f}));
    for (int t = 0; t < 3; ++t) take(p.state), p.last.push(p.state);
  }
  // As far back for a sequence whose neighbour keeps all its tokens.
  for (int again = 0; again < 10; ++again) {
    index const far = p.state.positions()[1];
    p.last.rollback_to(pushed::positions{1, far}, p.state);
    EXPECT_EQ(p.values()[0], 1.f);
    for (int t = 0; t < 3; ++t) take(p.state), p.last.push(p.state);
  }
}

TEST(Snapshots, OfASequenceThatStaysPushOutNothing) {
  pushed p(4);
  auto const stays = p.state;
  for (int t = 0; t < 10; ++t) {
    take(p.state);
    std::copy_n(&stays.values()[6], 6, &p.state.values()[6]);
    p.state.positions()[1] = 4;
    p.last.push(p.state);
  }
  p.last.rollback_to(pushed::positions{11, 1}, p.state);
  EXPECT_EQ(p.values(), (std::array{11.f, 101.f}));
}

TEST(Snapshots, AreForgottenWhereTheStateWentBackByItself) {
  pushed p(4);
  p.state.positions() = {0, 0};
  for (int t = 0; t < 3; ++t) take(p.state, 0.5f);
  p.state.positions()[1] = 5;
  p.last.push(p.state);
  support::expect_error({"sequence 0", "position 2", "oldest is at 3", "newest at 3"},
                        [&] { p.last.rollback(1, p.state); });
  p.last.rollback(0, p.state);
  EXPECT_EQ(p.values()[0], 3.5f);
  // The same position, another way to it.
  take(p.state), p.last.push(p.state);
  p.state.values()[0] += 1;
  p.last.push(p.state);
  support::expect_error({"sequence 0", "position 3"}, [&] { p.last.rollback(1, p.state); });
}

TEST(Snapshots, AreForgottenOnDemand) {
  pushed p(4);
  p.last.forget(1);
  support::expect_error({"sequence 1", "no snapshot", "push"},
                        [&] { p.last.rollback(1, p.state); });
  support::expect_error({"sequence is 2", "0 to 1"}, [&] { p.last.forget(2); });
  p.last.forget();
  support::expect_error({"sequence 0", "no snapshot"}, [&] { p.last.rollback(1, p.state); });
}

TEST(Snapshots, OfNoSequencesHoldNothing) {
  recurrent_state<float> none(0, 1, 2, 3);
  snapshots last(3, none);
  last.push(none), last.rollback(1, none), last.rollback_to({}, none);
  EXPECT_TRUE(none.positions().empty());
}

TEST(Snapshots, TooOldAreAnErrorThatChangesNothing) {
  pushed p(10);
  auto const before = p.state;
  support::expect_error({"sequence 0", "position 6", "oldest is at 7", "newest at 10"},
                        [&] { p.last.rollback(4, p.state); });
  // Sequence 0 could have gone.
  support::expect_error({"sequence 1", "position 5"}, [&] {
    p.last.rollback_to(pushed::positions{8, 5}, p.state);
  });
  EXPECT_EQ(p.state.values(), before.values());
  EXPECT_EQ(p.state.positions(), before.positions());
  p.last.rollback_to(pushed::positions{10, 10}, p.state);
}

TEST(Snapshots, AllocateNothing) {
  pushed p(3);
  pushed::positions const back = {2, 3};
  std::ptrdiff_t const before = support::memory_taken.times;
  p.last.push(p.state);
  p.last.rollback_to(back, p.state);
  p.last.rollback(1, p.state);
  EXPECT_EQ(support::memory_taken.times, before);
#ifndef WANE_TESTS_THREAD_SANITIZER
  EXPECT_GT(before, 0);
#endif
}

TEST(Snapshots, SayWhatDoesNotFit) {
  recurrent_state<float> state(2, 1, 2, 3), other(2, 1, 3, 2);
  support::expect_error({"count", "0", "positive"}, [&] { snapshots(0, state); });
  snapshots last(2, state);
  support::expect_error({"no snapshot", "push"}, [&] { last.rollback(0, state); });
  support::expect_error({"rows", "3", "2"}, [&] { last.push(other); });
  support::expect_error({"tokens", "-1"}, [&] { last.rollback(-1, state); });
  support::expect_error({"positions", "sequences", "1", "2"},
                        [&] { last.rollback_to(pushed::positions{0}, state); });
  wane::state_view<float> bare = state;
  bare.positions = nullptr;
  support::expect_error({"no positions"}, [&] { last.push(bare); });
}

}  // namespace
