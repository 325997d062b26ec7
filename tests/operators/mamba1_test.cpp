// mamba1 is the selective scan of its paper, keeps every law, and has the gradients of all inputs.
// SPDX-License-Identifier: MIT
#include "wane/operators/mamba1.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace {

using support::expect_to_hold;
using wane::index;
using wane::testing::check_adjoint_laws;
using wane::testing::check_laws;

template <class T>
struct mamba1_problem {
  index batch = 1, tokens = 100, heads = 1, groups = 1, states = 16, channels = 33;
  support::random_values random{7};
  wane::mamba1_options options{.dt_softplus = true};
  std::vector<T> x = some(tokens * channels, -1, 1), dt = some(tokens * channels, -3, 1),
                 B = some_rows(), C = some_rows(), A = some(channels * states, -2, -0.1, 1),
                 D = some(channels, -1, 1, 1), dt_bias = some(channels, -1, 1, 1);
  std::vector<T> to_x = x, to_dt = dt, to_B = B, to_C = C, to_D = D, to_bias = dt_bias, to_A = A;
  std::vector<T> B_of_heads = zeros(states), C_of_heads = B_of_heads;

  index time() const { return tokens; }
  wane::mamba1<T> make(index begin, index end) const {
    return {{.x = of_channels(x.data()).tokens(begin, end),
             .dt = of_channels(dt.data()).tokens(begin, end),
             .A = {A.data(), {heads, channels, states}, {channels * states, 1, channels}},
             .B = of_rows(B.data(), groups).tokens(begin, end),
             .C = of_rows(C.data(), groups).tokens(begin, end),
             .D = {D.data(), heads, channels},
             .dt_bias = {dt_bias.data(), heads, channels}},
            options};
  }
  wane::sequence_view<T const> of_channels(T const* data) const {
    return {data, batch, tokens, heads, channels};
  }
  wane::sequence_view<T const> of_rows(T const* data, index of) const {
    return {data, batch, tokens, of, states};
  }

  std::array<std::span<T>, 7> inputs() { return {x, dt, B, C, D, dt_bias, A}; }
  typename wane::mamba1<T>::gradients gradients(index begin = 0, index end = -1) {
    wane::sequence_view<T> const column(nullptr, batch, tokens, heads, channels);
    wane::sequence_view<T> const row(nullptr, batch, tokens, heads, states);
    auto const at = [=](auto view, std::vector<T>& to) {
      view.data = to.data();
      return view.tokens(begin, end < 0 ? view.extent[1] : end);
    };
    return {.x = at(column, to_x),
            .dt = at(column, to_dt),
            .A = {to_A.data(), {heads, channels, states}, {channels * states, 1, channels}},
            .B = at(row, B_of_heads),
            .C = at(row, C_of_heads),
            .D = {to_D.data(), heads, channels},
            .dt_bias = {to_bias.data(), heads, channels}};
  }
  // The gradients in the shapes of the inputs.
  std::array<std::span<T>, 7> input_gradients() {
    auto const of_group = [&](std::vector<T> const& from, std::vector<T>& to) {
      sum_over_groups(of_rows(from.data(), heads),
                      wane::sequence_view<T>(to.data(), batch, tokens, groups, states));
    };
    of_group(B_of_heads, to_B), of_group(C_of_heads, to_C);
    return {to_x, to_dt, to_B, to_C, to_D, to_bias, to_A};
  }

  std::vector<T> some(index count, double low, double high, index sequences = 0) {
    std::vector<T> numbers(std::size_t((sequences ? sequences : batch) * heads * count));
    for (T& number : numbers) number = static_cast<T>(random.uniform(low, high));
    return numbers;
  }
  std::vector<T> some_rows() {
    std::vector<T> numbers(std::size_t(batch * tokens * groups * states));
    for (T& number : numbers) number = static_cast<T>(random.uniform(-1, 1));
    return numbers;
  }
  std::vector<T> zeros(index count) const {
    return std::vector<T>(std::size_t(batch * tokens * heads * count));
  }
};

double softplus(double x) { return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x))); }

