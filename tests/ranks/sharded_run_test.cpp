// sharded_run: states found early, faults of a rank, packed sequences cut over ranks.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>

#include "support/expect_error.hpp"
#include "support/memory_problems.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/ranks/run.hpp"
#include "wane/ranks/sum.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

// gla over 4000 tokens, whose states fade within an eighth of a third of them.
gla_problem<float> const& fading() {
  static gla_problem<float> const problem = [] {
    gla_problem<float> p({1, 4000, 3, 4, 5});
    for (float& log_decay : p.gate.values.values) log_decay *= 4;
    return p;
  }();
  return problem;
}

using outcome = result<float>;
outcome nothing(index time) { return {{1, time, 3, 4, 5}, recurrent_state<float>(1, 3, 4, 5)}; }

// The tokens of fading() over three ranks, from this state on.
outcome over_three(recurrent_state<float> const& initial, bool in_place = false) {
  outcome to = nothing(4000);
  on_ranks(3, [&](thread_rank const& ranks) {
    index const begin = ranks.rank() * 1333, end = ranks.rank() == 2 ? 4000 : begin + 1333;
    recurrent_state<float> state = initial, final = state;
    run_options<float> options{.initial = state, .final = final, .threads = 1};
    if (in_place) options.final = state;
    sharded_run(ranks, fading().make(begin, end), to.view().tokens(begin, end), options);
    if (ranks.rank() == 2) to.state = in_place ? state : final;
  });
  return to;
}
outcome in_turn(recurrent_state<float> const& initial) {
  outcome to = nothing(4000);
  to.state = initial;
  for (index begin : {0, 1333, 2666}) {
    index const end = begin == 2666 ? 4000 : begin + 1333;
    run(fading().make(begin, end), to.view().tokens(begin, end),
        run_options<float>{.initial = to.state_to_read(), .final = to.state, .threads = 1});
  }
  return to;
}

TEST(StatesFoundEarly, AreThoseOfTheWholePiece) {
  auto const op = fading().make(0, 1333);
  index const count = wane::impl::tokens_remembered(op, run_options<float>{}, nullptr, 1000);
  EXPECT_GT(count, 20);
  EXPECT_LE(count, 1333 / 8);  // as sharded_run asks for
  EXPECT_EQ(wane::impl::tokens_remembered(op, run_options<float>{}, nullptr, count / 2), -1);
  recurrent_state<float> zero(1, 3, 4, 5);
  EXPECT_LE(difference(over_three(zero), in_turn(zero)), 1e-7);
  EXPECT_LE(difference(over_three(zero, true), in_turn(zero)), 1e-7);
}

// What 2^-100 cannot forget is seen afterwards, and all ranks run again in their order.
// A rank that counts what it sends.
struct counting_rank {
  thread_rank own;
  std::atomic<int>& sent;

  int rank() const { return own.rank(); }
  int size() const { return own.size(); }
  void send(int to, std::vector<std::byte> message) const { ++sent, own.send(to, message); }
  void receive(int from, std::span<std::byte> bytes) const { own.receive(from, bytes); }
  void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const {
    own.all_gather(mine, all);
  }
};

TEST(StatesFoundEarly, AreSentAgainOnlyWhereTheyWereWrong) {
  for (float start : {0.f, NAN}) {
    std::atomic<int> sent = 0;
    outcome to = nothing(4000);
    recurrent_state<float> state(1, 3, 4, 5);
    std::ranges::fill(state.values(), start);
    on_ranks(2, [&](thread_rank const& ranks) {
      index const begin = ranks.rank() * 2000;
      sharded_run(counting_rank{ranks, sent}, fading().make(begin, begin + 2000),
                  to.view().tokens(begin, begin + 2000), run_options<float>{.initial = state},
                  {.parts = 1});
    });
    EXPECT_EQ(sent, std::isnan(start) ? 2 : 1);
  }
}

