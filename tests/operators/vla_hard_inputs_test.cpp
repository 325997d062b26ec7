// vla with hard or wrong inputs: zeros, repeated keys, extreme sizes, NaN, refused arguments.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.hpp"
#include "support/memory_asked.hpp"
#include "support/random_values.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using support::expect_error;
using wane::index;
using wane::vla;
using wane::vla_options;
using enum wane::write_rule;

constexpr index B = 2, T = 40, H = 2, K = 6, V = 5;

struct numbers {
  std::vector<float> query, key, direction, value, y;

  numbers() : query(B * T * H * K), key(query), direction(query), value(B * T * H * V), y(value) {
    support::random_values random(2);
    for (auto* x : {&query, &key, &direction, &value})
      for (float& each : *x) each = static_cast<float>(random.uniform(-1, 1));
  }
  static wane::sequence_view<float> rows(std::vector<float>& x) { return {x.data(), B, T, H, K}; }
  static wane::sequence_view<float> columns(std::vector<float>& x) {
    return {x.data(), B, T, H, V};
  }
  wane::vla_inputs<float> in() {
    return {.query = rows(query), .key = rows(key), .value = columns(value)};
  }
  template <wane::write_rule Rule = rls>
  std::vector<float> const& run(vla_options const& options = {}) {
    wane::run(vla<float, Rule>(in(), options), columns(y));
    return y;
  }
  float& key_at(index b, index t, index h, index i) { return rows(key)(b, t, h, i); }
};

bool all_finite(std::vector<float> const& x) {
  for (float each : x)
    if (!std::isfinite(each)) return false;
  return true;
}

template <wane::write_rule Rule>
void expect_finite() {
  for (double lambda : {1e-6, 1e-3, 1e3})
    for (float size : {0.f, 1e-30f, 1e-18f, 1e18f}) {
      numbers x;
      for (float& each : x.key) each *= size;
      EXPECT_TRUE(all_finite(x.run<Rule>({.lambda = lambda}))) << size << ", " << lambda;
      for (index t = 0; t < T; ++t)  // one key, over and over
        for (index i = 0; i < K; ++i) x.key_at(0, t, 0, i) = i == 0 ? size : 0;
      EXPECT_TRUE(all_finite(x.run<Rule>({.lambda = lambda}))) << size << ", " << lambda;
    }
}

TEST(VlaHardInputs, KeysOfEverySize) {
  expect_finite<rls>();
  expect_finite<projective>();
  expect_finite<unit>();
}

// A call flushes them on most machines. On others the inverse would be infinite.
TEST(VlaHardInputs, DenormalDivisorsCountAsZero) {
  constexpr float smallest = std::numeric_limits<float>::min();
  EXPECT_EQ((wane::impl::write_factor<projective>(1.f, smallest / 64)), 0);
  EXPECT_EQ((wane::impl::write_factor<projective>(1.f, -smallest / 64)), 0);
  EXPECT_EQ((wane::impl::write_factor<unit>(smallest / 64, 1.f)), 0);
  EXPECT_EQ((wane::impl::write_factor<projective>(1.f, smallest)), 1 / smallest);
  EXPECT_EQ((wane::impl::write_factor<unit>(smallest, 1.f)), 0x1p63f);
}

// A NaN in a direction reaches its own token and all later ones.
TEST(VlaHardInputs, ADirectionThatIsNoNumber) {
  numbers x;
  numbers::rows(x.direction)(0, 21, 0, 2) = std::numeric_limits<float>::quiet_NaN();
  auto in = x.in();
  in.direction = numbers::rows(x.direction);
  auto const y = numbers::columns(x.y);
  wane::run(vla<float, unit>(in), y);
  for (index t = 0; t < T; ++t) EXPECT_EQ(std::isnan(y(0, t, 0, 1)), t >= 21) << t;
}

// A key of zeros writes nothing.
TEST(VlaHardInputs, AKeyOfZeros) {
  numbers x;
  auto const before = x.run<unit>();
  for (index i = 0; i < K; ++i) x.key_at(0, 7, 0, i) = 0;
  wane::recurrent_state<float> with(vla<float, unit>(x.in())), without(with);
  auto const to = [&](index end, auto& state) {
    auto const part = [end](auto const& all) { return all.tokens(0, end); };
    wane::run(vla<float, unit>({.query = part(x.rows(x.query)),
                                .key = part(x.rows(x.key)),
                                .value = part(x.columns(x.value))}),
              part(x.columns(x.y)), wane::run_options<float>{.final = state});
  };
  to(8, with), to(7, without);
  for (std::size_t i = 0; i < K * (V + K); ++i)
    EXPECT_NEAR(with.values()[i], without.values()[i], 1e-5f);
}

TEST(VlaHardInputs, ANaNStaysInItsSequenceAndHead) {
  numbers x;
  auto const before = x.run();
  x.key_at(1, 3, 0, 2) = std::numeric_limits<float>::quiet_NaN();
  x.run();
  for (index b = 0; b < B; ++b)
    for (index t = 0; t < T; ++t)
      for (index h = 0; h < H; ++h)
        for (index j = 0; j < V; ++j) {
          auto const i = static_cast<std::size_t>(((b * T + t) * H + h) * V + j);
          bool const own = b == 1 && h == 0;
          EXPECT_TRUE(own ? t < 3 || std::isnan(x.y[i]) : x.y[i] == before[i]) << i;
        }
}

TEST(VlaHardInputs, StepAsksForNoMemory) {
  numbers x;
  vla<float> const op(x.in(), {.refresh = {3, 1e-3}});
  wane::recurrent_state<float> state(op);
  wane::state_view<float> const view = state;
  std::ptrdiff_t const before = support::memory_taken.times;
  step(op, x.columns(x.y), view);
  EXPECT_EQ(support::memory_taken.times, before);
}

