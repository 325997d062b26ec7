// Positions of 2^32, 2^53 and nearly 2^60: tapers, windows, levels, rings, packed runs and files.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <vector>

#include "support/expect_error.hpp"
#include "support/laplace_problem.hpp"
#include "support/log_linear_problem.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/core/state/snapshots.hpp"
#include "wane/core/state/state_file.hpp"
#include "wane/operators/delta_product.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;
using wane::state_view;

constexpr index largest = index{1} << 60;

// Tokens seen before the test's own: those cross 2^32, pass 2^53, where a double no longer holds
// every integer, and end at the largest position.
constexpr index time_steps = 12, rows = 4, columns = 4;
constexpr index starts[] = {0, (index{1} << 32) - 3, (index{1} << 53) - 3, largest - time_steps};

// Numbers of one head, between two bounds.
struct numbers {
  std::vector<float> values;
  index channels;

  numbers(index of_channels, double low, double high, std::uint64_t seed) : channels(of_channels) {
    support::random_values random(seed);
    for (index i = 0; i < time_steps * channels; ++i)
      values.push_back(static_cast<float>(random.uniform(low, high)));
  }
  wane::sequence_view<float const> rows_of(index begin, index end) const {
    return wane::sequence_view<float const>(values.data(), 1, time_steps, 1, channels)
        .tokens(begin, end);
  }
  wane::token_view<float const> heads_of(index begin, index end) const {
    return wane::token_view<float const>(values.data(), 1, time_steps, 1).tokens(begin, end);
  }
  long double at(index t, index c = 0) const {
    return values[static_cast<std::size_t>(t * channels + c)];
  }
};

struct tokens {
  numbers query{rows, -1, 1, 1}, key{rows, -1, 1, 2}, value{columns, -1, 1, 3}, raw{rows, -1, 1, 4},
      dt{1, 0.1, 2, 5}, decay{1, -1, 0, 6};
  std::vector<float> rate{-0.5f}, alpha{0.125f}, A{-0.5f},
      step_strength = std::vector<float>(24, 0.5f);

  wane::keyed_inputs<float> keyed(index b, index e) const {
    return {.query = query.rows_of(b, e), .key = key.rows_of(b, e), .value = value.rows_of(b, e)};
  }
  wane::view<float const, 1> of_head(std::vector<float> const& x) const { return {x.data(), 1}; }
};

// The outputs by the formula in long double: S decays by e^decay(t, i), and `key` k v^T is added.
template <class Decay, class Write>
std::vector<long double> naive(tokens const& x, long double scale, long double start,
                               Decay const& decay, Write const& write) {
  std::vector<long double> s(rows * columns, start), y;
  for (index t = 0; t < time_steps; ++t) {
    for (index i = 0; i < rows; ++i)
      for (index j = 0; j < columns; ++j) {
        long double& each = s[static_cast<std::size_t>(i * columns + j)];
        each = std::exp(decay(t, i)) * each + write(t) * x.key.at(t, i) * x.value.at(t, j);
      }
    for (index j = 0; j < columns; ++j) {
      long double sum = 0;
      for (index i = 0; i < rows; ++i)
        sum += x.query.at(t, i) * s[static_cast<std::size_t>(i * columns + j)];
      y.push_back(scale * sum);
    }
  }
  return y;
}

std::vector<float> outputs() { return std::vector<float>(time_steps * columns, NAN); }
wane::sequence_view<float> view_of(std::vector<float>& y, index b = 0, index e = time_steps) {
  return wane::sequence_view<float>(y.data(), 1, time_steps, 1, columns).tokens(b, e);
}

// Four roundings a token of a sum of four products.
constexpr double few_roundings = 1e-6;

void expect_near(std::vector<float> const& is, std::vector<long double> const& should_be,
                 index seen) {
  support::nearness near;
  for (std::size_t i = 0; i < is.size(); ++i)
    near.add(static_cast<double>(is[i]), static_cast<double>(should_be[i]));
  EXPECT_LE(near.both(), few_roundings) << "after " << seen << " tokens";
}