// Algorithm 2 of the paper, channel by channel and state by state, in double.
template <class T>
double distance_from_paper(mamba1_problem<T> const& p, std::vector<T> const& y) {
  support::nearness near;
  auto const at = [](auto const& values, index i) { return double(values[std::size_t(i)]); };
  for (index b = 0; b < p.batch; ++b)
    for (index h = 0; h < p.heads; ++h)
      for (index d = 0; d < p.channels; ++d) {
        std::vector<double> s(std::size_t(p.states));
        index const channel = h * p.channels + d, group = h / (p.heads / p.groups);
        for (index t = 0; t < p.tokens; ++t) {
          index const here = ((b * p.tokens + t) * p.heads + h) * p.channels + d;
          double const raw = at(p.dt, here) + at(p.dt_bias, channel), x = at(p.x, here);
          double const delta = p.options.dt_softplus ? softplus(raw) : std::max(raw, 0.);
          double out = at(p.D, channel) * x;
          for (index n = 0; n < p.states; ++n) {
            index const row = ((b * p.tokens + t) * p.groups + group) * p.states + n;
            double const a = at(p.A, (h * p.states + n) * p.channels + d);
            double& state = s[std::size_t(n)];
            state = std::exp(delta * a) * state + delta * at(p.B, row) * x;
            out += at(p.C, row) * state;
          }
          near.add(at(y, here), out);
        }
      }
  return near.both();
}

template <class T>
std::vector<T> output_of(mamba1_problem<T> const& p) {
  std::vector<T> y(p.x.size(), std::numeric_limits<T>::quiet_NaN());
  run(p.make(0, p.tokens),
      wane::sequence_view<T>(y.data(), p.batch, p.tokens, p.heads, p.channels));
  return y;
}

TEST(Mamba1, IsTheSelectiveScanOfItsPaper) {
  for (bool softplus : {false, true}) {
    mamba1_problem<float> const single{
        .batch = 2, .heads = 2, .states = 5, .channels = 70, .options = {.dt_softplus = softplus}};
    mamba1_problem<double> const twice{
        .batch = 2, .heads = 2, .states = 5, .channels = 70, .options = {.dt_softplus = softplus}};
    EXPECT_LT(distance_from_paper(single, output_of(single)), 1e-6);  // HOUSE section 3
    EXPECT_LT(distance_from_paper(twice, output_of(twice)), 1e-14);   // a few roundings
  }
}

TEST(Mamba1, IsTheSameWhicheverWayALies) {
  mamba1_problem<float> const p;
  std::vector<float> transposed(p.A.size()), y(p.x.size(), NAN);
  for (index d = 0; d < p.channels; ++d)
    for (index n = 0; n < p.states; ++n)
      transposed[std::size_t(d * p.states + n)] = p.A[std::size_t(n * p.channels + d)];
  wane::mamba1<float> const op({.x = p.of_channels(p.x.data()),
                                .dt = p.of_channels(p.dt.data()),
                                .A = {transposed.data(), 1, p.channels, p.states},
                                .B = p.of_rows(p.B.data(), 1),
                                .C = p.of_rows(p.C.data(), 1),
                                .D = {p.D.data(), 1, p.channels},
                                .dt_bias = {p.dt_bias.data(), 1, p.channels}},
                               p.options);
  run(op, wane::sequence_view<float>(y.data(), 1, p.tokens, 1, p.channels));
  EXPECT_LT(distance_from_paper(p, y), 1e-6);
}

// Fewer channels than a vector, whole strips, and remainders; more rows than the fast runner takes.
TEST(Mamba1, KeepsTheLaws) {
  for (index channels : {1, 16, 70, 150})
    expect_to_hold(check_laws(mamba1_problem<float>{.channels = channels}, 1e-6));
  expect_to_hold(check_laws(mamba1_problem<float>{.tokens = 30, .states = 65}, 1e-6));
  expect_to_hold(check_laws(mamba1_problem<double>{.batch = 2, .heads = 2, .states = 3}, 1e-13));
}

TEST(Mamba1, KeepsTheLawsOverRanks) {
  expect_to_hold(wane::testing::check_sharded_laws(
      mamba1_problem<double>{.batch = 1, .heads = 2, .channels = 70}, 1e-12));
}