// A float operator gives the same with a state in double as with one in float.
TEST(VlaHardInputs, AStateInDouble) {
  numbers x;
  vla<float> const op(x.in());
  auto const should_be = x.run();
  wane::recurrent_state<double> state(op);
  step(op, x.columns(x.y), state);
  for (std::size_t i = 0; i < x.y.size(); ++i) EXPECT_NEAR(x.y[i], should_be[i], 1e-3f);
  wane::recurrent_state<double> final(op);
  run(op, x.columns(x.y), wane::run_options<double>{.final = final});
  for (std::size_t i = 0; i < final.values().size(); ++i)
    EXPECT_NEAR(final.values()[i], state.values()[i], 1e-3);
}

// The gradient of lambda, for a walk that begins with an empty state.
TEST(VlaGradient, OfLambda) {
  for (index every : {0, 7}) {
    numbers x;
    std::vector<double> q(x.query.begin(), x.query.end()), k(x.key.begin(), x.key.end()),
        v(x.value.begin(), x.value.end()), y(v.size()), lambda{0.1, 0.3}, found(H, -7.);
    auto const op = [&] {
      return vla<double, unit>({.query = {q.data(), B, T, H, K},
                                .key = {k.data(), B, T, H, K},
                                .value = {v.data(), B, T, H, V},
                                .lambda = {lambda.data(), H}},
                               {.refresh = {every, 0.01}});
    };
    wane::sequence_view<double> const output(y.data(), B, T, H, V);
    auto const loss = [&] {  // the sum of squares, halved
      wane::run(op(), output);
      double sum = 0;
      for (double each : y) sum += each * each / 2;
      return sum;
    };
    loss();
    wane::adjoint(op(), output, {.lambda = {found.data(), H}});
    for (std::size_t h = 0; h < H; ++h) {
      double const at = lambda[h], by = 1e-5;
      auto const shifted = [&](double d) {
        lambda[h] = at + d;
        return loss();
      };
      double const slope =
          (8 * (shifted(by) - shifted(-by)) - (shifted(2 * by) - shifted(-2 * by))) / (12 * by);
      lambda[h] = at;
      EXPECT_NEAR(found[h], slope, 1e-8 * std::abs(slope));
    }
  }
}

// `make` makes an operator; that, or its run, must be refused, and nothing is written.
void refused(std::vector<std::string> const& pieces, numbers& x, auto const& make) {
  x.y.assign(x.y.size(), -7.f);
  expect_error(pieces, [&] { wane::run(make(), x.columns(x.y)); });
  EXPECT_EQ(x.y, std::vector<float>(x.y.size(), -7.f)) << "written in spite of the error";
}

TEST(VlaWrongInput, IsRefused) {
  numbers x;
  auto const with = [&](vla_options const& options) {
    return [&x, options] { return vla<float>(x.in(), options); };
  };
  double const nan = std::nan("");
  refused({"lambda is 0", "more than 0"}, x, with({.lambda = 0}));
  refused({"lambda is nan"}, x, with({.lambda = nan}));
  refused({"lambda is 1e-60", "more than 0"}, x, with({.lambda = 1e-60}));
  refused({"scale is inf", "finite"}, x, with({.scale = HUGE_VAL}));
  refused({"refresh is every -1"}, x, with({.refresh = {-1, 0}}));
  refused({"refresh is every 2 tokens by -1"}, x, with({.refresh = {2, -1}}));
  refused({"epsilon is -1"}, x, with({.epsilon = -1}));
  auto const given = [&](wane::sequence_view<float> direction) {
    auto in = x.in();
    in.direction = direction;
    return in;
  };
  refused({"direction is given", "rls"}, x, [&] { return vla<float>(given(x.rows(x.direction))); });
  refused({"query", "rows 6", "must be 5"}, x, [&] {
    return vla<float, unit>(
        {.query = x.rows(x.query), .key = {x.key.data(), B, T, H, 5}, .value = x.columns(x.value)});
  });
  refused({"direction", "time 3", "must be 40"}, x, [&] {
    return vla<float, unit>(given({x.direction.data(), B, 3, H, K}));
  });
  std::vector<float> lambda(3, 1.f);
  auto const of_heads = [&](index heads) {
    auto in = x.in();
    in.lambda = {lambda.data(), heads};
    return vla<float>(in);
  };
  refused({"lambda", "heads 3", "must be 2"}, x, [&] { return of_heads(3); });
  lambda[1] = -1;
  refused({"lambda of head 1", "-1"}, x, [&] { return of_heads(2); });
  wane::recurrent_state<float> small(B, H, K, V);
  expect_error({"final", "columns 5", "must be 11"}, [&] {
    wane::run(vla<float>(x.in()), x.columns(x.y), wane::run_options<float>{.final = small});
  });
  expect_error({"the gradient of direction", "keys are they"}, [&] {
    wane::adjoint(vla<float>(x.in()), x.columns(x.y), {.direction = x.rows(x.direction)});
  });
  expect_error({"the gradient of direction", "time 3", "must be 40"}, [&] {
    wane::adjoint(vla<float, unit>(given(x.rows(x.direction))), x.columns(x.y),
                  {.direction = {x.direction.data(), B, 3, H, K}});
  });
  wane::vla_inputs<float> const many{.query = {x.query.data(), 1, 0, 1, 2000},
                                     .key = {x.key.data(), 1, 0, 1, 2000},
                                     .value = {x.value.data(), 1, 0, 1, 1}};
  expect_error({"key has 2000 rows", "1024"}, [&] { (void)vla<float>(many); });
}

}  // namespace