// make(begin, end) whole, in steps, and saved to a file and loaded in the middle: all have the
// right outputs, the right position, and the last two the same bits.
template <class Make>
void expect_right(Make const& make, index seen, float start,
                  std::vector<long double> const& should_be) {
  using state = wane::recurrent_state<wane::accumulate_type<decltype(make(0, 1))>>;
  state first(make(0, 1));
  for (auto& each : first.values()) each = start;
  first.positions()[0] = seen;
  auto whole = outputs(), stepped = outputs(), resumed = outputs();
  state last = first;
  wane::run(make(0, time_steps), view_of(whole), {.initial = std::as_const(first), .final = last});
  expect_near(whole, should_be, seen);
  EXPECT_EQ(last.positions()[0], seen + time_steps);

  state by_step = first, loaded(make(0, 1));
  std::stringstream file;
  state saved = first;
  for (index t = 0; t < time_steps; ++t) {
    wane::step(make(t, t + 1), view_of(stepped, t, t + 1), by_step);
    if (t == time_steps / 2) {
      wane::save_state(file, "memory", saved);
      wane::load_state(file, "memory", loaded);
      saved = loaded;
      EXPECT_EQ(loaded.positions()[0], seen + t);
    }
    wane::step(make(t, t + 1), view_of(resumed, t, t + 1), saved);
  }
  expect_near(stepped, should_be, seen);
  EXPECT_EQ(resumed, stepped);
  EXPECT_EQ(saved.values(), by_step.values());
  EXPECT_EQ(by_step.positions()[0], seen + time_steps);
}

long double taper_at(tokens const& x, index seen, index t) {
  return std::pow(static_cast<long double>(seen + t + 1), -static_cast<long double>(x.alpha[0]));
}

TEST(LargePositions, TaperAConstantRate) {
  tokens const x;
  for (index const seen : starts)
    expect_right(
        [&](index b, index e) {
          return wane::gla(x.keyed(b, e), wane::constant_rate_gate<float>({x.rate.data(), 1},
                                                                          {x.of_head(x.alpha)}));
        },
        seen, 0.5f,
        naive(
            x, 0.5L, 0.5L,
            [&](index t, index) {
              return -std::exp(static_cast<long double>(x.rate[0])) * taper_at(x, seen, t);
            },
            [](index) { return 1.L; }));
}

TEST(LargePositions, TaperTheLogitOfRwkv7sGate) {
  tokens const x;
  for (index const seen : starts)
    expect_right(
        [&](index b, index e) {
          return wane::gla(x.keyed(b, e), wane::sigmoid_gate(x.raw.rows_of(b, e),
                                                             {.taper = {x.of_head(x.alpha)}}));
        },
        seen, 0.5f,
        naive(
            x, 0.5L, 0.5L,
            [&](index t, index i) {
              long double const logit = std::exp(x.raw.at(t, i)) * taper_at(x, seen, t);
              return -std::exp(-0.5L) * logit / (1 + logit);
            },
            [](index) { return 1.L; }));
}

TEST(LargePositions, TaperMamba2) {
  tokens const x;
  for (index const seen : starts)
    expect_right(
        [&](index b, index e) {
          return wane::mamba2<float>({.x = x.value.rows_of(b, e),
                                      .dt = x.dt.heads_of(b, e),
                                      .A = x.of_head(x.A),
                                      .B = x.key.rows_of(b, e),
                                      .C = x.query.rows_of(b, e),
                                      .taper = x.of_head(x.alpha)});
        },
        seen, 0.5f,
        naive(
            x, 1, 0.5L,
            [&](index t, index) {
              return static_cast<long double>(x.A[0]) * x.dt.at(t) * taper_at(x, seen, t);
            },
            [&](index t) { return x.dt.at(t); }));
}

