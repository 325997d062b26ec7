// mamba2 is PoST's Algorithm 2, keeps every law, and has the gradients of all inputs.
// SPDX-License-Identifier: MIT
#include "wane/operators/mamba2.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/spectra/rates/post_initial.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace {

using support::expect_to_hold;
using wane::index;
using wane::testing::check_adjoint_laws;
using wane::testing::check_laws;

template <class T>
struct mamba2_problem {
  index batch = 1, tokens = 100, heads = 4, groups = 2, states = 5, columns = 7;
  wane::mamba2_options options{.dt_softplus = true, .trained_at = 512};
  support::random_values random{9};
  std::vector<T> x = some(heads * columns, -1, 1), dt = some(heads, -2, 1),
                 B = some(groups * states, -1, 1), C = some(groups * states, -1, 1),
                 A = of_heads(-2, -0.1), D = of_heads(-1, 1), dt_bias = of_heads(-1, 1),
                 taper = of_heads(0.1, 0.9);
  std::vector<T> to_x = x, to_dt = dt, to_B = B, to_C = C, to_A = A, to_D = D, to_bias = D,
                 to_taper = D;
  std::vector<T> B_of_heads = some(heads * states, 0, 0), C_of_heads = B_of_heads;

  index time() const { return tokens; }
  wane::mamba2<T> make(index begin, index end) const {
    wane::mamba2_inputs<T> in{.x = of_columns(x).tokens(begin, end),
                              .dt = of_tokens(dt).tokens(begin, end),
                              .A = {A.data(), heads},
                              .B = of_rows(B, groups).tokens(begin, end),
                              .C = of_rows(C, groups).tokens(begin, end),
                              .D = {D.data(), heads},
                              .dt_bias = {dt_bias.data(), heads},
                              .taper = {taper.data(), heads}};
    return {in, options};
  }
  // Views of [batch, tokens, ...] numbers, to read or to write.
  auto of_columns(auto& of) const { return view_of(of, heads, columns); }
  auto of_rows(auto& of, index of_groups) const { return view_of(of, of_groups, states); }
  auto of_tokens(auto& of) const { return view_of(of, heads); }
  auto view_of(auto& of, auto... rest) const {
    using element = std::remove_pointer_t<decltype(of.data())>;
    return wane::view<element, 2 + sizeof...(rest)>(of.data(), batch, tokens, rest...);
  }

  std::array<std::span<T>, 8> inputs() { return {x, dt, B, C, A, D, dt_bias, taper}; }
  typename wane::mamba2<T>::gradients gradients(index begin = 0, index end = -1) {
    auto const part = [=](auto const& of) {
      return of.tokens(begin, end < 0 ? of.extent[1] : end);
    };
    return {.x = part(of_columns(to_x)),
            .dt = part(of_tokens(to_dt)),
            .A = {to_A.data(), heads},
            .B = part(of_rows(B_of_heads, heads)),
            .C = part(of_rows(C_of_heads, heads)),
            .D = {to_D.data(), heads},
            .dt_bias = {to_bias.data(), heads},
            .taper = {to_taper.data(), heads}};
  }
  // The gradients in the shapes of the inputs.
  std::array<std::span<T>, 8> input_gradients() {
    auto const of_group = [&](std::vector<T> const& from, std::vector<T>& to) {
      sum_over_groups<T>(of_rows(from, heads), of_rows(to, groups));
    };
    of_group(B_of_heads, to_B), of_group(C_of_heads, to_C);
    return {to_x, to_dt, to_B, to_C, to_A, to_D, to_bias, to_taper};
  }

 private:
  std::vector<T> some(index each, double low, double high) {
    return numbers(batch * tokens * each, low, high);
  }
  std::vector<T> of_heads(double low, double high) { return numbers(heads, low, high); }
  std::vector<T> numbers(index count, double low, double high) {
    std::vector<T> found;
    for (index i = 0; i < count; ++i) found.push_back(static_cast<T>(random.uniform(low, high)));
    return found;
  }
};

