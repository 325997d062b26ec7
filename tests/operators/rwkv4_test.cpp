// rwkv4 is a mean of values, weighted by e^key, fading, and by e^(u + key) for the token itself.
// SPDX-License-Identifier: MIT
#include "wane/operators/rwkv4.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/rwkv4_problem.hpp"
#include "wane/run/check_values.hpp"
#include "wane/testing/laws.hpp"

namespace {

using wane::index, wane::rwkv4;
using wane::testing::rwkv4_problem;

static_assert(wane::stepwise_recurrence<rwkv4<float>>);

float const none = -HUGE_VALF;

// The sums as they are written, in double; `apart` is the distance of a run in T.
template <class T>
double apart(rwkv4_problem<T> const& p) {
  auto const [batch, time, heads, columns] = p.key.extent;
  std::vector<T> y(p.key.values.size(), std::numeric_limits<T>::quiet_NaN());
  wane::sequence_view<T> const output(y.data(), batch, time, heads, columns);
  wane::run(p.make(0, time), output);
  auto const key = p.key.view(), value = p.value.view(), decay = p.log_decay.view(),
             bonus = p.bonus.view();
  support::nearness near;
  for (index b = 0; b < batch; ++b)
    for (index h = 0; h < heads; ++h)
      for (index j = 0; j < columns; ++j)
        for (index t = 0; t < time; ++t) {
          double above = 0, below = 0;
          for (index i = 0; i <= t; ++i) {
            double const more =
                i == t ? static_cast<double>(bonus(0, 0, h, j))
                       : static_cast<double>(t - 1 - i) * static_cast<double>(decay(0, 0, h, j));
            double const weight = std::exp(more + static_cast<double>(key(b, i, h, j)));
            above += weight * static_cast<double>(value(b, i, h, j)), below += weight;
          }
          near.add(static_cast<double>(output(b, t, h, j)), above / below);
        }
  return near.both();
}
template <class T>
void expect_formula(double bound) {
  for (auto [batch, time, heads, columns] : {std::array<index, 4>{1, 1, 1, 1},
                                             {2, 33, 3, 1},
                                             {1, 200, 2, 7},
                                             {2, 65, 1, 64},
                                             {1, 90, 2, 83}})
    EXPECT_LE(apart(rwkv4_problem<T>(batch, time, heads, columns)), bound) << columns;
}
TEST(Rwkv4, IsItsFormula) { expect_formula<float>(1e-6), expect_formula<double>(1e-13); }

// Keys of e^200 and e^-200, of which float holds neither, and of the same size, which compete.
TEST(Rwkv4, IsRightForKeysOfAnySize) {
  for (float size : {0.f, 30.f, 200.f, -200.f})
    for (bool mixed : {false, true}) {
      rwkv4_problem<float> p(1, 200, 1, 21);
      for (std::size_t i = 0; i < p.key.values.size(); ++i)
        p.key.values[i] += mixed && i % 7 < 3 ? -size : size;
      EXPECT_LE(apart(p), 1e-6) << size;
    }
}
// Where p is 50, the distance between two floats is 4e-6. A token fades less, 15 up to 2.4e-4.
TEST(Rwkv4, FadesSlowly) {
  rwkv4_problem<float> p(1, 20, 1, 16);
  for (std::size_t j = 0; j < 16; ++j) p.log_decay.values[j] = -1e-6f * static_cast<float>(1 + j);
  for (std::size_t i = 0; i < p.key.values.size(); ++i)
    p.key.values[i] = i < 16 ? 50 : i / 16 == 15 ? 49.9f : none;
  EXPECT_LE(apart(p), 1e-6);
}

// One channel: keys, values and, with them, the operator.
struct line {
  std::vector<float> key, value;
  float log_decay = -0.5f, bonus = 1;
  index time() const { return static_cast<index>(key.size()); }
  rwkv4<float> memory() const {
    return rwkv4<float>({.key = {key.data(), 1, time(), 1, 1},
                         .value = {value.data(), 1, time(), 1, 1},
                         .log_decay = {&log_decay, 1, 1},
                         .bonus = {&bonus, 1, 1}});
  }
  std::vector<float> run(wane::recurrent_state<float>& state) const {
    std::vector<float> y(key.size());
    wane::run(memory(), {y.data(), 1, time(), 1, 1}, {.initial = state, .final = state});
    return y;
  }
};

std::vector<float> numbers_of(wane::recurrent_state<float> const& state) {
  return {state.values().begin(), state.values().end()};
}

TEST(Rwkv4, BeginsWithNothing) {
  for (float p : {0.f, -1e38f, 300.f, NAN})  // b = 0 means nothing seen, whatever a and p are
    for (float key : {-200.f, 0.f, 200.f}) {
      line const x{{key, key}, {7, 7}};
      wane::recurrent_state<float> state(x.memory());
      state.values() = {p, 0, p};
      auto const y = x.run(state);
      EXPECT_EQ(y[0], 7);
      EXPECT_FLOAT_EQ(y[1], 7);
      line const alone{{key}, {3}};
      state.values() = {p, 0, p};
      EXPECT_EQ(alone.run(state), alone.value);
      EXPECT_EQ(numbers_of(state), (std::vector<float>{3, 1, key}));
    }
}
TEST(Rwkv4, WritesNothingForAKeyOfMinusInfinity) {
  line const x{{none, 1, none, none}, {NAN, 5, NAN, 1}}, y{{1}, {5}};
  wane::recurrent_state<float> state(x.memory()), other = state;
  auto const answers = x.run(state);
  EXPECT_EQ(answers[1], 5);
  EXPECT_EQ(answers[3], 5);
  y.run(other);
  EXPECT_EQ(state.values()[0], 5);
  EXPECT_EQ(state.values()[1], 1);
  EXPECT_EQ(state.values()[2], 0);  // 1 - 0.5 - 0.5
  line const never{{none, none}, {2, 3}};
  wane::recurrent_state<float> empty(x.memory());
  never.run(empty);
  EXPECT_EQ(empty.values()[0], 0);
  EXPECT_EQ(empty.values()[1], 0);
}
// A NaN reaches the answers that depend on it.
TEST(Rwkv4, LetsANaNReachNoOtherAnswer) {
  for (bool in_key : {false, true}) {
    rwkv4_problem<float> p(1, 6, 1, 18);
    (in_key ? p.key : p.value).values[2 * 18 + 1] = NAN;
    std::vector<float> y(6 * 18);
    wane::run(p.make(0, 6), {y.data(), 1, 6, 1, 18});
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(std::isnan(y[i]), i / 18 >= 2 && i % 18 == 1) << i;
  }
}

// Tensors whose channels are not neighbours, 16-bit tensors, and states and outputs of other types.
TEST(Rwkv4, ReadsTensorsOfAnyLayoutAndType) {
  using narrow = wane::bfloat16;
  constexpr index T = 9, V = 35;
  rwkv4_problem<float> p(1, T, 1, V);
  std::vector<narrow> key, value;
  for (auto [from, to] : {std::pair{&p.key.values, &key}, {&p.value.values, &value}})
    for (float& x : *from) to->push_back(narrow(x)), x = static_cast<float>(to->back());
  wane::rwkv4_inputs<narrow> const in{.key = {key.data(), 1, T, 1, V},
                                      .value = {value.data(), 1, T, 1, V},
                                      .log_decay = {p.log_decay.values.data(), 1, V},
                                      .bonus = {p.bonus.values.data(), 1, V}};
  std::vector<double> exact(T * V);
  wane::run(rwkv4<narrow, double>(in), wane::sequence_view<double>(exact.data(), 1, T, 1, V));
  std::vector<float> y(T * V);
  auto const expect_exact = [&](wane::sequence_view<float> const& output) {
    support::nearness near;
    for (index t = 0; t < T; ++t)
      for (index j = 0; j < V; ++j)
        near.add(static_cast<double>(output(0, t, 0, j)),
                 exact[static_cast<std::size_t>(t * V + j)]);
    EXPECT_LE(near.both(), 1e-6);
    std::fill(y.begin(), y.end(), NAN);
  };
  wane::sequence_view<float> const of_channels(y.data(), 1, T, 1, V),
      of_tokens(y.data(), {1, T, 1, V}, {0, 1, 0, T});
  wane::run(p.make(0, T), of_channels);
  expect_exact(of_channels);
  wane::run(rwkv4<narrow>(in), of_channels);
  expect_exact(of_channels);
  // In float with a state of double, and outputs whose tokens are neighbours.
  wane::recurrent_state<double> state(1, 1, 3, V);
  wane::run(rwkv4<narrow>(in), of_tokens, wane::run_options<double>{.final = state});
  expect_exact(of_tokens);
}

// With a log decay of -inf a token sees the one before it and itself, whatever the state held.
TEST(Rwkv4, ForgetsAtOnce) {
  line x{{2, 0, 1, none, 0}, {3, 5, 9, 1, 4}};
  x.log_decay = none, x.bonus = 0;
  wane::recurrent_state<float> state(x.memory());
  state.values() = {NAN, 1, -1};
  auto const y = x.run(state);
  EXPECT_FLOAT_EQ(y[1], (3 * std::exp(2.f) + 5) / (std::exp(2.f) + 1));
  EXPECT_FLOAT_EQ(y[2], (5 + 9 * std::exp(1.f)) / (1 + std::exp(1.f)));
  EXPECT_EQ(y[4], 4);
  EXPECT_EQ(numbers_of(state), (std::vector<float>{4, 1, 0}));
}

TEST(Rwkv4Laws, Hold) {
  for (auto [batch, time, heads, columns] :
       {std::array<index, 4>{1, 200, 3, 1}, {3, 70, 2, 5}, {1, 129, 2, 16}, {1, 66, 1, 83}}) {
    support::expect_to_hold(
        wane::testing::check_laws(rwkv4_problem<float>(batch, time, heads, columns), 1e-6));
    support::expect_to_hold(
        wane::testing::check_laws(rwkv4_problem<double>(batch, time, heads, columns), 1e-12));
  }
}
TEST(Rwkv4, HasItsValuesChecked) {
  rwkv4_problem<float> p(1, 4, 2, 3);
  p.key.values[0] = none;
  wane::check_values(p.make(0, 4));
  p.key.values[11] = NAN;
  support::expect_error({"key at batch 0, time 1, head 1, channel 2 is", "must be finite"},
                        [&] { wane::check_values(p.make(0, 4)); });
}
TEST(Rwkv4, RefusesWhatDoesNotFit) {
  rwkv4_problem<float> p(1, 4, 2, 3);
  auto const make = [&](wane::view<float const, 2> decay, wane::sequence_view<float const> key) {
    return rwkv4<float>({.key = key,
                         .value = p.value.view(),
                         .log_decay = decay,
                         .bonus = {p.bonus.values.data(), 2, 3}});
  };
  float const* const g = p.log_decay.values.data();
  support::expect_error({"log_decay has heads 3; it must be 2"}, [&] {
    make({g, 3, 2}, p.key.view());
  });
  support::expect_error({"log_decay is not given"}, [&] { make({}, p.key.view()); });
  support::expect_error({"key has extent 3 along dimension 1", "must equal that of value, 4"}, [&] {
    make({g, 2, 3}, p.key.view().tokens(0, 3));
  });
  std::vector<float> y(24);
  auto const run = [&] { wane::run(p.make(0, 4), {y.data(), 1, 4, 2, 3}); };
  p.bonus.values[4] = NAN;
  support::expect_error({"bonus at head 1, channel 1 is nan; it must be finite"}, run);
  p.log_decay.values[1] = 0.5f;
  support::expect_error({"log_decay at head 0, channel 1 is 0.5; it must be <= 0"}, run);
}

}  // namespace