TEST(StatesFoundEarly, DoNotForgetNaN) {
  recurrent_state<float> state(1, 3, 4, 5);
  state.values()[7] = NAN, state.values()[30] = 1e38f;
  for (bool in_place : {false, true}) {
    outcome is = over_three(state, in_place), must_be = in_turn(state);
    EXPECT_TRUE(std::isnan(is.view()(0, 3999, 0, 2)) == std::isnan(must_be.view()(0, 3999, 0, 2)));
    EXPECT_TRUE(std::isnan(is.view()(0, 3999, 0, 2)));
    EXPECT_TRUE(is.same_bits(must_be));
  }
}

// Over three ranks, from position 1000 on: whatever is found early, positions count through.
TEST(StatesFoundEarly, HaveThePositionsOfTheWhole) {
  recurrent_state<float> state(1, 3, 4, 5);
  state.positions()[0] = 1000;
  for (bool in_place : {false, true})
    for (index parts : {0, 1, 3}) {
      std::vector<index> seen(3), begun(3);
      outcome to = nothing(4000);
      on_ranks(3, [&](thread_rank const& ranks) {
        index const begin = ranks.rank() * 1333, end = ranks.rank() == 2 ? 4000 : begin + 1333;
        recurrent_state<float> own = state, final = state, start(1, 3, 4, 5);
        run_options<float> options{.initial = own, .final = final, .threads = 1};
        if (in_place) options.final = own;
        sharded_run(ranks, fading().make(begin, end), to.view().tokens(begin, end), options,
                    {.start = start, .parts = parts});
        seen[static_cast<std::size_t>(ranks.rank())] = (in_place ? own : final).positions()[0];
        begun[static_cast<std::size_t>(ranks.rank())] = start.positions()[0];
      });
      EXPECT_EQ(seen, (std::vector<index>{2333, 3666, 5000}));
      EXPECT_EQ(begun, (std::vector<index>{1000, 2333, 3666}));
    }
}

// Channels [B, T, 1, 20] with one log decay a sequence.
template <class T>
struct channels {
  index time;
  std::vector<T> decays;
  std::vector<T> a, b;

  channels(index tokens, std::vector<T> log_decays) : time(tokens), decays(log_decays) {
    for (T decay : decays)
      for (index i = 0; i < 20 * time; ++i) {
        a.push_back(decay);
        b.push_back(static_cast<T>(std::sin(static_cast<double>(i))));
      }
  }
  sequence_view<T const> view(std::vector<T> const& of) const {
    return {of.data(), std::ssize(decays), time, 1, 20};
  }
  auto piece(index begin, index end) const {
    return linear_recurrence<decay_as::log, T>(
        {.decay = view(a).tokens(begin, end), .drive = view(b).tokens(begin, end)});
  }
  // The outputs of two ranks, and of one process.
  std::array<std::vector<T>, 2> outputs(T initial) const {
    std::vector<T> two(a.size()), one = two;
    recurrent_state<T> state(std::ssize(decays), 1, 1, 20);
    std::fill(state.values().begin(), state.values().end(), initial);
    auto const to = [&](std::vector<T>& of) {
      return sequence_view<T>(of.data(), std::ssize(decays), time, 1, 20);
    };
    run(piece(0, time), to(one), run_options<T>{.initial = state});
    on_ranks(2, [&](thread_rank const& ranks) {
      index const begin = ranks.rank() * time / 2, end = begin + time / 2;
      sharded_run(ranks, piece(begin, end), to(two).tokens(begin, end),
                  run_options<T>{.initial = state, .threads = 1});
    });
    return {two, one};
  }
};

TEST(StatesFoundEarly, GoToTheirOwnSequence) {
  auto const [two, one] = channels<float>(4000, {-0.0001f, -1.f, -0.001f, -2.f}).outputs(3);
  EXPECT_EQ(two, one);
}

TEST(StatesFoundEarly, AreGivenUpWhereTheStateBeforeIsTooLarge) {
  auto const [two, one] = channels<double>(4000, {-0.4}).outputs(1e300);
  EXPECT_EQ(two, one);
  EXPECT_GT(one[2000 * 20], 1e-60);
}