template <class T>
std::vector<T> output_of(mamba2_problem<T> const& p, wane::run_options<T> const& options = {}) {
  std::vector<T> y(p.x.size(), std::numeric_limits<T>::quiet_NaN());
  run(p.make(0, p.tokens), p.of_columns(y), options);
  return y;
}

// Lines 15 to 25 of the algorithm, in double, from position `seen` + 1.
template <class T>
double distance_from_paper(mamba2_problem<T> const& p, std::vector<T> const& y, index seen) {
  support::nearness near;
  auto const at = [](auto const& values, index i) {
    return static_cast<double>(values[static_cast<std::size_t>(i)]);
  };
  for (index b = 0; b < p.batch; ++b)
    for (index h = 0; h < p.heads; ++h) {
      std::vector<double> s(static_cast<std::size_t>(p.states * p.columns));
      for (index t = 0; t < p.tokens; ++t) {
        index const token = (b * p.tokens + t) * p.heads + h;
        index const row = ((b * p.tokens + t) * p.groups + h / (p.heads / p.groups)) * p.states;
        double const raw = at(p.dt, token) + at(p.dt_bias, h);
        double const delta = p.options.dt_softplus ? std::log1p(std::exp(raw)) : std::max(raw, 0.);
        double const slower =
            std::pow(static_cast<double>(seen + t + 1) / p.options.trained_at, -at(p.taper, h));
        for (index j = 0; j < p.columns; ++j) {
          double const x = at(p.x, token * p.columns + j);
          double out = at(p.D, h) * x;
          for (index n = 0; n < p.states; ++n) {
            double& state = s[static_cast<std::size_t>(n * p.columns + j)];
            state = std::exp(at(p.A, h) * slower * delta) * state + delta * at(p.B, row + n) * x;
            out += at(p.C, row + n) * state;
          }
          near.add(at(y, token * p.columns + j), out);
        }
      }
    }
  return near.both();
}

TEST(Mamba2, IsTheAlgorithmOfItsPaper) {
  for (bool softplus : {false, true}) {
    mamba2_problem<float> single{.batch = 2};
    mamba2_problem<double> twice{.batch = 2};
    single.options.dt_softplus = twice.options.dt_softplus = softplus;
    EXPECT_LT(distance_from_paper(single, output_of(single), 0), 1e-6);  // HOUSE section 3
    EXPECT_LT(distance_from_paper(twice, output_of(twice), 0), 1e-14);   // a few roundings
  }
}

TEST(Mamba2, CountsPositionsFromThoseOfTheState) {
  mamba2_problem<double> const p;
  wane::recurrent_state<double> state(p.make(0, p.tokens));
  for (index seen : {index{5}, index{1} << 53}) {
    state.positions() = {seen};
    EXPECT_LT(distance_from_paper(p, output_of(p, {.initial = std::as_const(state)}), seen), 1e-14);
  }
}

TEST(Mamba2, WithoutATaperForgetsEverywhereAlike) {
  mamba2_problem<double> p;
  p.taper.assign(4, 0.);
  std::vector<double> const with_zero = output_of(p);
  wane::recurrent_state<double> later(p.make(0, p.tokens));
  later.positions() = {12345};
  EXPECT_EQ(output_of(p, {.initial = std::as_const(later)}), with_zero);

  wane::mamba2_inputs<double> const in{.x = p.of_columns(p.x),
                                       .dt = p.of_tokens(p.dt),
                                       .A = {p.A.data(), 4},
                                       .B = p.of_rows(p.B, 2),
                                       .C = p.of_rows(p.C, 2),
                                       .D = {p.D.data(), 4},
                                       .dt_bias = {p.dt_bias.data(), 4}};
  std::vector<double> absent(p.x.size(), NAN);
  run(wane::mamba2<double>(in, p.options), p.of_columns(absent));
  EXPECT_EQ(absent, with_zero);
}