// Tokens before the test's own have left a state of zeros, so only its own tokens add to an output.
TEST(LargePositions, ChooseTheLevelsOfLogLinearAttention) {
  constexpr index levels = 62;
  tokens const x;
  numbers const scale(levels, -1, 1, 9);
  numbers const decay(1, -0.5, 0, 10);
  for (index const seen : starts) {
    std::vector<long double> y;
    for (index t = 0; t < time_steps; ++t)
      for (index c = 0; c < columns; ++c) {
        long double sum = 0, log_kept = 0;
        for (index j = t; j >= 0; --j) {
          long double match = 0;
          for (index i = 0; i < rows; ++i) match += x.query.at(t, i) * x.key.at(j, i);
          sum += scale.at(t, wane::testing::fenwick_level(seen + t, seen + j)) *
                 std::exp(log_kept) * match * x.value.at(j, c);
          log_kept += decay.at(j);
        }
        y.push_back(sum / 2);
      }
    expect_right(
        [&](index b, index e) {
          return wane::log_linear<float>({.query = x.query.rows_of(b, e),
                                          .key = x.key.rows_of(b, e),
                                          .value = x.value.rows_of(b, e),
                                          .level_scale = scale.rows_of(b, e)},
                                         decay.heads_of(b, e));
        },
        seen, 0, y);
    expect_right(
        [&](index b, index e) {
          return wane::log_linear_of(
              wane::gla<float, wane::token_view<float const>>(x.keyed(b, e), decay.heads_of(b, e)),
              scale.rows_of(b, e));
        },
        seen, 0, y);
  }
}

// A place in a ring depends on the position by its remainder alone, once the ring is full.
TEST(LargePositions, KeepThePlaceInARing) {
  constexpr index window = 7;
  tokens const x;
  auto const make = [&](index b, index e) {
    return wane::local_attention<float>(x.keyed(b, e), {.window = window});
  };
  support::random_values random(11);
  wane::recurrent_state<float> filled(make(0, 1));
  for (float& each : filled.values()) each = static_cast<float>(random.uniform(-1, 1));
  for (index const seen : starts) {
    if (seen == 0) continue;
    auto far = outputs(), near = outputs(), stepped = outputs();
    auto of_far = filled, of_near = filled, of_steps = filled;
    of_far.positions()[0] = of_steps.positions()[0] = seen;
    of_near.positions()[0] = seen % window + window;
    for (auto const& [y, state] : {std::pair{&far, &of_far}, {&near, &of_near}})
      wane::run(make(0, time_steps), view_of(*y),
                wane::run_options<float>{.initial = std::as_const(*state), .final = *state});
    for (index t = 0; t < time_steps; ++t)
      wane::step(make(t, t + 1), view_of(stepped, t, t + 1), of_steps);
    EXPECT_EQ(far, near) << seen;
    EXPECT_EQ(stepped, far) << seen;
    EXPECT_EQ(of_far.values(), of_near.values()) << seen;
  }
}

template <wane::spectra::window_shape Window>
void expect_window_keeps_its_place() {
  support::laplace_problem<double, Window> const p({.batch = 1, .tokens = 61, .heads = 1});
  auto const op = p.make(0, p.tokens);
  using state = wane::recurrent_state<typename decltype(p)::state_number>;
  state filled(op);
  std::mt19937_64 bits(3);
  p.begin(filled, bits);
  index const reach = op.reach(0);
  ASSERT_GT(reach, 1);
  auto const after = [&](index seen, bool in_steps) {
    state s = filled;
    s.positions()[0] = seen;
    std::vector<double> y(static_cast<std::size_t>(p.tokens * p.columns), NAN);
    wane::sequence_view<double> const all(y.data(), 1, p.tokens, 1, p.columns);
    for (index t = 0; in_steps && t < p.tokens; ++t)
      wane::step(p.make(t, t + 1), all.tokens(t, t + 1), s);
    if (!in_steps)
      wane::run(op, all,
                wane::run_options<typename decltype(p)::state_number>{.initial = std::as_const(s),
                                                                      .final = s});
    EXPECT_EQ(s.positions()[0], seen + p.tokens);
    return y;
  };
  for (index const seen : {(index{1} << 32) - 3, (index{1} << 53) - 3, largest - p.tokens}) {
    // Steps take out what their rounding has lost at every 64th position (docs/numerics.md).
    index const same = seen % (64 * reach) + 64 * reach;
    EXPECT_EQ(after(seen, false), after(same, false)) << seen;
    EXPECT_EQ(after(seen, true), after(same, true)) << seen;
    support::nearness near;
    auto const is = after(seen, true), should_be = after(seen, false);
    for (std::size_t i = 0; i < is.size(); ++i) near.add(is[i], should_be[i]);
    EXPECT_LE(near.both(), 1e-12) << seen;
  }
}