// The last rank's own sequence begins again where the ranks run again.
TEST(StatesFoundEarly, LeaveInitialStatesForASecondRun) {
  index const starts[] = {0, 3000, 4000};
  auto const all = [&](index begin, index end) { return fading().make(begin, end); };
  recurrent_state<float> initial(2, 3, 4, 5);
  initial.values()[3] = NAN;
  std::fill(initial.values().begin() + 60, initial.values().end(), 2.f);
  outcome one = nothing(4000), two = one;
  run(all(0, 4000), one.view(), run_options<float>{.initial = initial, .packed = {starts}});
  on_ranks(2, [&](thread_rank const& ranks) {
    index const begin = ranks.rank() * 2000;
    packed_shard const own = shard_of(starts, begin, begin + 2000);
    recurrent_state<float> state(std::ssize(own.starts) - 1, 3, 4, 5);
    std::copy_n(initial.values().begin() + 60 * own.first, std::ssize(state.values()),
                state.values().begin());
    sharded_run(ranks, all(begin, begin + 2000), two.view().tokens(begin, begin + 2000),
                run_options<float>{.initial = state, .final = state, .packed = {own.starts}},
                {.continues = own.continues});
  });
  for (index t = 0; t < 4000; ++t)
    EXPECT_NEAR(two.view()(0, t, 1, 3), one.view()(0, t, 1, 3), 1e-5) << t;
}

// What the ranks throw, as text.
template <class Body>
std::vector<std::string> thrown(int size, Body const& body) {
  std::vector<std::string> texts;
  for (auto const& e : outcomes_on_ranks(size, body)) {
    texts.emplace_back();
    if (!e) continue;
    try {
      std::rethrow_exception(e);
    } catch (std::exception const& x) {
      texts.back() = x.what();
    }
  }
  return texts;
}

TEST(ARankThatFails, IsNamedByAllOthers) {
  auto const texts = thrown(3, [](thread_rank const& ranks) {
    std::vector<float> y(20 * 3 * 5);
    sharded_run(ranks, fading().make(0, 20), {y.data(), 1, ranks.rank() == 1 ? 19 : 20, 3, 5});
  });
  EXPECT_EQ(texts[1], "output has time 19; it must be 20");
  EXPECT_EQ(texts[0], "rank 1 failed: output has time 19; it must be 20");
  EXPECT_EQ(texts[2], texts[0]);
}

// Throws at a token in the middle of its work.
struct failing {
  using accumulate = float;
  index fails_at;
  recurrence_shape shape() const { return {1, 10, 4, 1, 2}; }
  template <class Write>
  void advance(place<> at, view<float, 2> state, Write const& write) const {
    if (at.head == 2 && at.time == fails_at) throw std::bad_alloc();
    for (index j = 0; j < 2; ++j) write(j, state(0, j) += 1);
  }
};

TEST(ARankThatFails, LeavesNobodyWaiting) {
  wane::impl::all_threads const used;
  for (int bad : {0, 1, 3}) {
    auto const texts = thrown(4, [&](thread_rank const& ranks) {
      std::vector<float> y(10 * 4 * 2);
      sharded_run(ranks, failing{ranks.rank() == bad ? 5 : -1}, {y.data(), 1, 10, 4, 2},
                  run_options<float>{.threads = bad == 1 ? 2 : 1});
    });
    for (int r = 0; r < 4; ++r)
      EXPECT_EQ(
          texts[static_cast<std::size_t>(r)],
          r == bad ? "std::bad_alloc" : "rank " + std::to_string(bad) + " failed: std::bad_alloc");
  }
}

TEST(ARankThatEnds, EndsThoseThatWaitForIt) {
  auto const texts = thrown(2, [](thread_rank const& ranks) {
    if (ranks.rank() == 0) throw std::runtime_error("gone");
    std::vector<float> y(20 * 3 * 5);
    sharded_run(ranks, fading().make(0, 20), {y.data(), 1, 20, 3, 5});
  });
  EXPECT_EQ(texts[0], "gone");
  EXPECT_EQ(texts[1], "rank 0 failed: it has ended");
}

