// vla with a gate: the laws, its formula, and its accuracy over long runs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/vla_loop.hpp"
#include "support/vla_problem.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

using enum write_rule;
using enum penalises;

memory_size const sizes[] = {
    {.batch = 2, .time = 37, .heads = 2, .rows = 5, .columns = 3},
    {.batch = 1, .time = 64, .heads = 4, .rows = 18, .columns = 33, .groups = 2},
    {.batch = 1, .time = 300, .heads = 1, .rows = 16, .columns = 1}};

template <class Problem>
class VlaForgettingLaws : public ::testing::Test {};
using gate = token_view<double const>;
static_assert(wane::impl::fading_penalty<vla<double, rls, gate>>);
static_assert(!wane::impl::fading_penalty<vla<double>>);
using Problems =
    ::testing::Types<vla_problem<double, rls, keys, gate>, vla_problem<double, unit, keys, gate>,
                     vla_problem<double, projective, keys, gate>,
                     vla_problem<double, unit, directions, gate>,
                     vla_problem<double, projective, directions, gate>>;
TYPED_TEST_SUITE(VlaForgettingLaws, Problems);

// Weak decays renew M after many chunks, strong ones after few tokens.
TYPED_TEST(VlaForgettingLaws, Hold) {
  for (memory_size const& size : sizes)
    for (double slower : {1., 0.02})
      for (bool memory_fades : {true, false}) {
        SCOPED_TRACE(slower);
        TypeParam problem(size, {.lambda = 0.1, .memory_fades = memory_fades});
        for (double& g : problem.gate.values.values) g *= slower;
        support::expect_to_hold(law_kit(problem, 1e-12, 3).check());
        support::expect_to_hold(adjoint_law_kit(problem, 1e-9, 3).check());
      }
}

template <class Is, class ShouldBe>
double relative_error(Is const& is, ShouldBe const& should_be) {
  support::nearness near;
  for (std::size_t i = 0; i < is.size(); ++i)
    near.add(static_cast<double>(is[i]), static_cast<double>(should_be[i]));
  return near.both();
}

// The outputs of a problem in one sequence, by a run in pieces or by steps.
template <class Problem>
std::vector<double> outputs_of(Problem const& problem, index piece, bool in_steps) {
  memory_size const& size = problem.size;
  index const each = size.heads * size.columns;
  std::vector<double> y(static_cast<std::size_t>(size.time * each));
  recurrent_state<double> state(problem.make(0, size.time), 1);
  for (index t = 0; t < size.time; t += piece) {
    index const end = std::min(t + piece, size.time);
    sequence_view<double> const to(y.data() + t * each, 1, end - t, size.heads, size.columns);
    if (in_steps)
      step(problem.make(t, end), to, state_view<double>(state));
    else
      run(problem.make(t, end), to, {.initial = state, .final = state});
  }
  return y;
}

TEST(VlaForgetting, IsItsFormula) {
  memory_size const size{.batch = 1, .time = 70, .heads = 2, .rows = 7, .columns = 3};
  for (bool memory_fades : {true, false}) {
    vla_problem<double, projective, directions, gate> problem(
        size, {.lambda = 0.1, .memory_fades = memory_fades, .epsilon = 0});
    auto const raw = [](auto const& tensor, index t, index h) {
      auto const& e = tensor.extent;
      double const* const row = tensor.values.data() + (t * e[2] + h) * e[3];
      return Eigen::VectorXd(Eigen::Map<Eigen::VectorXd const>(row, e[3]));
    };
    std::vector<double> right(static_cast<std::size_t>(size.time * size.heads * size.columns));
    for (index h = 0; h < size.heads; ++h) {
      support::vla_loop<double> loop(projective, {}, problem.lambda[static_cast<std::size_t>(h)],
                                     size.rows, size.columns);
      for (index t = 0; t < size.time; ++t) {
        double const w = std::exp(raw(problem.gate.values, t, h)(0));
        loop.fade(w, memory_fades ? w : 1);
        auto const y = loop.take(raw(problem.query.input, t, h), raw(problem.key.input, t, h),
                                 raw(problem.direction.input, t, h), raw(problem.value, t, h));
        for (index j = 0; j < size.columns; ++j)
          right[static_cast<std::size_t>((t * size.heads + h) * size.columns + j)] = y(j);
      }
    }
    for (bool in_steps : {false, true})
      for (index piece : {70, 13})
        EXPECT_LE(relative_error(outputs_of(problem, piece, in_steps), right), 1e-12);
  }
}

