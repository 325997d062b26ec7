// exponential_bank equals the naive loop with resets, NaN, infinities and extreme weights.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "support/bank_case.hpp"
#include "support/expect_error.hpp"

namespace {

using support::bank_case;
using support::bank_shape;
using support::index;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
// A few roundings of states that forget within a hundred tokens.
constexpr double few_roundings = 2e-6;

bank_shape shape(index rows, bool carries = true) {
  return {rows, {.time = 150, .columns = 19, .carries = carries}};
}

template <class Change>
void expect_naive(bank_shape const& s, Change const& change) {
  bank_case<float> run(s);
  change(run);
  run.run();
  EXPECT_LT(run.error(), few_roundings) << s.rows << " rows";
}

TEST(ExponentialBankHardInputs, RowsMayResetNeverForgetOrHaveKeyZero) {
  for (index rows : {3, 16, 17})
    for (bool carries : {true, false}) {
      expect_naive(shape(rows, carries), [](auto& run) { run.log_decay[1] = -infinity; });
      expect_naive(shape(rows, carries), [](auto& run) { run.log_decay[0] = 0; });
      expect_naive(shape(rows, carries), [](auto& run) { run.key[2] = 0; });
      expect_naive(shape(rows, carries), [](auto& run) { run.key[2] = 1e-7f; });
      expect_naive(shape(rows, carries), [](auto& run) { run.query[1] = 0; });
      expect_naive(shape(rows, carries), [](auto& run) { run.log_decay[0] = -87.5f; });
    }
}

TEST(ExponentialBankHardInputs, AStateOfARowWithATinyKeyIsRight) {
  // The final state of the tiny row by itself: relative to its own size.
  bank_case<float> run(shape(3, false));
  run.key[1] = 1e-20f;
  run.run();
  wane::state_view<float> const after = run.final;
  auto const nodes = run.head<double>(0);
  for (index c = 0; c < 19; ++c) {
    std::vector<double> h(3);
    support::naive_bank<double>(
        {0, 150}, nodes, h, [&](index t) { return run.values(0, t, 0, c); }, [](auto...) {});
    EXPECT_NEAR(static_cast<double>(after.values(0, 0, 1, c)) / h[1], 1, 1e-4);
  }
}

TEST(ExponentialBankHardInputs, NaNAndInfinityStayInTheirColumnAndAfterTheirToken) {
  for (index rows : {3, 4, 16, 17})
    for (float bad : {nan, infinity})
      expect_naive(shape(rows), [&](auto& run) { run.values(0, 77, 0, 5) = bad; });
}

TEST(ExponentialBankHardInputs, AnInfiniteValueGivesAnInfiniteOutputForAnyNumberOfRows) {
  for (index rows = 1; rows <= 20; ++rows) {
    bank_case<float> run(shape(rows, false));
    for (auto& x : run.key) x = 1;
    for (auto& x : run.query) x = 1;
    run.direct[0] = 1;
    run.values(0, 77, 0, 5) = infinity;
    run.run();
    EXPECT_EQ(run.output(0, 77, 0, 5), infinity) << rows << " rows";
  }
}

TEST(ExponentialBankHardInputs, WeightsWhoseProductLeavesTheRangeStillWork) {
  for (float size : {1e25f, 1e-25f})
    expect_naive(shape(1, false), [&](auto& run) {
      run.key[0] = run.query[0] = size;
      run.direct[0] = 0;
      run.values.fill([&](index, index t, index, index c) {
        return static_cast<double>((t * 5 + c) % 7) / static_cast<double>(size);
      });
    });
}

TEST(ExponentialBankHardInputs, WeightsWhoseSumLeavesTheRangeStillWork) {
  expect_naive(shape(2, false), [&](auto& run) {
    for (std::size_t s : {0u, 1u}) run.key[s] = run.query[s] = 1.5e19f;
    run.direct[0] = 0;
    run.values.fill([&](index, index t, index, index c) {
      return static_cast<double>((t * 5 + c) % 7) * 1e-12;
    });
  });
}

TEST(ExponentialBankHardInputs, WeightsWhoseProductIsNotNormalStillWork) {
  expect_naive(shape(1, false), [&](auto& run) {
    run.key[0] = 1e-19f, run.query[0] = 1e-20f;
    run.direct[0] = 0;
    run.values.fill([&](index, index t, index, index c) {
      return static_cast<double>((t * 5 + c) % 7) * 1e30;
    });
  });
}

TEST(ExponentialBank, RefusesNodesThatGrowOrAreNaN) {
  for (float bad : {nan, 0.1f, infinity}) {
    bank_case<float> run(shape(3));
    run.log_decay[1] = bad;
    support::expect_error({"log_decay(0, 1)", "<= 0"}, [&] { run.run(); });
    EXPECT_TRUE(std::isnan(run.output(0, 0, 0, 0)));
  }
  bank_case<float> key(shape(3)), query(shape(3)), direct(shape(3));
  key.key[2] = query.query[2] = direct.direct[0] = nan;
  support::expect_error({"key(0, 2)", "NaN"}, [&] { key.run(); });
  support::expect_error({"query(0, 2)", "NaN"}, [&] { query.run(); });
  support::expect_error({"direct", "NaN"}, [&] { direct.run(); });
  bank_case<std::complex<double>> turning({3, {.time = 20, .columns = 2}});
  turning.log_decay[1] = {-1, std::numeric_limits<double>::quiet_NaN()};
  support::expect_error({"log_decay(0, 1)"}, [&] { turning.run(); });
}

TEST(ExponentialBank, SaysWhichNodesDoNotFit) {
  using node = wane::view<float const, 2>;
  std::vector<float> x(100, -1.f);
  wane::sequence_view<float> const value(x.data(), 1, 2, 3, 4);
  node const right(x.data(), 3, 5), heads(x.data(), 2, 5), rows(x.data(), 3, 4),
      none(nullptr, 3, 5);
  auto const build = [&](node const& log_decay, node const& key, node const& query,
                         wane::view<float const, 1> const& direct = {}) {
    return [=] {
      wane::exponential_bank<float>(
          {.value = value, .log_decay = log_decay, .key = key, .query = query, .direct = direct});
    };
  };
  support::expect_error({"log_decay", "[2, 5]", "[3, 5]"}, build(heads, right, right));
  support::expect_error({"key", "[3, 4]", "[3, 5]"}, build(right, rows, right));
  support::expect_error({"query", "[2, 5]", "[3, 5]"}, build(right, right, heads));
  support::expect_error({"direct", "2", "3"}, build(right, right, right, {x.data(), 2}));
  support::expect_error({"log_decay", "no data"}, build(none, right, right));
  support::expect_error({"key", "no data"}, build(right, none, right));
  support::expect_error({"query", "no data"}, build(right, right, none));
}

TEST(ExponentialBank, WithoutAValueIsRefused) {
  std::vector<float> x(100, -1.f), y(24);
  wane::view<float const, 2> const node(x.data(), 3, 5);
  wane::sequence_view<float const> const nothing(nullptr, 1, 2, 3, 4);
  support::expect_error({"value", "no data"}, [&] {
    wane::run(wane::exponential_bank<float>(
                  {.value = nothing, .log_decay = node, .key = node, .query = node}),
              {y.data(), 1, 2, 3, 4});
  });
}

}  // namespace