TEST(RanksThatDoNotAgree, AreRefusedBeforeAnyWork) {
  auto const texts = thrown(2, [](thread_rank const& ranks) {
    gla_problem<float> const other({1, 9, ranks.rank() + 2, 4, 5});
    std::vector<float> y(9 * 3 * 5, 7);
    try {
      sharded_run(ranks, other.make(0, 9), {y.data(), 1, 9, ranks.rank() + 2, 5});
    } catch (...) {
      EXPECT_EQ(y[0], 7);
      throw;
    }
  });
  EXPECT_EQ(texts[0], "rank 1 has heads 3, rank 0 has 2; they must be the same");
  EXPECT_EQ(texts[1], texts[0]);
  auto const of_types = thrown(2, [](thread_rank const& ranks) {
    std::vector<float> y(20 * 3 * 5);
    sequence_view<float> const to(y.data(), 1, 20, 3, 5);
    if (ranks.rank() == 0)
      sharded_run(ranks, fading().make(0, 20), to, run_options<double>{});
    else
      sharded_run(ranks, fading().make(0, 20), to, run_options<float>{});
  });
  EXPECT_EQ(of_types[0],
            "rank 1 has a state of float32, rank 0 has float64; they must be the same");
  auto const of_packed = thrown(2, [](thread_rank const& ranks) {
    std::vector<float> y(20 * 3 * 5);
    index const none[] = {0, 20};
    sharded_run(ranks, fading().make(0, 20), {y.data(), 1, 20, 3, 5},
                run_options<float>{.packed = {none}}, {.continues = ranks.rank() == 0});
  });
  EXPECT_EQ(of_packed[0], "rank 0 continues a sequence; it is the first rank");
}

TEST(ShardOf, CutsPackedSequences) {
  index const starts[] = {0, 5, 5, 12, 20};
  auto const expect = [&](index begin, index end, std::vector<index> own, bool continues,
                          index first) {
    packed_shard const is = shard_of(starts, begin, end);
    EXPECT_EQ(is.starts, own) << begin << ' ' << end;
    EXPECT_EQ(is.continues, continues) << begin << ' ' << end;
    EXPECT_EQ(is.first, first) << begin << ' ' << end;
  };
  expect(0, 20, {0, 5, 5, 12, 20}, false, 0);
  expect(0, 3, {0, 3}, false, 0);
  expect(3, 7, {0, 2, 2, 4}, true, 0);
  expect(5, 12, {0, 0, 7}, false, 1);
  expect(7, 7, {0, 0}, true, 2);
  expect(12, 12, {0}, false, 0);
  expect(13, 20, {0, 7}, true, 3);
  index const ends[] = {0, 5, 5};
  EXPECT_EQ(shard_of(ends, 3, 5).starts, (std::vector<index>{0, 2, 2}));
  EXPECT_EQ(shard_of(ends, 5, 5).starts, (std::vector<index>{0}));
  index const none[] = {0, 0};
  EXPECT_EQ(shard_of(none, 0, 0).starts, (std::vector<index>{0, 0}));
  support::expect_error({"the part is 3 to 21; it must lie in 0 to 20"},
                        [&] { (void)shard_of(starts, 3, 21); });
}

TEST(Broadcast, GivesTheStateOfOneRankToAll) {
  for (int size : {1, 2, 3, 5, 8})
    on_ranks(size, [&](thread_rank const& ranks) {
      recurrent_state<float> state(2, 1, 2, 3);
      state.values()[4] = static_cast<float>(ranks.rank());
      state.positions()[1] = ranks.rank();
      broadcast(ranks, size / 2, state);
      EXPECT_EQ(state.values()[4], static_cast<float>(size / 2));
      EXPECT_EQ(state.positions()[1], size / 2);
    });
}

}  // namespace
}  // namespace wane::testing
