// A constant drive for many tokens: a geometric sum, known in long double at every length.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/memory_asked.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;

constexpr index piece = 100000;

// Log decays of four channels, nodes or rows.
constexpr double log_decays[] = {-0.5, -0x1p-6, -0x1p-10, -0x1p-13};
constexpr index channels = 4;

// A buffer of tokens that are all the same, of a type T.
template <class T>
struct constants {
  std::vector<T> decay, one = std::vector<T>(piece * channels, T(1)), query;

  constants() {
    for (index i = 0; i < piece * channels; ++i) {
      decay.push_back(static_cast<T>(log_decays[i % channels]));
      query.push_back(T(i % channels == 1));
    }
  }
  wane::sequence_view<T const> view(std::vector<T> const& x, index count) const {
    return {x.data(), 1, count, 1, channels};
  }
};

// 1 + w + ... + w^(count - 1), w = e^log_decay
long double sum_of_powers(double log_decay, index count) {
  long double const log = log_decay;
  return std::expm1(log * static_cast<long double>(count)) / std::expm1(log);
}

// Each token rounds a state by eps at most, and that is remembered as long as the state itself:
// eps min(T, 1 / (1 - w)), all of one sign at worst; twice, for the product and for the sum.
template <class T>
double bound(double log_decay, index count) {
  double const memory = -1 / std::expm1(log_decay);
  return static_cast<double>(std::numeric_limits<T>::epsilon()) *
         std::min(static_cast<double>(count), 1 + memory);
}

// make(constants, count) over `count` tokens, in pieces; right(j) is the log decay of output j.
template <class T, class Make>
void expect_geometric(Make const& make, index count, std::vector<double> const& of_outputs) {
  constants<T> const x;
  wane::recurrent_state<T> by_run(make(x, 1)), by_step = by_run;
  std::vector<T> y(piece * channels);
  wane::sequence_view<T> const all(y.data(), 1, piece, 1, channels);
  auto const one = make(x, 1);
  auto const expect = [&](T const* last, index seen, char const* how) {
    for (std::size_t j = 0; j < of_outputs.size(); ++j) {
      long double const right = sum_of_powers(of_outputs[j], seen);
      EXPECT_LE(std::abs(static_cast<long double>(last[j]) / right - 1),
                bound<T>(of_outputs[j], seen))
          << how << ", output " << j << " of token " << seen;
    }
  };
  index checked = piece;
  for (index seen = piece; seen <= count; seen += piece) {
    wane::run_options<T> options;
    options.initial = std::as_const(by_run), options.final = by_run, options.threads = 1;
    wane::run(make(x, piece), all, options);
    bool const check = seen == checked || seen == count;
    if (check) expect(y.data() + (piece - 1) * channels, seen, "run");
    auto const asked = support::memory_taken.times;
    for (index t = 0; t < piece; ++t) wane::step(one, all.tokens(0, 1), by_step);
    EXPECT_EQ(support::memory_taken.times, asked);
    if (check) expect(y.data(), seen, "step"), checked *= 10;
  }
  EXPECT_EQ(by_run.positions()[0], count);
  EXPECT_EQ(by_step.positions()[0], count);
}

template <class T>
auto linear(constants<T> const& x, index count) {
  return wane::linear_recurrence<wane::decay_as::log, T>(
      {.decay = x.view(x.decay, count), .drive = x.view(x.one, count)});
}
// Its query reads the second row alone.
template <class T>
auto keyed(constants<T> const& x, index count) {
  return wane::gla<T, wane::sequence_view<T const>>(
      {.query = x.view(x.query, count), .key = x.view(x.one, count), .value = x.view(x.one, count)},
      x.view(x.decay, count), {.scale = 1});
}
// Its query reads the second node alone.
template <class T>
auto bank(constants<T> const& x, index count) {
  return wane::exponential_bank<T>({.value = x.view(x.one, count),
                                    .log_decay = {x.decay.data(), 1, channels},
                                    .key = {x.one.data(), 1, channels},
                                    .query = {x.query.data(), 1, channels}});
}

void expect_all(index count) {
  std::vector<double> const own(std::begin(log_decays), std::end(log_decays)),
      second(channels, log_decays[1]);
  auto const of_linear = [](auto const& x, index n) { return linear(x, n); };
  auto const of_keyed = [](auto const& x, index n) { return keyed(x, n); };
  auto const of_bank = [](auto const& x, index n) { return bank(x, n); };
  expect_geometric<float>(of_linear, count, own);
  expect_geometric<double>(of_linear, count, own);
  expect_geometric<float>(of_keyed, count, second);
  expect_geometric<double>(of_keyed, count, second);
  expect_geometric<float>(of_bank, count, second);
  expect_geometric<double>(of_bank, count, second);
}

TEST(ClosedForm, OfAConstantDriveIsKeptForAMillionTokens) { expect_all(1000000); }
TEST(ClosedForm, OfAConstantDriveIsKeptForAHundredMillionTokensSlow) { expect_all(100000000); }

}  // namespace
