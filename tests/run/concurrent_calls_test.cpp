// Calls from several threads at once on one operator, of every runner: the bits of one thread.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/attention_case.hpp"
#include "support/laplace_problem.hpp"
#include "support/linear_case.hpp"
#include "support/local_attention_problem.hpp"
#include "support/memory_problems.hpp"
#include "support/same_bits_at_once.hpp"
#include "support/vla_problem.hpp"
#include "wane/run/two_sided/stream.hpp"

namespace {

using support::expect_same_bits_at_once;
using wane::decay_as, wane::index;
using namespace wane::testing;

memory_size const size{2, 70, 3, 8, 9};

TEST(ConcurrentCalls, OfChannels) {
  expect_same_bits_at_once(linear_problem<decay_as::log, float>(2, 150, 3, 37), "channels");
  expect_same_bits_at_once(linear_problem<decay_as::factor, double>(2, 150, 3, 1), "channels");
}
TEST(ConcurrentCalls, OfABank) {
  expect_same_bits_at_once(bank_problem<float>(2, 150, 3, 17, 37), "lags");
}
TEST(ConcurrentCalls, OfAMemory) { expect_same_bits_at_once(gla_problem<float>(size), "panels"); }
TEST(ConcurrentCalls, OfAMemoryThatErases) {
  expect_same_bits_at_once(gated_delta_net_problem<float>(size), "panels");
}
TEST(ConcurrentCalls, OfAMeanOfValues) {
  expect_same_bits_at_once(linear_attention_problem<float>(size), "panels");
}
TEST(ConcurrentCalls, OfAMemoryWithAPenalty) {
  expect_same_bits_at_once(vla_problem<float, wane::write_rule::projective, penalises::keys>(size),
                           "penalty");
}
TEST(ConcurrentCalls, OfPoles) {
  using wane::spectra::window_shape;
  expect_same_bits_at_once(support::laplace_problem<float, window_shape::none>({}), "poles");
  expect_same_bits_at_once(support::laplace_problem<float, window_shape::hann>({}), "poles");
}
TEST(ConcurrentCalls, OfLocalAttention) {
  expect_same_bits_at_once(local_attention_problem<float>(size, 16), "in_order");
}

// Every caller has a stream of its own over the same operator.
TEST(ConcurrentCalls, OfStreams) {
  using problem = support::laplace_problem<float, wane::spectra::window_shape::hann>;
  problem const p({.batch = 1, .tokens = 300, .heads = 2, .columns = 5, .width = 20});
  auto const op = p.make(0, 0);
  auto const future = op.future();
  auto const answers = [&](int threads) {
    wane::two_sided_stream stream(op, future, threads);
    std::vector<float> y(p.x.size(), NAN);
    wane::sequence_view<float const> const x(p.x.data(), 1, p.tokens, p.heads, p.columns);
    wane::sequence_view<float> const all(y.data(), 1, p.tokens, p.heads, p.columns);
    index given = 0;
    for (index t = 0; t < p.tokens; t += 30) {
      index const ready = stream.ready(30);
      stream.push(x.tokens(t, t + 30), all.tokens(given, given + ready));
      given += ready;
    }
    stream.finish(all.tokens(given, p.tokens));
    return y;
  };
  std::vector<std::vector<float>> found(4);
  support::at_once(4, [&](int i) { found[static_cast<std::size_t>(i)] = answers(i % 3); });
  for (auto const& y : found) EXPECT_EQ(y, answers(1));
}

TEST(ConcurrentCalls, OfAttention) {
  support::attention_case<float> const shared({.batch = 2, .time = 90, .heads = 3, .rows = 8});
  auto const op = shared.op();
  auto const attend = [&](int threads) {
    auto const& extent = shared.output.view().extent;
    std::vector<float> y(static_cast<std::size_t>(extent[0] * extent[1] * extent[2] * extent[3]));
    wane::attend(op,
                 wane::sequence_view<float>(y.data(), extent[0], extent[1], extent[2], extent[3]),
                 {.threads = threads});
    return y;
  };
  std::vector<std::vector<float>> found(4);
  support::at_once(4, [&](int i) { found[static_cast<std::size_t>(i)] = attend(i % 3); });
  for (auto const& y : found) EXPECT_EQ(y, attend(1));
}

// Threads that wait for each other, in several calls at once.
TEST(ConcurrentCalls, OfLongSequencesThatThreadsShare) {
  support::at_once(3, [](int i) {
    support::linear_case<decay_as::log, float> run({.time = 100000, .columns = 4, .threads = 3},
                                                   static_cast<std::uint64_t>(i) + 1);
    auto options = run.options();
    options.threads_over_time = true;
    wane::run(run.op(), run.output.view(), options);
    EXPECT_LT(run.error().both(), support::bound_of<float>(100000));
  });
}

// Different runners at the same time.
TEST(ConcurrentCalls, OfSeveralOperators) {
  linear_problem<decay_as::log, float> const channels(2, 150, 3, 37);
  bank_problem<float> const bank(2, 150, 3, 17, 37);
  gla_problem<float> const memory(size);
  linear_attention_problem<float> const mean(size);
  support::at_once(4, [&](int i) {
    if (i == 0) expect_same_bits_at_once(channels, "channels");
    if (i == 1) expect_same_bits_at_once(bank, "lags");
    if (i == 2) expect_same_bits_at_once(memory, "panels");
    if (i == 3) expect_same_bits_at_once(mean, "panels");
  });
}

// A thread ends while another goes on; memory that a thread keeps between calls ends with it.
TEST(ConcurrentCalls, GoOnWhileThreadsEnd) {
  gla_problem<float> const shared(size);
  auto const op = shared.make(0, shared.time());
  wane::recurrent_state<float> const begin(op);
  auto own = shared;
  auto const alone = support::bits_of<gla_problem<float>>(op, begin, own, 1);
  support::at_once(2, [&](int i) {
    for (int n = 0; n < 8; ++n) {
      auto const call = [&] {
        auto mine = shared;
        EXPECT_TRUE(support::bits_of<gla_problem<float>>(op, begin, mine, 2) == alone);
      };
      if (i == 0)
        call();
      else
        std::thread(call).join();
    }
  });
}

// A call that throws leaves the others alone.
TEST(ConcurrentCalls, ThatAreRefusedDisturbNoOther) {
  gla_problem<float> const shared(size);
  auto const op = shared.make(0, shared.time());
  wane::recurrent_state<float> const begin(op);
  auto own = shared;
  auto const alone = support::bits_of<gla_problem<float>>(op, begin, own, 1);
  support::at_once(4, [&](int i) {
    for (int n = 0; n < 4; ++n) {
      auto mine = shared;
      if (i % 2 == 0)
        EXPECT_TRUE(support::bits_of<gla_problem<float>>(op, begin, mine, 2) == alone);
      else
        EXPECT_THROW(support::bits_of<gla_problem<float>>(op, begin, mine, -1), wane::error);
    }
  });
}

}  // namespace