TEST(LargePositions, KeepThePlaceOfARectangularWindow) {
  expect_window_keeps_its_place<wane::spectra::window_shape::rectangular>();
}
TEST(LargePositions, KeepThePlaceOfAHannWindow) {
  expect_window_keeps_its_place<wane::spectra::window_shape::hann>();
}

// Three sequences at three positions in one row: the bits of each alone.
TEST(LargePositions, OfPackedSequencesAreTheirOwn) {
  tokens const x;
  auto const make = [&](index b, index e) {
    return wane::gla(x.keyed(b, e),
                     wane::sigmoid_gate(x.raw.rows_of(b, e), {.taper = {x.of_head(x.alpha)}}));
  };
  std::vector<index> const cuts{0, 5, 6, time_steps};
  wane::recurrent_state<float> packed(make(0, time_steps), 3);
  for (float& each : packed.values()) each = 0.5f;
  packed.positions() = {starts[1], starts[2], starts[3]};
  auto together = outputs(), alone = outputs();
  for (std::size_t n = 0; n < 3; ++n) {
    wane::recurrent_state<float> own(make(0, 1));
    for (float& each : own.values()) each = 0.5f;
    own.positions()[0] = packed.positions()[n];
    wane::run(make(cuts[n], cuts[n + 1]), view_of(alone, cuts[n], cuts[n + 1]),
              {.initial = std::as_const(own), .final = own});
  }
  wane::run(make(0, time_steps), view_of(together),
            wane::run_options<float>{
                .initial = std::as_const(packed), .final = packed, .packed = {cuts}});
  EXPECT_EQ(together, alone);
  EXPECT_EQ(packed.positions(), (std::vector<index>{starts[1] + 5, starts[2] + 1, largest - 6}));
}

// (2^53)^-1/8 is 0.01: decays by it are seen in a float.
TEST(LargePositions, TaperTheGradient) {
  tokens const x;
  for (index const seen : starts) {
    auto const op =
        wane::gla(x.keyed(0, time_steps),
                  wane::tapered_gate(x.decay.heads_of(0, time_steps), {x.of_head(x.alpha)}));
    wane::recurrent_state<float> first(op);
    for (float& each : first.values()) each = 0.5f;
    first.positions()[0] = seen;
    std::vector<float> const ones(time_steps * columns, 1);
    std::vector<float> by_key(time_steps * rows, NAN);
    wane::adjoint_options<float> options;
    options.initial = std::as_const(first);
    wane::adjoint(op, wane::sequence_view<float const>(ones.data(), 1, time_steps, 1, columns),
                  {.key = {by_key.data(), 1, time_steps, 1, rows}}, options);
    // dL/dk_t = sum_{u >= t} e^{g_{t+1} + ... + g_u} q_u / 2 sum(v_t)
    std::vector<long double> should_be;
    for (index t = 0; t < time_steps; ++t)
      for (index i = 0; i < rows; ++i) {
        long double sum = 0, kept = 0, values = 0;
        for (index u = t; u < time_steps; ++u) {
          if (u > t) kept += x.decay.at(u) * taper_at(x, seen, u);
          sum += std::exp(kept) * x.query.at(u, i) / 2;
        }
        for (index j = 0; j < columns; ++j) values += x.value.at(t, j);
        should_be.push_back(sum * values);
      }
    expect_near(by_key, should_be, seen);
  }
}