TEST(Mamba1, HasTheGradientsOfAllInputs) {
  for (index channels : {3, 8, 21}) {
    mamba1_problem<double> p{
        .batch = 2, .tokens = 50, .heads = 4, .groups = 2, .states = 3, .channels = channels};
    expect_to_hold(check_adjoint_laws(p, 1e-8));
  }
  mamba1_problem<double> as_it_is{.tokens = 50, .states = 3, .channels = 9, .options = {}};
  for (double& dt : as_it_is.dt) dt = std::abs(dt) + 1.1;  // far from the limit 0, with any bias
  expect_to_hold(check_adjoint_laws(as_it_is, 1e-8));
}

TEST(Mamba1, SumsTheGradientOfAOverPackedSequences) {
  mamba1_problem<double> p{.tokens = 60, .states = 3, .channels = 9};
  std::vector<index> const starts{0, 25, 25, 60};
  std::vector<double> packed(p.A.size(), NAN), separate(p.A.size()), one = packed, dy = p.x;
  auto const gradient_of = [&](std::vector<double>& a, index begin, index end,
                               wane::packed_sequences const& packing) {
    adjoint(p.make(begin, end), p.of_channels(dy.data()).tokens(begin, end),
            {.A = {a.data(), {1, p.channels, p.states}, {0, 1, p.channels}}}, {.packed = packing});
  };
  gradient_of(packed, 0, 60, {starts});
  for (std::size_t n = 0; n < 3; ++n) {
    gradient_of(one, starts[n], starts[n + 1], {});
    for (std::size_t i = 0; i < one.size(); ++i) separate[i] += one[i];
  }
  EXPECT_EQ(packed, separate);
}

TEST(Mamba1, DoesNotForgetAtARateOfZeroAndForgetsAllAtMinusInfinity) {
  mamba1_problem<double> p{.tokens = 2, .states = 2, .channels = 2, .options = {}};
  p.dt = {1, 1, 1, 1}, p.dt_bias = {0, 0}, p.D = {0, 0}, p.x = {5, 7, 0, 0};
  p.B = p.C = {1, 0, 1, 0};
  p.A = {0, -HUGE_VAL, -1, -1};
  EXPECT_EQ(output_of(p), (std::vector<double>{5, 7, 5, 0}));
}

// Where the step is 0, and where softplus underflows to it. float(-exp(89)) is -inf.
TEST(Mamba1, KeepsTheStateInAStepOfZeroWhateverTheRate) {
  for (bool softplus : {false, true}) {
    float const none = softplus ? -200 : 0, one = softplus ? 0.5413249f : 1;
    mamba1_problem<float> p{
        .tokens = 3, .states = 2, .channels = 2, .options = {.dt_softplus = softplus}};
    p.dt = {one, one, none, none, one, none}, p.dt_bias = {0, 0}, p.D = {0, 0};
    p.x = {5, 7, 3, 4, 0, 2}, p.B = p.C = {1, 1, 1, 1, 1, 1};
    p.A = {-HUGE_VALF, -HUGE_VALF, static_cast<float>(-std::exp(89.)), -HUGE_VALF};
    auto const y = output_of(p);
    std::vector<float> const expected{10, 14, 10, 14, 0, 14};
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5) << i;
  }
}

// A rate of -infinity has the gradients of a rate of -1e9, which forgets all too, but for tokens
// whose step is 0.
TEST(Mamba1, HasFiniteGradientsAtARateOfMinusInfinity) {
  for (index channels : {3, 70}) {
    std::vector<std::vector<double>> found;
    for (double rate : {-1e9, -HUGE_VAL}) {
      mamba1_problem<double> p{.tokens = 50, .states = 3, .channels = channels};
      p.A[1] = rate;
      for (index i = 0; i < 50 * channels; i += 7) p.dt[std::size_t(i)] = -2000;
      std::vector<double> dy = p.x, all;
      adjoint(p.make(0, 50), p.of_channels(dy.data()), p.gradients());
      for (auto const& of : p.input_gradients()) all.insert(all.end(), of.begin(), of.end());
      found.push_back(all);
    }
    for (double g : found[1]) ASSERT_TRUE(std::isfinite(g));
    EXPECT_EQ(found[0], found[1]);
  }
}

