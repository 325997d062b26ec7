// mlstm is C, n <- f C + i k (v, 1)^T, y = C^T q / max(|n . q|, 1); f = e^g, i = e^input_gate.
// SPDX-License-Identifier: MIT
#include "wane/operators/mlstm.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/golden.hpp"
#include "support/memory_laws.hpp"
#include "support/mlstm_problem.hpp"
#include "support/naive_memories.hpp"
#include "support/tensor.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index, support::numbers;
using wane::mlstm;

static_assert(wane::led_memory<mlstm<float>>);

// As the paper writes it, unscaled, in double; `apart` is the distance of a run in T.
template <class T>
double apart(wane::testing::mlstm_problem<T> const& p) {
  auto const& s = p.size;
  auto const K = static_cast<std::size_t>(s.rows), V = static_cast<std::size_t>(s.columns);
  support::naive_state<double> state{K, V + 1};
  std::vector<T> y(static_cast<std::size_t>(s.time) * V);
  wane::run(p.make(0, s.time), {y.data(), 1, s.time, 1, s.columns});
  support::nearness near;
  auto const row = [](auto const& x, index t) {
    numbers<double> found;
    for (index i = 0; i < x.extent[3]; ++i) found.push_back(static_cast<double>(x(0, t, 0, i)));
    return found;
  };
  for (index t = 0; t < s.time; ++t) {
    state.fade(numbers<double>(K, row(p.gate.values.view(), t)[0]));
    auto v = row(p.value.view(), t);
    v.push_back(1);
    state.write(
        support::times(std::exp(row(p.input_gate.view(), t)[0]), row(p.key.input.view(), t)), v);
    auto exact = state.read(support::times(1 / std::sqrt(double(K)), row(p.query.input.view(), t)));
    double const divisor = std::max(std::abs(exact.back()), 1.);
    for (std::size_t j = 0; j < V; ++j)
      near.add(static_cast<double>(y[static_cast<std::size_t>(t) * V + j]), exact[j] / divisor);
  }
  return near.both();
}
template <class T>
void expect_formula(index rows, index columns) {
  wane::testing::mlstm_problem<T> p({1, 60, 1, rows, columns});
  if (sizeof(T) == 8)  // n . q of either sign
    for (T& q : p.query.input.values) q += T(0.5);
  EXPECT_LE(apart(p), sizeof(T) == 4 ? 1e-6 : 1e-13) << rows << " x " << columns;
}
TEST(Mlstm, IsItsFormula) {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {5, 7}, {17, 8}, {64, 33}})
    expect_formula<float>(rows, columns), expect_formula<double>(rows, columns);
}

// Input gates of e^200 and e^-200, of which float holds neither: the answers are right, whatever m
// is. Queries and keys are positive, so that no difference of large numbers decides.
TEST(Mlstm, IsRightForGatesOfAnySize) {
  for (double size : {30., 200.}) {
    wane::testing::mlstm_problem<float> p({1, 200, 1, 8, 9});
    p.put_between(p.query.input, 0.1, 1), p.put_between(p.key.input, 0.1, 1);
    for (std::size_t t = 0; t < 200; ++t)
      p.input_gate.values[t] = static_cast<float>((t * 7 % 3 == 1 ? size : -size) + double(t % 5));
    EXPECT_LE(apart(p), 2e-6) << size;
  }
}
// A reset forgets, also where nothing is written; a gate that is never open writes nothing.
TEST(Mlstm, TakesClosedGates) {
  float const none = -HUGE_VALF;
  float const one[] = {1, 1, 1, 1}, input[] = {0, none, none, 0}, forget[] = {0, 0, none, 0};
  float y[4];
  mlstm<float> const memory({.query = {one, 1, 4, 1, 1},
                             .key = {one, 1, 4, 1, 1},
                             .value = {one, 1, 4, 1, 1},
                             .input_gate = {input, 1, 4, 1}},
                            {forget, 1, 4, 1});
  wane::run(memory, {y, 1, 4, 1, 1});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 1);
}