TEST(LargePositions, AreWhereSnapshotsAreFound) {
  wane::recurrent_state<float> state(1, 1, 1, 1);
  wane::snapshots ring(4, state);
  for (index n = 3; n >= 0; --n) {
    state.positions()[0] = largest - n, state.values()[0] = static_cast<float>(n);
    ring.push(state);
  }
  ring.rollback(2, state);
  EXPECT_EQ(state.positions()[0], largest - 2);
  EXPECT_EQ(state.values()[0], 2.f);
}

// op has one token, and `most` is the largest position of its states.
template <class Op>
void expect_refused_beyond(Op const& op, index most) {
  using A = wane::accumulate_type<Op>;
  wane::recurrent_state<A> state(op), untouched = state;
  std::vector<float> y(static_cast<std::size_t>(wane::output_shape_of(op).columns *
                                                wane::output_shape_of(op).heads));
  wane::sequence_view<float> const out(y.data(), 1, 1, wane::output_shape_of(op).heads,
                                       wane::output_shape_of(op).columns);
  auto const by_run = [&] {
    wane::run(op, out, wane::run_options<A>{.initial = std::as_const(state), .final = state});
  };
  state.positions()[0] = most - 1;
  wane::step(op, out, state);
  EXPECT_EQ(state.positions()[0], most);
  state.positions()[0] = most - 1;
  by_run();
  EXPECT_EQ(state.positions()[0], most);
  for (index const seen :
       {most, std::numeric_limits<index>::max(), index{-1}, std::numeric_limits<index>::min()}) {
    state = untouched, state.positions()[0] = seen;
    std::string const is = "position " + std::to_string(seen);
    support::expect_error({"state has " + is, "of sequence 0", "at most " + std::to_string(most)},
                          [&] { wane::step(op, out, state); });
    support::expect_error({"initial has " + is, "after the 1 tokens"}, by_run);
    EXPECT_EQ(state.values(), untouched.values());
    EXPECT_EQ(state.positions()[0], seen);
  }
}

TEST(LargePositions, BeyondTheLargestAreRefused) {
  tokens const x;
  expect_refused_beyond(wane::gla(x.keyed(0, 1), x.raw.rows_of(0, 1)), largest);
  // Two substeps a token.
  wane::sequence_view<float const> const two_keys =
      wane::sequence_view<float const>(x.key.values.data(), 1, 2, 1, rows);
  wane::sequence_view<float const> const two_values =
      wane::sequence_view<float const>(x.value.values.data(), 1, 2, 1, columns);
  expect_refused_beyond(wane::delta_product<float>({.query = x.query.rows_of(0, 1),
                                                    .key = two_keys,
                                                    .value = two_values,
                                                    .strength = {x.step_strength.data(), 1, 2, 1}}),
                        largest / 4);
}

TEST(LargePositions, BeyondTheLargestAreRefusedByAdjoints) {
  tokens const x;
  auto const op = wane::gla(x.keyed(0, time_steps), x.raw.rows_of(0, time_steps));
  wane::recurrent_state<float> state(op);
  state.positions()[0] = largest - time_steps + 1;
  std::vector<float> y(time_steps * columns, 1), by_key(time_steps * rows, -1);
  wane::adjoint_options<float> options;
  options.initial = std::as_const(state);
  support::expect_error({"initial has position"}, [&] {
    wane::adjoint(op, view_of(y), {.key = {by_key.data(), 1, time_steps, 1, rows}}, options);
  });
  EXPECT_EQ(by_key[0], -1);
}

}  // namespace