TEST(Mamba1, KeepsANaNInItsChannelAndItsSequence) {
  mamba1_problem<float> p{.tokens = 20, .channels = 40};
  p.dt[5 * 40 + 17] = NAN;
  std::vector<float> y(p.x.size(), NAN);
  std::vector<index> const starts{0, 10, 20};
  run(p.make(0, 20), wane::sequence_view<float>(y.data(), 1, 20, 1, 40),
      wane::run_options<float>{.packed = {starts}});
  for (index t = 0; t < 20; ++t)
    for (index d = 0; d < 40; ++d)
      EXPECT_EQ(std::isnan(y[std::size_t(t * 40 + d)]), d == 17 && 5 <= t && t < 10)
          << t << ' ' << d;
}

// x up to 1e4, where e^x overflows.
TEST(TimeStep, IsSoftplusToTwoRoundings) {
  wane::impl::time_step<float> const single(true, {0, HUGE_VAL});
  wane::impl::time_step<double> const twice(true, {0, HUGE_VAL});
  support::random_values random(3);
  for (int i = 0; i < 100000; ++i) {
    double const x = (i % 2 ? 1 : -1) * std::exp(random.uniform(-12, i % 2 ? 9.2 : 4.4));
    float const rounded = static_cast<float>(x);
    long double const wide = x, exact = std::max(wide, 0.L) + std::log1p(std::exp(-std::abs(wide)));
    EXPECT_NEAR(static_cast<double>(twice(x) / exact), 1, 4 * 0x1p-53) << x;
    EXPECT_NEAR(single(rounded) / softplus(rounded), 1, 4 * 0x1p-24) << x;
    EXPECT_NEAR(twice.slope(x) * (1 + std::exp(-x)), 1, 8 * 0x1p-53) << x;
  }
  EXPECT_EQ(single(-HUGE_VALF), 0);
  EXPECT_TRUE(std::isnan(single(NAN)) && std::isnan(single.slope(NAN)));
}

TEST(TimeStep, StaysWithinItsLimitsAndHasNoSlopeBeyondThem) {
  wane::impl::time_step<double> const step(false, {0.25, 4});
  double const raw[] = {0.1, 1.5, 5}, value[] = {0.25, 1.5, 4}, slope[] = {0, 1, 0};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(step(raw[i]), value[i]);
    EXPECT_EQ(step.slope(raw[i]), slope[i]);
  }
}

TEST(Mamba1, RefusesWhatDoesNotFit) {
  mamba1_problem<float> p{.tokens = 4, .states = 2, .channels = 3};
  std::vector<float> y(p.x.size());
  wane::sequence_view<float> const output(y.data(), 1, 4, 1, 3);
  using op = wane::mamba1<float>;
  auto const rows = p.of_rows(p.B.data(), 1);
  wane::mamba1_inputs<float> const good{.x = p.of_channels(p.x.data()),
                                        .dt = p.of_channels(p.dt.data()),
                                        .A = {p.A.data(), 1, 3, 2},
                                        .B = rows,
                                        .C = rows};
  auto in = good;
  auto const refused = [&](std::vector<std::string> const& why) {
    support::expect_error(why, [&] { run(op(in), output); });
    in = good;
  };
  in.A = {p.A.data(), 1, 2, 3};
  refused({"A has states 3", "it must be 2"});
  in.A = {};
  refused({"A is not given"});
  in.dt = {p.dt.data(), 1, 4, 1, 2};
  refused({"dt has columns 2", "it must be 3"});
  in.D = {p.D.data(), 1, 2};
  refused({"D has columns 2"});
  support::expect_error({"dt_limit is {2, 1}"}, [&] { op(in, {.dt_limit = {2, 1}}); });
  in.B = {p.B.data(), 1, 2, 2, 2};
  support::expect_error({"B has groups 2", "x, 1"}, [&] { op{in}; });
  float sums[6];
  support::expect_error({"the gradient of A has shape [1, 2, 3]; it must be [1, 3, 2]"}, [&] {
    adjoint(p.make(0, 4), output, {.A = {sums, 1, 2, 3}});
  });
}

}  // namespace