// A reset clears NaN and infinity from S and from M.
TEST(VlaForgetting, AResetForgetsNaNs) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   infinity = std::numeric_limits<double>::infinity();
  memory_size const size{.batch = 1, .time = 40, .heads = 1, .rows = 6, .columns = 2};
  vla_problem<double, rls, keys, gate> clean(size), broken(size);
  clean.gate.values.values[25] = broken.gate.values.values[25] = -infinity;
  broken.gate.values.values[23] = broken.key.input.values[20 * 6] = broken.value.values[22 * 2] =
      nan;
  for (bool in_steps : {false, true}) {
    auto const right = outputs_of(clean, 40, in_steps), y = outputs_of(broken, 40, in_steps);
    EXPECT_TRUE(std::isnan(y[24 * 2]));
    for (std::size_t i = 25 * 2; i < y.size(); ++i) EXPECT_NEAR(y[i], right[i], 1e-14) << i;
  }
}

// The outputs with one strong decay, whose square may underflow although its square root does not.
template <class T>
std::vector<double> after_a_decay_of(double log_decay) {
  memory_size const size{.batch = 1, .time = 40, .heads = 1, .rows = 6, .columns = 2};
  vla_problem<T, rls, keys, token_view<T const>> problem(size);
  problem.gate.values.values[25] = static_cast<T>(log_decay);
  std::vector<T> y(80);
  run(problem.make(0, 40), sequence_view<T>(y.data(), 1, 40, 1, 2));
  return {y.begin(), y.end()};
}
TEST(VlaForgetting, ForgetsHoweverLittleIsLeft) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (double log_decay : {-40., -60., -80., -100., -150., -190., -1000.})
    EXPECT_LE(
        relative_error(after_a_decay_of<float>(log_decay), after_a_decay_of<float>(-infinity)),
        1e-6)
        << log_decay;
  for (double log_decay : {-100., -600., -700., -800., -1000., -1400., -1e4})
    EXPECT_LE(
        relative_error(after_a_decay_of<double>(log_decay), after_a_decay_of<double>(-infinity)),
        1e-14)
        << log_decay;
}

// Keys never reach four of the eight directions, where M would grow without bound if not renewed.
TEST(VlaForgetting, StaysBoundedOverAMillionTokens) {
  constexpr index tokens = 1'000'000, rows = 8, reached = 4;
  constexpr float lambda = 1e-3f, log_decay = -0.01f;
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  std::vector<float> key(static_cast<std::size_t>(tokens * rows)),
      value(static_cast<std::size_t>(tokens)), y(value.size());
  for (index t = 0; t < tokens; ++t) {
    for (index i = 0; i < reached; ++i) key[static_cast<std::size_t>(t * rows + i)] = normal(bits);
    value[static_cast<std::size_t>(t)] = normal(bits);
  }
  std::vector<double> in_double(y.size());
  std::vector<double> const key_(key.begin(), key.end()), value_(value.begin(), value.end());
  double const slow = log_decay;
  auto const memory = [&]<class T>(std::vector<T> const& k, std::vector<T> const& v, T const& g) {
    sequence_view<T const> const of_keys(k.data(), 1, tokens, 1, rows);
    return vla<T, rls, token_view<T const>>(
        {.query = of_keys, .key = of_keys, .value = {v.data(), 1, tokens, 1, 1}},
        {&g, {1, tokens, 1}, {0, 0, 0}}, {.lambda = double(lambda), .memory_fades = false});
  };
  recurrent_state<float> state(1, 1, rows, 1 + rows + 1);
  run(memory(key, value, log_decay), sequence_view<float>(y.data(), 1, tokens, 1, 1),
      {.final = state});
  run(memory(key_, value_, slow), sequence_view<double>(in_double.data(), 1, tokens, 1, 1));
  // The first tokens give hardly more equations than unknowns, which is worse conditioned.
  constexpr std::size_t first = 2000;
  EXPECT_LE(relative_error(std::span(y).subspan(first), std::span(in_double).subspan(first)), 1e-6);
  state_view<float const> const held = std::as_const(state);
  float const left = std::exp(held.values(0, 0, 0, 1 + rows));
  for (index i = reached; i < rows; ++i) {
    float m = 0;
    for (index j = 0; j <= i; ++j) m += held.values(0, 0, j, 1 + i) * held.values(0, 0, j, 1 + i);
    EXPECT_LE(left * m, lambda * 1.001f);
    EXPECT_GE(left * m, lambda * 0.249f);
  }
}