// MATH 1.4: N = 4, T = 512. The slowest head, at position t, holds for 20 t steps of dt = 0.05 t.
TEST(Mamba2, TakesThePapersInitialSpectrum) {
  mamba2_problem<double> p{.tokens = 1};
  p.options = {};
  std::vector<double> const rates = wane::spectra::mamba2_log_rates(4, 512);
  p.taper = wane::spectra::linear_taper(4);
  double const golden[] = {0.0390625, 0.3125, 2.5, 20}, tapers[] = {1, 2. / 3, 1. / 3, 0};
  p.dt.assign(4, 0.05), p.dt_bias.assign(4, 0.);
  for (std::size_t h = 0; h < 4; ++h) p.A[h] = -std::exp(rates[h]);
  for (index h = 0; h < 4; ++h) {
    double const wanted = -0.05 * golden[h] * std::pow(512., -tapers[h]);
    EXPECT_NEAR(p.make(0, 1).at({0, 0, h, 512}).log_decay() / wanted, 1, 1e-14);
  }
}

TEST(Mamba2, KeepsTheLaws) {
  for (index columns : {1, 16, 65}) {
    expect_to_hold(check_laws(mamba2_problem<float>{.columns = columns}, 1e-6));
    expect_to_hold(check_laws(mamba2_problem<double>{.columns = columns}, 1e-13));
  }
}

// The taper depends on positions, which count over all ranks.
TEST(Mamba2, KeepsTheLawsOverRanks) {
  for (index batch : {1, 2})
    expect_to_hold(wane::testing::check_sharded_laws(
        mamba2_problem<double>{.batch = batch, .columns = 17}, 1e-12));
}

TEST(Mamba2, HasTheGradientsOfAllInputs) {
  for (index columns : {1, 7, 16}) {
    mamba2_problem<double> p{.batch = 2, .tokens = 40, .columns = columns};
    expect_to_hold(check_adjoint_laws(p, 1e-8));
  }
  mamba2_problem<double> as_it_is{.tokens = 40};
  as_it_is.options = {};
  for (double& dt : as_it_is.dt) dt = std::abs(dt) + 1.1;  // far from the limit 0, with any bias
  expect_to_hold(check_adjoint_laws(as_it_is, 1e-8));
}

// The sum over tokens needs no positions, because the part of each token is found at its own
// position.
// Gradients that hold those of the operator.
struct wrapped {
  wane::mamba2<double>::gradients inner;

  auto at(wane::mamba2<double> const& op, wane::place<> where) const { return inner.at(op, where); }
};
struct forwarding : wrapped {
  static void each_parameter(auto& of, wane::recurrence_shape const& shape, auto const& visit) {
    decltype(of.inner)::each_parameter(of.inner, shape, visit);
  }
};
TEST(Mamba2, FindsTheGradientsOfParametersInGradientsThatHoldThem) {
  mamba2_problem<double> p{.batch = 2, .tokens = 40}, q{.batch = 2, .tokens = 40};
  std::vector<double> const dy = p.x;
  wane::adjoint(p.make(0, 40), p.of_columns(dy), p.gradients());
  wane::adjoint(q.make(0, 40), q.of_columns(dy), forwarding{{q.gradients()}});
  EXPECT_EQ(p.to_A, q.to_A);
  support::expect_error({"must forward their each_parameter()"}, [&] {
    wane::adjoint(q.make(0, 40), q.of_columns(dy), wrapped{q.gradients()});
  });
}

// In a pair each part gets the gradient of the sum.
TEST(Mamba2, SumsTheGradientsOfParametersInAPairToo) {
  mamba2_problem<double> p{.batch = 2, .tokens = 40}, q{.batch = 2, .tokens = 40};
  auto const pair = wane::sum_of(p.make(0, 40), q.make(0, 40));
  std::vector<double> const dy = p.x;
  wane::adjoint(pair, p.of_columns(dy), {.first = p.gradients(), .second = q.gradients()});
  mamba2_problem<double> alone{.batch = 2, .tokens = 40};
  wane::adjoint(alone.make(0, 40), alone.of_columns(dy), alone.gradients());
  EXPECT_EQ(p.to_A, alone.to_A);
  EXPECT_EQ(q.to_taper, alone.to_taper);
  EXPECT_NE(p.to_A, p.A);
}