// n . q = 0 where m is so large that e^-m is no number: the answer is 0.
TEST(Mlstm, AnswersAQueryOfZeros) {
  float const zero[] = {0, 0}, one[] = {1, 1}, large[] = {120, 700}, forget[] = {0, 0};
  float y[2], to_key[2];
  mlstm<float> const memory({.query = {zero, 1, 2, 1, 1},
                             .key = {one, 1, 2, 1, 1},
                             .value = {one, 1, 2, 1, 1},
                             .input_gate = {large, 1, 2, 1}},
                            wane::token_view<float const>(forget, 1, 2, 1));
  wane::run(memory, {y, 1, 2, 1, 1});
  wane::adjoint(memory, {one, 1, 2, 1, 1}, {.key = {to_key, 1, 2, 1, 1}});
  for (float each : {y[0], y[1], to_key[0], to_key[1]}) EXPECT_EQ(each, 0);
}
// Gradients of a final m of 1: they end at a token whose gates are both closed.
TEST(Mlstm, GivesNoGradientThroughClosedGates) {
  float const none = -HUGE_VALF, zero[4] = {}, input[] = {0, 5, none, 0},
              forget[] = {0, 0, none, 1};
  float of_input[4], of_forget[4];
  mlstm<float> const memory({.query = {zero, 1, 4, 1, 1},
                             .key = {zero, 1, 4, 1, 1},
                             .value = {zero, 1, 4, 1, 1},
                             .input_gate = {input, 1, 4, 1}},
                            wane::token_view<float const>(forget, 1, 4, 1));
  wane::recurrent_state<float> by_final(memory);
  by_final.values()[2] = 1;  // C, n, m
  wane::adjoint(memory, {zero, 1, 4, 1, 1},
                {.input_gate = {of_input, 1, 4, 1}, .log_decay = {of_forget, 1, 4, 1}},
                {.final_gradient = by_final});
  for (int t : {0, 1, 2, 3}) {
    EXPECT_EQ(of_input[t], 0) << t;
    EXPECT_EQ(of_forget[t], t == 3 ? 1 : 0) << t;
  }
}
// The gradient of the initial state may take the place of that of the final one.
TEST(Mlstm, TakesOneStateForBothGradients) {
  wane::testing::mlstm_problem<double> p({1, 9, 2, 3, 4}), other(p);
  std::vector<double> const dy(9 * 2 * 4, 0.5);
  wane::recurrent_state<double> both(p.make(0, 9)), initial = both, given = both;
  for (auto* state : {&both, &given})
    for (std::size_t n = 0; n < state->values().size(); ++n)
      state->values()[n] = std::sin(static_cast<double>(n));
  wane::adjoint(p.make(0, 9), wane::sequence_view<double const>(dy.data(), 1, 9, 2, 4),
                p.gradients(), {.final_gradient = both, .initial_gradient = both});
  wane::adjoint(other.make(0, 9), wane::sequence_view<double const>(dy.data(), 1, 9, 2, 4),
                other.gradients(), {.final_gradient = given, .initial_gradient = initial});
  EXPECT_EQ(both.values(), initial.values());
  EXPECT_EQ(p.input_gate.gradient, other.input_gate.gradient);
}

TEST(Mlstm, HasItsValuesChecked) {
  wane::testing::mlstm_problem<float> p({1, 6, 2, 3, 5});
  p.input_gate.values[0] = -HUGE_VALF;
  wane::check_values(p.make(0, 6));
  p.input_gate.values[3] = NAN;
  support::expect_error({"input_gate at batch 0, time 1, head 1, channel 0 is", "must be finite"},
                        [&] { wane::check_values(p.make(0, 6)); });
}

TEST(MlstmLaws, Hold) { support::expect_memory_laws<wane::testing::mlstm_problem>(); }
TEST(MlstmLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<wane::testing::mlstm_problem>();
}

// transformers adds 1e-6 to the scaled divisor. Its least here is near 0.1, and of large gates so
// small that outputs are not compared, only states.
TEST(Mlstm, EqualsTransformers) {
  constexpr index T = 17, H = 2, K = 5, V = 4;
  auto const in = support::read_golden("inputs.csv"),
             more = support::read_golden("mlstm_inputs.csv"),
             out = support::read_golden("mlstm_outputs.csv");
  auto forget = more.at("forget_gate");
  for (float& f : forget) f = -std::log1p(std::exp(-f));
  for (std::string const name : {"mlstm", "mlstm_large_double"}) {
    char const* const gate = name == "mlstm" ? "input_gate" : "large_input_gate";
    mlstm<float> const memory({.query = {in.at("query").data(), 1, T, H, K},
                               .key = {in.at("key").data(), 1, T, H, K},
                               .value = {in.at("value").data(), 1, T, H, V},
                               .input_gate = {more.at(gate).data(), 1, T, H}},
                              wane::token_view<float const>(forget.data(), 1, T, H));
    wane::recurrent_state<float> state(memory);
    std::vector<float> y(T * H * V), C, n, m;
    wane::run(memory, {y.data(), 1, T, H, V}, {.final = state});
    auto const values = memory.state_of_first(wane::state_view<float>(state)).values;
    auto const maximum = memory.state_of_second(wane::state_view<float>(state)).values;
    for (index h = 0; h < H; ++h) {
      m.push_back(maximum(0, h, 0, 0));
      for (index i = 0; i < K; ++i) {
        for (index j = 0; j < V; ++j) C.push_back(values(0, h, i, j));
        n.push_back(values(0, h, i, V));
      }
    }
    // C and n are scaled by e^-m, and a float near 100 is off by up to 8e-6 from theirs in double.
    double const bound = name == "mlstm" ? 1e-6 : 8e-6;
    support::expect_near_golden(C, out.at(name + " C"), bound);
    support::expect_near_golden(n, out.at(name + " n"), bound);
    support::expect_near_golden(m, out.at(name + " m"));
    if (name == "mlstm") support::expect_near_golden(y, out.at(name), 1e-5);
  }
}

}  // namespace