// The meaning of keys changes half way. A memory that forgets follows the change.
TEST(VlaForgetting, FollowsAChange) {
  memory_size const size{.batch = 1, .time = 400, .heads = 1, .rows = 8, .columns = 4};
  auto const late_error = [&](double log_decay) {
    vla_problem<double, rls, keys, gate> problem(size, {.lambda = 1e-3, .memory_fades = false});
    for (index t = 0; t < size.time; ++t) {
      auto const row = [&](std::vector<double>& of, index width) {
        return Eigen::Map<Eigen::VectorXd>(of.data() + t * width, width);
      };
      auto key = row(problem.key.input.values, size.rows);
      row(problem.query.input.values, size.rows) = key /= key.norm();
      row(problem.value.values, size.columns) =
          t < size.time / 2 ? key.head(size.columns) : key.tail(size.columns);
      problem.gate.values.values[static_cast<std::size_t>(t)] = log_decay;
    }
    auto const y = outputs_of(problem, size.time, false);
    std::vector<double> const late(y.end() - 4 * 40, y.end()),
        right(problem.value.values.end() - 4 * 40, problem.value.values.end());
    return relative_error(late, right);
  };
  EXPECT_GE(late_error(0), 0.2);
  EXPECT_LE(late_error(-0.1), 0.02);
}

// PoST's gate, whose decays depend on the position, in pieces, against the log decays that it
// gives.
TEST(VlaForgetting, TakesATaperedGate) {
  memory_size const size{.batch = 1, .time = 90, .heads = 2, .rows = 5, .columns = 3};
  std::vector<double> const log_decay{-0.3, -0.05}, alpha{0.8, 0.1};
  auto const of_heads = [](std::vector<double> const& x) {
    return view<double const, 1>(x.data(), 2);
  };
  using tapered = constant_gate<double>;
  struct problem_type : vla_problem<double, rls, keys, gate> {
    using vla_problem::vla_problem;
    tapered const* computed = nullptr;
    vla<double, rls, tapered> make(index begin, index end) const {
      auto const in = this->in(begin, end);
      return {{.query = in.query, .key = in.key, .value = in.value}, *computed, this->options};
    }
  };
  tapered const computed({of_heads(log_decay)}, {{of_heads(alpha)}, 10});
  problem_type by_gate(size);
  by_gate.computed = &computed;
  vla_problem<double, rls, keys, gate> by_tensor(size);
  for (index t = 0; t < size.time; ++t)
    for (index h = 0; h < 2; ++h)
      by_tensor.gate.values.values[static_cast<std::size_t>(2 * t + h)] =
          computed.read({.batch = 0, .time = t, .head = h, .position = t + 1});
  by_gate.lambda = by_tensor.lambda = {0.1, 0.1};
  for (index piece : {90, 13})
    EXPECT_LE(relative_error(outputs_of(by_gate, piece, false), outputs_of(by_tensor, 90, false)),
              1e-14);
}

TEST(VlaForgetting, RefusesWhatDoesNotFit) {
  memory_size const size{.batch = 1, .time = 4, .heads = 2, .rows = 3, .columns = 2};
  using problem = vla_problem<float, rls, keys, token_view<float const>>;
  support::expect_error({"renewal is 1", "(0, 1)"},
                        [&] { problem(size, {.renewal = 1}).make(0, 4); });
  support::expect_error({"refresh and a gate are two ways to forget"}, [&] {
    problem(size, {.refresh = {4, 0.1}}).make(0, 4);
  });
}

}  // namespace
}  // namespace wane::testing
