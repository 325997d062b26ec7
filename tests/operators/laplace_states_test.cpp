// The state of laplace with the ring of its inputs: stored, kept on the way, used by step.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "support/laplace_problem.hpp"
#include "support/nearness.hpp"
#include "support/tensor.hpp"
#include "wane/core/state/state_file.hpp"
#include "wane/run/run.hpp"

namespace {

using support::laplace_problem, support::laplace_size, support::tensor;
using wane::index;
using wane::spectra::window_shape;

// Widths differ by head: one ring is longer than the other.
laplace_size const sizes[] = {
    {.tokens = 100, .columns = 5, .width = 20},
    {.batch = 1, .tokens = 100, .heads = 3, .columns = 70, .width = 3.5, .by_column = true},
    {.tokens = 100, .columns = 1, .width = 250, .masked = true, .masks = 2}};

template <class Problem>
class LaplaceStates : public ::testing::Test {
 protected:
  using Op = typename Problem::operation;
  using V = wane::accumulate_type<Op>;
  using State = wane::recurrent_state<V>;
  using Out = wane::real_type<V>;
  using Options = wane::run_options<V>;

  static State empty(Problem const& p) { return State(p.make(0, p.tokens)); }
  static tensor<Out> outputs(Problem const& p) { return {p.batch, p.tokens, p.heads, p.columns}; }
  static void run(Problem const& p, index begin, index end, tensor<Out> const& y, State& state) {
    wane::run(p.make(begin, end), y.view().tokens(begin, end),
              Options{.initial = state, .final = state});
  }
  static bool same(State const& a, State const& b) {
    return a.positions() == b.positions() &&
           std::memcmp(a.values().data(), b.values().data(), sizeof(V) * a.values().size()) == 0;
  }
  static void expect_same(tensor<Out> const& a, tensor<Out> const& b, index begin, index end) {
    a.for_each([&](index n, index t, index h, index j) {
      if (begin <= t && t < end) {
        EXPECT_EQ(a(n, t, h, j), b(n, t, h, j)) << t;
      }
    });
  }
};

using Problems = ::testing::Types<
    laplace_problem<float, window_shape::none>, laplace_problem<double, window_shape::exponential>,
    laplace_problem<float, window_shape::rectangular>, laplace_problem<double, window_shape::hann>,
    laplace_problem<wane::bfloat16, window_shape::hann>,
    laplace_problem<wane::float16, window_shape::rectangular>>;
TYPED_TEST_SUITE(LaplaceStates, Problems);

// The bits of the ring are not numbers of the state, and some may be a NaN. A file must keep them.
TYPED_TEST(LaplaceStates, GoOnFromAFile) {
  for (auto const& size : sizes) {
    TypeParam problem(size);
    problem.x[3] = support::not_a_number<std::remove_cvref_t<decltype(problem.x[0])>>();
    auto state = this->empty(problem), found = this->empty(problem);
    auto const y = this->outputs(problem), loaded = this->outputs(problem);
    this->run(problem, 0, 57, y, state);
    std::stringstream file;
    wane::save_state(file, "laplace", state);
    wane::load_state(file, "laplace", found);
    EXPECT_TRUE(this->same(state, found));
    this->run(problem, 57, 100, y, state);
    this->run(problem, 57, 100, loaded, found);
    EXPECT_TRUE(this->same(state, found));
    y.for_each([&](index n, index t, index h, index j) {
      if (t >= 57) {
        EXPECT_EQ(std::memcmp(&y(n, t, h, j), &loaded(n, t, h, j), sizeof y(n, t, h, j)), 0);
      }
    });
  }
}

TYPED_TEST(LaplaceStates, AreKeptOnTheWay) {
  for (auto const& size : sizes) {
    TypeParam const problem(size);
    auto const y = this->outputs(problem), pieces = this->outputs(problem);
    std::vector<index> const tokens = {0, 1, 33, 33, 80, 400};
    auto final = this->empty(problem);
    std::vector<typename TestFixture::State> states(tokens.size(), final);
    std::vector<wane::kept_state<typename TestFixture::V>> keep;
    for (std::size_t k = 0; k < tokens.size(); ++k) keep.push_back({tokens[k], states[k]});
    wane::run(problem.make(0, 100), y.view(),
              typename TestFixture::Options{.final = final, .keep = keep});
    auto state = this->empty(problem);
    index begin = 0;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      index const end = std::min(tokens[k], problem.tokens);
      this->run(problem, begin, end, pieces, state);
      EXPECT_TRUE(this->same(states[k], state)) << "after " << end;
      begin = end;
    }
    this->expect_same(y, pieces, 0, 100);
  }
}

// The sequences of a batch take tokens at different times. A waiting sequence keeps its bits.
TYPED_TEST(LaplaceStates, WaitWhereAStepHasNoToken) {
  constexpr double rounding = sizeof(typename TestFixture::Out) == 4 ? 1e-6 : 1e-12;
  TypeParam const problem({.batch = 2, .tokens = 60, .columns = 9, .width = 7.5});
  auto const whole = this->outputs(problem), y = this->outputs(problem);
  auto final = this->empty(problem), state = this->empty(problem);
  wane::run(problem.make(0, 60), whole.view(), typename TestFixture::Options{.final = final});
  support::nearness near;
  auto const step = [&](index t, std::vector<index> const& lengths) {
    auto const before = state;
    wane::step(problem.make(t, t + 1), y.view().tokens(t, t + 1), state, {.lengths = lengths});
    auto const half = state.values().size() / 2;
    for (std::size_t n : {0u, 1u})
      if (!lengths[n]) {
        EXPECT_EQ(std::memcmp(state.values().data() + n * half, before.values().data() + n * half,
                              half * sizeof(typename TestFixture::V)),
                  0);
      }
  };
  // The first sequence is 11 tokens ahead.
  for (index t = 0; t < 11; ++t) step(t, {1, 0});
  for (index t = 0; t < 60; ++t) {
    step(t, {0, 1});
    if (t + 11 < 60) step(t + 11, {1, 0});
  }
  EXPECT_EQ(state.positions(), final.positions());
  y.for_each([&](index n, index t, index h, index j) {
    near.add(static_cast<double>(y(n, t, h, j)), static_cast<double>(whole(n, t, h, j)));
  });
  EXPECT_LE(near.both(), rounding);
}

// A run takes a prompt, step takes further tokens, and a run takes the rest, each from the last
// state.
TYPED_TEST(LaplaceStates, PassFromRunToStepAndBack) {
  constexpr double rounding = sizeof(typename TestFixture::Out) == 4 ? 1e-6 : 1e-12;
  for (auto const& size : sizes) {
    TypeParam const problem(size);
    auto const whole = this->outputs(problem), y = this->outputs(problem);
    wane::run(problem.make(0, 100), whole.view());
    auto state = this->empty(problem);
    for (index t = 0; t < 100;) {
      index const end = t % 3 ? t + 1 : std::min<index>(t + 10, 100);
      if (end == t + 1)
        wane::step(problem.make(t, end), y.view().tokens(t, end), state);
      else
        this->run(problem, t, end, y, state);
      t = end;
    }
    support::nearness near;
    y.for_each([&](index n, index t, index h, index j) {
      near.add(static_cast<double>(y(n, t, h, j)), static_cast<double>(whole(n, t, h, j)));
    });
    EXPECT_LE(near.both(), rounding);
  }
}

}  // namespace
