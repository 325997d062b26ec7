// log_linear_of: over gated_delta_net, with A_t = e^{g_t} (I - beta_t k_t k_t^T), it is
// y_t = scale sum_j lambda_t[level(t, j)] (q_t^T A_t ... A_{j+1} k_j) beta_j v_j.
// SPDX-License-Identifier: MIT
#include "wane/operators/log_linear_of.hpp"

#include <gtest/gtest.h>

#include "support/erasing_problems.hpp"
#include "support/expect_error.hpp"
#include "support/log_linear_problem.hpp"
#include "support/memory_asked.hpp"
#include "support/memory_laws.hpp"
#include "support/nearness.hpp"
#include "wane/operators/gla.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"
#include "wane/run/run.hpp"

namespace {

using namespace wane::testing;
using wane::index;
using wane::log_linear_of;

template <class T>
using of_gated_delta = log_linear_of_problem<gated_delta_net_problem, T>;
template <class T>
using of_kimi = log_linear_of_problem<kimi_problem, T>;
template <class T>
using of_delta = log_linear_of_problem<delta_net_problem, T>;
template <class T>
using comba_with_keys = comba_problem<T>;
template <class T>
using gla_of_heads = gla_problem<T, wane::token_view<T const>>;

static_assert(wane::has_levels<log_linear_of<wane::gated_delta_net<float>>>);

template <class T, class Problem>
std::vector<T> outputs_of(Problem const& p) {
  memory_size const& s = p.size;
  std::vector<T> y(static_cast<std::size_t>(s.batch * s.time * s.heads * s.columns), T(NAN));
  wane::run(p.make(0, s.time), {y.data(), s.batch, s.time, s.heads, s.columns});
  return y;
}

template <class T>
void expect_formula(of_gated_delta<T> const& p) {
  auto const [B, time, H, K, V, groups, options] = p.size;
  auto const y = outputs_of<T>(p);
  support::nearness near;
  auto const at = [](auto const& x, index b, index t, index h, index i) {
    return static_cast<double>(x.view()(b, t, h, i));
  };
  for (index b = 0; b < B; ++b)
    for (index h = 0; h < H; ++h)
      for (index t = 0; t < time; ++t) {
        // read: q_t^T A_t ... A_{j+1}
        std::vector<double> sum(static_cast<std::size_t>(V)), read(static_cast<std::size_t>(K));
        for (index i = 0; i < K; ++i)
          read[static_cast<std::size_t>(i)] = at(p.query.input, b, t, h, i) / std::sqrt(double(K));
        for (index j = t; j >= 0; --j) {
          double const beta = at(p.strength, b, j, h, 0),
                       w = std::exp(at(p.gate.values, b, j, h, 0));
          double match = 0;
          for (index i = 0; i < K; ++i)
            match += read[static_cast<std::size_t>(i)] * at(p.key.input, b, j, h, i);
          for (index c = 0; c < V; ++c)
            sum[static_cast<std::size_t>(c)] +=
                at(p.scales, b, t, h, fenwick_level(t, j)) * match * beta * at(p.value, b, j, h, c);
          for (index i = 0; i < K; ++i) {
            double& r = read[static_cast<std::size_t>(i)];
            r = w * (r - match * beta * at(p.key.input, b, j, h, i));
          }
        }
        for (index c = 0; c < V; ++c)
          near.add(
              static_cast<double>(y[static_cast<std::size_t>(((b * time + t) * H + h) * V + c)]),
              sum[static_cast<std::size_t>(c)]);
      }
  EXPECT_LE(near.both(), sizeof(T) == 4 ? 1e-6 : 1e-14) << K << " x " << V << ", T " << time;
}

TEST(LogLinearOf, IsItsFormula) {
  for (memory_size const& s : {memory_size{1, 1, 1, 1, 1},
                               {2, 33, 3, 1, 1},
                               {1, 100, 2, 5, 7},
                               {1, 200, 1, 16, 8},
                               {1, 63, 1, 64, 65},
                               {1, 129, 2, 33, 17}})
    expect_formula(of_gated_delta<float>(s)), expect_formula(of_gated_delta<double>(s));
}

TEST(LogLinearOf, IsItsFormulaForHardInputs) {
  constexpr float hard[] = {0, -INFINITY, -1e-9f, -80, -1e30f, -0.5f};
  auto const change = [&](auto p) {
    for (std::size_t i = 0; i < p.gate.values.values.size(); ++i)
      if (i % 5 == 2) p.gate.values.values[i] = hard[i / 5 % 6];
    for (std::size_t i = 0; i < p.strength.values.size(); ++i)
      if (i % 7 == 3) p.strength.values[i] = i % 2 ? 0 : 2;
    for (std::size_t i = 0; i < p.scales.values.size(); ++i)
      if (i % 11 == 4) p.scales.values[i] = i % 2 ? 0 : -5;
    return p;
  };
  for (memory_size const& s : {memory_size{1, 120, 2, 5, 7}, {1, 70, 1, 16, 32}}) {
    expect_formula(change(of_gated_delta<double>(s)));
    expect_formula(change(of_gated_delta<float>(s)));
  }
}

// Whole sequences, the gradients of all inputs, and those of states.
template <class T, class A, class B>
void expect_equal(A& a, B& b, double bound) {
  auto const outputs = outputs_of<T>(a), others = outputs_of<T>(b);
  auto const expect_near = [&](auto const& is, auto const& must_be, std::string const& what) {
    support::nearness near;
    ASSERT_EQ(is.size(), must_be.size()) << what;
    for (std::size_t i = 0; i < is.size(); ++i)
      near.add(static_cast<double>(is[i]), static_cast<double>(must_be[i]));
    EXPECT_LE(near.both(), bound) << what;
  };
  expect_near(outputs, others, "outputs");
  memory_size const& s = a.size;
  wane::sequence_view<T const> const dy(others.data(), s.batch, s.time, s.heads, s.columns);
  wane::adjoint(a.make(0, s.time), dy, a.gradients());
  wane::adjoint(b.make(0, s.time), dy, b.gradients());
  auto const all = a.input_gradients();
  auto const must_be = b.input_gradients();
  auto const more = all.size() - must_be.size();  // of level_scale, which comes first
  for (std::size_t i = 0; i < must_be.size(); ++i)
    expect_near(all[i + more], must_be[i], "gradient " + std::to_string(i));
}

// With weights of 1 the levels together are the memory.
template <template <class> class Problem>
void expect_the_memory(memory_size const& s, double reset_at = 1) {
  log_linear_of_problem<Problem, double> p(s);
  Problem<double> memory(s);
  std::fill(p.scales.values.begin(), p.scales.values.end(), 1);
  if (reset_at < 1) p.gate.values.values[20] = memory.gate.values.values[20] = -INFINITY;
  expect_equal<double>(p, memory, 1e-13);
}
TEST(LogLinearOf, WithWeightsOfOneIsTheMemory) {
  for (memory_size const& s :
       {memory_size{1, 1, 1, 1, 1}, {2, 65, 2, 5, 7}, {1, 255, 1, 16, 8}, {1, 50, 6, 8, 9, 2}}) {
    expect_the_memory<gated_delta_net_problem>(s);
    expect_the_memory<kimi_problem>(s);
    expect_the_memory<comba_with_keys>(s);
    expect_the_memory<delta_net_problem>(s);
  }
  expect_the_memory<gated_delta_net_problem>({1, 60, 2, 5, 7}, -INFINITY);
  expect_the_memory<kimi_problem>({1, 60, 2, 5, 7}, -INFINITY);
}

// A decay of 0 forgets what is not finite, in every level.
TEST(LogLinearOf, ResetsNaN) {
  constexpr index K = 5, V = 7, at = 18;
  auto const run_both_ways = [](bool spoilt) {
    of_gated_delta<double> p({1, 40, 1, K, V});
    p.gate.values.values[at] = -INFINITY;
    if (spoilt) p.value.values[5 * V + 1] = p.key.input.values[11 * K] = NAN;
    auto outputs = outputs_of<double>(p);
    wane::adjoint(p.make(0, 40), wane::sequence_view<double>(p.value.values.data(), 1, 40, 1, V),
                  p.gradients());
    outputs.erase(outputs.begin(), outputs.begin() + at * V);
    for (auto gradient : p.input_gradients()) {
      auto const each = gradient.size() / 40;
      outputs.insert(outputs.end(), gradient.begin() + static_cast<std::ptrdiff_t>(at * each),
                     gradient.end());
    }
    return outputs;
  };
  auto const is = run_both_ways(true), must_be = run_both_ways(false);
  support::nearness near;
  for (std::size_t i = 0; i < is.size(); ++i) {
    EXPECT_TRUE(std::isfinite(is[i])) << i;
    near.add(is[i], must_be[i]);
  }
  EXPECT_LE(near.both(), 1e-13);
}

TEST(LogLinearOf, OverGatedLinearAttentionIsLogLinear) {
  for (memory_size const& s : {memory_size{1, 100, 2, 5, 7}, {2, 70, 1, 16, 33}}) {
    log_linear_problem<double> all(s);
    log_linear_of_problem<gla_of_heads, double> p(s);
    p.query = all.query, p.key = all.key, p.value = all.value, p.gate = all.gate;
    p.scales = all.scales;
    expect_equal<double>(p, all, 1e-13);
  }
}

TEST(LogLinearOfLaws, Hold) {
  support::expect_memory_laws<of_gated_delta>();
  support::expect_memory_laws<of_kimi>();
  support::expect_memory_laws<of_delta>();
}
TEST(LogLinearOfLaws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<of_gated_delta>();
  support::expect_memory_adjoint_laws<of_kimi>();
  support::expect_memory_adjoint_laws<of_delta>();
}

// Tensors of 16 bits are read as the floats that they are, and outputs are rounded once.
TEST(LogLinearOf, TakesTensorsOf16Bits) {
  constexpr index T = 40, K = 5, V = 6, L = 7;
  using half = wane::bfloat16;
  std::mt19937_64 bits(3);
  auto const rounded = [&](index count) {
    std::vector<half> x;
    for (float each : random_numbers<float>(static_cast<std::size_t>(count), bits))
      x.push_back(half(each / 4));
    return x;
  };
  auto const q = rounded(T * K), k = rounded(T * K), v = rounded(T * V), beta = rounded(T),
             scales = rounded(T * L);
  auto const run = [&]<class Io>(Io) {
    auto const of = [](std::vector<half> const& x) { return std::vector<Io>(x.begin(), x.end()); };
    auto const query = of(q), key = of(k), value = of(v), strength = of(beta), scale = of(scales);
    std::vector<Io> decay(T, Io(-0.25f)), y(T * V);
    wane::gated_delta_net const memory({.query = {query.data(), 1, T, 1, K},
                                        .key = {key.data(), 1, T, 1, K},
                                        .value = {value.data(), 1, T, 1, V},
                                        .strength = {strength.data(), 1, T, 1}},
                                       wane::token_view<Io const>(decay.data(), 1, T, 1));
    wane::run(log_linear_of(memory, {scale.data(), 1, T, 1, L}),
              wane::sequence_view<Io>(y.data(), 1, T, 1, V));
    return y;
  };
  auto const y = run(half()), as_floats = [&] {
    auto const all = run(float());
    return std::vector<half>(all.begin(), all.end());
  }();
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(static_cast<float>(y[i]), static_cast<float>(as_floats[i])) << i;
}

TEST(LogLinearOf, StepAllocatesNothing) {
  of_gated_delta<float> const p({2, 3, 2, 64, 64});
  auto const op = p.make(0, 3);
  wane::recurrent_state<float> state(op);
  std::vector<float> y(2 * 3 * 2 * 64);
  wane::sequence_view<float> const output(y.data(), 2, 3, 2, 64);
  wane::step(op, output, state);
  auto const before = support::memory_taken.times;
  wane::step(op, output, state);
  EXPECT_EQ(support::memory_taken.times, before);
}

TEST(LogLinearOf, HasItsValuesChecked) {
  auto const expect_refusal = [](std::string const& message, auto const& spoil) {
    of_gated_delta<float> p({1, 8, 1, 3, 5});
    wane::check_values(p.make(0, 8));
    spoil(p);
    support::expect_error({message}, [&] { wane::check_values(p.make(0, 8)); });
  };
  // Token 7 reads all levels that have been written.
  expect_refusal("value at batch 0, time 7", [](auto& p) { p.value.values[7 * 5] = NAN; });
  expect_refusal("log_decay at batch 0, time 2", [](auto& p) { p.gate.values.values[2] = 1; });
  expect_refusal("level_scale at batch 0, time 6, head 0, channel 4 is inf; it must be finite",
                 [](auto& p) { p.scales.values[6 * 9 + 4] = INFINITY; });
}

TEST(LogLinearOf, RefusesWrongShapes) {
  of_gated_delta<float> p({1, 4, 2, 3, 5});
  auto const memory = static_cast<gated_delta_net_problem<float> const&>(p).make(0, 4);
  float y[4 * 2 * 5];
  wane::sequence_view<float> const output(y, 1, 4, 2, 5);
  support::expect_error({"level_scale has channels 1; there must be 2 to 62 levels"}, [&] {
    (void)log_linear_of(memory, {p.scales.values.data(), 1, 4, 2, 1});
  });
  support::expect_error({"level_scale is not given"}, [&] { (void)log_linear_of(memory, {}); });
  support::expect_error({"level_scale has time 3; it must be 4"}, [&] {
    wane::run(log_linear_of(memory, {p.scales.values.data(), 1, 3, 2, 9}), output);
  });
  wane::recurrent_state<float> state(p.make(0, 4));
  wane::state_view<float> unseen = state;
  unseen.positions = nullptr;
  support::expect_error({"has no positions"}, [&] { wane::step(p.make(0, 4), output, unseen); });
  auto to = p.gradients();
  to.level_scale.extent[3] = 8;
  support::expect_error({"the gradient of level_scale has columns 8; it must be 9"},
                        [&] { wane::adjoint(p.make(0, 4), output, to); });
  to = p.gradients(), to.memory.key.extent[3] = 2;
  support::expect_error({"the gradient of key has"},
                        [&] { wane::adjoint(p.make(0, 4), output, to); });
}

}  // namespace