TEST(Mamba2, HasTheGradientOfItsTaperOverPackedSequencesBackwardInTime) {
  mamba2_problem<double> p{.tokens = 40};
  std::vector<index> const starts{0, 15, 40};
  std::vector<double> dy = p.x;
  wane::recurrent_state<double> state(p.make(0, 40), 2);
  state.positions() = {100, 3000};
  auto const loss = [&](double by) {
    auto shifted = p;
    for (double& alpha : shifted.taper) alpha += by;
    auto const y = output_of(shifted, {.initial = std::as_const(state),
                                       .packed = {starts},
                                       .direction = wane::direction::reverse});
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.);
  };
  adjoint(p.make(0, 40), p.of_columns(dy), p.gradients(),
          wane::adjoint_options<double>{.initial = std::as_const(state),
                                        .packed = {starts},
                                        .direction = wane::direction::reverse});
  auto const gradient = p.input_gradients()[7];
  double const h = 1e-4;
  double const slope = (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h);
  // The bound is the error of central differences with this step.
  EXPECT_NEAR(std::accumulate(gradient.begin(), gradient.end(), 0.), slope, 1e-8);
}

TEST(Mamba2, DoesNotForgetAtARateOfZeroAndForgetsAllInAVeryLongStep) {
  mamba2_problem<double> p{.tokens = 2, .heads = 2, .groups = 1, .states = 1, .columns = 1};
  p.options = {};
  p.x = {5, 7, 0, 0}, p.dt = {1, 1, 1, 1e300}, p.dt_bias = p.D = {0, 0};
  p.B = {1, 0}, p.C = {1, 1}, p.A = {0, -1};
  p.taper = {1, 1};
  EXPECT_EQ(output_of(p), (std::vector<double>{5, 7, 5, 0}));
}

TEST(Mamba2, RefusesWhatDoesNotFit) {
  mamba2_problem<float> p{.tokens = 3};
  std::vector<float> y(p.x.size());
  auto const refused = [&](std::vector<std::string> const& why, auto const& spoil) {
    auto q = p;
    spoil(q);
    support::expect_error(why, [&] { run(q.make(0, 3), p.of_columns(y)); });
  };
  refused({"A of head 1 is 0.5", "0 or less"}, [](auto& q) { q.A[1] = 0.5f; });
  refused({"A of head 0 is -inf", "finite"}, [](auto& q) { q.A[0] = -HUGE_VALF; });
  refused({"taper of head 2 is 1.5", "from 0 to 1"}, [](auto& q) { q.taper[2] = 1.5f; });
  refused({"dt_bias of head 3 is nan", "finite"}, [](auto& q) { q.dt_bias[3] = NAN; });
  refused({"trained_at is 0"}, [](auto& q) { q.options.trained_at = 0; });
  refused({"dt_limit is {-1, 1}"},
          [](auto& q) { q.options.dt_limit[0] = -1, q.options.dt_limit[1] = 1; });
  refused({"B has groups 3", "x, 4"}, [](auto& q) { q.groups = 3; });

  wane::mamba2_inputs<float> in{.x = p.of_columns(p.x),
                                .dt = p.of_tokens(p.dt),
                                .A = {p.A.data(), 3},
                                .B = p.of_rows(p.B, 2),
                                .C = p.of_rows(p.C, 2)};
  using op = wane::mamba2<float>;
  support::expect_error({"A has heads 3", "it must be 4"}, [&] { run(op(in), p.of_columns(y)); });
  in.A = {};
  support::expect_error({"A is not given"}, [&] { run(op(in), p.of_columns(y)); });
  in.C.extent[3] = 4;
  support::expect_error({"C has rows 4", "it must be 5"}, [&] { op{in}; });
}

}  // namespace
