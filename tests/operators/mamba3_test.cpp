// mamba3 is S <- e^g (S + (1 - lambda) delta b x^T of the token before) + lambda delta b x^T, with
// turned b and c, y = S^T c + D x.
// SPDX-License-Identifier: MIT
#include "wane/operators/mamba3.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "support/expect_error.hpp"
#include "support/golden.hpp"
#include "support/mamba3_problem.hpp"
#include "support/memory_laws.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index;
using wane::mamba3;

static_assert(wane::led_memory<mamba3<float>>);

// Rows that turn as complex numbers, z = B_i + i B_k, by their recurrence in double:
// h <- e^{g - i theta} (h + (1 - lambda) delta z x of the token before) + lambda delta z x,
// y = Re(conj(C_i + i C_k) h) + D x. The other rows have theta = 0.
template <class T, int Rank>
std::vector<double> naive(wane::testing::mamba3_problem<T, Rank> const& p) {
  using complex = std::complex<double>;
  auto const in = p.in(0, p.size.time);
  index const N = p.size.rows, P = p.size.columns, S = in.angle.extent[3];
  bool const halves = p.size.options.normalise;
  struct row {
    index i, k, angle;  // k, angle < 0: none
  };
  std::vector<row> rows;
  std::vector<bool> turns(static_cast<std::size_t>(N));
  for (index n = 0; n < S; ++n) {
    rows.push_back(halves ? row{n, n + N / 2, n} : row{2 * n, 2 * n + 1, n});
    turns[static_cast<std::size_t>(rows.back().i)] =
        turns[static_cast<std::size_t>(rows.back().k)] = true;
  }
  for (index i = 0; i < N; ++i)
    if (!turns[static_cast<std::size_t>(i)]) rows.push_back({i, -1, -1});
  auto const number = [](auto x) { return static_cast<double>(x); };
  std::vector<double> all;
  std::vector<complex> h(rows.size() * static_cast<std::size_t>(P));
  for (index t = 0; t < p.size.time; ++t) {
    double const delta = number(in.delta(0, t, 0)), lambda = number(in.trapezoid(0, t, 0));
    double const g = number(p.gate.values.view()(0, t, 0, 0));
    auto const z = [&](auto const& x, auto const& bias, index at, index r, row const& of) {
      auto const each = [&](index i) { return number(x(0, at, r, i)) + number(bias(r, i)); };
      return complex(each(of.i), of.k < 0 ? 0 : each(of.k));
    };
    for (std::size_t n = 0; n < rows.size(); ++n) {
      row const& of = rows[n];
      double const theta = of.angle < 0 ? 0 : number(in.angle(0, t, 0, of.angle));
      for (index j = 0; j < P; ++j) {
        complex& each = h[n * static_cast<std::size_t>(P) + static_cast<std::size_t>(j)];
        for (index r = 0; t > 0 && r < Rank; ++r)
          each += (1 - lambda) * delta * z(in.B, in.B_bias, t - 1, r, of) *
                  number(in.x(0, t - 1, r, j));
        each *= std::exp(complex(g, -theta));
        for (index r = 0; r < Rank; ++r)
          each += lambda * delta * z(in.B, in.B_bias, t, r, of) * number(in.x(0, t, r, j));
      }
    }
    for (index r = 0; r < Rank; ++r)
      for (index j = 0; j < P; ++j) {
        double y = number(in.D(0)) * number(in.x(0, t, r, j));
        for (std::size_t n = 0; n < rows.size(); ++n)
          y += (std::conj(z(in.C, in.C_bias, t, r, rows[n])) *
                h[n * static_cast<std::size_t>(P) + static_cast<std::size_t>(j)])
                   .real();
        all.push_back(y);
      }
  }
  return all;
}

template <class T, int Rank>
void expect_complex_recurrence(bool halves) {
  for (auto [rows, columns] : {std::pair<index, index>{1, 1}, {2, 3}, {5, 7}, {17, 8}, {64, 33}}) {
    wane::testing::mamba3_problem<T, Rank> const p(
        {1, 41, 1, rows, columns, 0, {.normalise = halves}});
    auto const exact = naive(p);
    std::vector<T> y(exact.size());
    wane::run(p.make(0, 41), {y.data(), 1, 41, Rank, columns});
    support::nearness near;
    for (std::size_t i = 0; i < y.size(); ++i) near.add(static_cast<double>(y[i]), exact[i]);
    EXPECT_LE(near.both(), sizeof(T) == 4 ? 1e-6 : 1e-14) << rows << " x " << columns;
  }
}
TEST(Mamba3, IsAComplexRecurrence) {
  for (bool halves : {false, true}) {
    expect_complex_recurrence<float, 1>(halves);
    expect_complex_recurrence<double, 1>(halves);
    expect_complex_recurrence<float, 3>(halves);
    expect_complex_recurrence<double, 2>(halves);
  }
}

template <class T>
using of_one_rank = wane::testing::mamba3_problem<T>;
template <class T>
using of_two_ranks = wane::testing::mamba3_problem<T, 2>;
TEST(Mamba3Laws, Hold) {
  support::expect_memory_laws<of_one_rank>();
  support::expect_memory_laws<of_two_ranks>();
}
TEST(Mamba3Laws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<of_one_rank>();
  support::expect_memory_adjoint_laws<of_two_ranks>();
}

// mamba-ssm: ranks before heads, states of [heads, channels, states], angles that are not brought
// back to a turn. Its projections of x and of the outputs are products with a tensor here.
template <int R>
void expect_mamba_ssm(std::string const& name, index N) {
  constexpr index T = 21, H = 4, P = 3, S = 2;
  auto const in = support::read_golden("mamba_inputs.csv"),
             more = support::read_golden("mamba3_inputs.csv"),
             out = support::read_golden("mamba3_outputs.csv");
  auto const at = [](auto const& x, index n) { return x[static_cast<std::size_t>(n)]; };
  std::string const prefix = R > 1 ? "mimo_" : "";
  std::vector<float> delta, decay, angle, x, B_bias, C_bias;
  for (index n = 0; n < T * H; ++n) {
    float const raw = at(in.at("head_dt"), n) + at(in.at("head_dt_bias"), n % H);
    delta.push_back(std::log1p(std::exp(raw)));
    decay.push_back(at(more.at("A"), n) * delta.back());
    for (index k = 0; k < S; ++k)
      angle.push_back(std::tanh(at(more.at("angle"), n * S + k)) * delta.back() * 3.14159265f);
    for (index r = 0; r < R; ++r)
      for (index j = 0; j < P; ++j)
        x.push_back(at(in.at("x"), n * P + j) *
                    (R > 1 ? at(more.at("mimo_x"), (r * H + n % H) * P + j) : 1));
  }
  for (index h = 0; h < H; ++h)
    for (index r = 0; r < R; ++r)
      for (index i = 0; i < N; ++i) {
        B_bias.push_back(at(more.at(prefix + "B_bias"), (r * H + h) * N + i));
        C_bias.push_back(at(more.at(prefix + "C_bias"), (r * H + h) * N + i));
      }
  auto const& groups = R > 1 ? more : in;
  index const G = R > 1 ? 1 : 2;
  mamba3<float> const scan(
      {.x = {x.data(), 1, T, H * R, P},
       .B = {groups.at(prefix + "B").data(), 1, T, G * R, N},
       .C = {groups.at(prefix + "C").data(), 1, T, G * R, N},
       .delta = {delta.data(), 1, T, H},
       .trapezoid = {more.at("trapezoid").data(), 1, T, H},
       .angle = {angle.data(), 1, T, H, S},
       .D = {in.at("head_D").data(), H},
       .B_bias = {B_bias.data(), H * R, N},
       .C_bias = {C_bias.data(), H * R, N}},
      wane::token_view<float const>(decay.data(), 1, T, H),
      {.pairs = R > 1 ? wane::turning_pairs::halves : wane::turning_pairs::neighbours});
  wane::recurrent_state<float> state(scan);
  wane::state_view<float> const both(state);
  auto const memory = scan.state_of_first(both).values, carry = scan.state_of_second(both).values;
  for (index h = 0; R == 1 && h < H; ++h) {
    for (index i = 0; i < N; ++i) {
      for (index j = 0; j < P; ++j) memory(0, h, i, j) = at(in.at("initial"), (h * P + j) * N + i);
      carry(0, h, 0, S + i) = at(more.at("initial_B"), h * N + i);
    }
    for (index k = 0; k < S; ++k) carry(0, h, 0, k) = at(more.at("initial_angle"), h * S + k);
    for (index j = 0; j < P; ++j) carry(0, h, 0, S + N + j) = at(more.at("initial_x"), h * P + j);
  }
  std::vector<float> y(T * H * R * P), projected, last, turned;
  wane::run(scan, {y.data(), 1, T, H * R, P}, {.initial = state, .final = state});
  for (index n = 0; n < T * H; ++n)
    for (index j = 0; j < P; ++j) {
      projected.push_back(0);
      for (index r = 0; r < R; ++r)
        projected.back() += at(y, (n * R + r) * P + j) *
                            (R > 1 ? at(more.at("mimo_out"), (r * H + n % H) * P + j) : 1);
    }
  for (index h = 0; h < H; ++h) {
    for (index j = 0; j < P; ++j)
      for (index i = 0; i < N; ++i) last.push_back(memory(0, h, i, j));
    for (index k = 0; k < S; ++k) {
      double const apart =
          double(carry(0, h, 0, k)) - double(at(out.at(name + " angle"), h * S + k));
      EXPECT_NEAR(std::remainder(apart, 2 * 3.14159265358979), 0, 2e-5);
    }
  }
  for (index r = 0; r < R; ++r)
    for (index h = 0; h < H; ++h)
      for (index i = 0; i < N; ++i) turned.push_back(carry(0, h, 0, S + r * N + i));
  // The angles of 21 tokens, of 40 radians in all, are summed in float here, in double there.
  support::expect_near_golden(projected, out.at(name), 2e-6);
  support::expect_near_golden(last, out.at(name + " state"), 2e-6);
  support::expect_near_golden(turned, out.at(name + " B"), 2e-6);
}
TEST(Mamba3, EqualsMambaSsm) {
  expect_mamba_ssm<1>("mamba3", 5);
  expect_mamba_ssm<2>("mamba3_mimo", 6);
}

TEST(Mamba3, HasAGradientWithoutTokens) {
  wane::testing::mamba3_problem<double> p({1, 4, 2, 4, 5});
  p.D.gradient = {1, 1};
  double const none = 0;
  wane::adjoint(p.make(0, 0), wane::sequence_view<double const>(&none, 1, 0, 2, 5),
                p.gradients(0, 0));
  EXPECT_EQ(p.D.gradient, std::vector<double>(2));
}

TEST(Mamba3, HasItsValuesChecked) {
  wane::testing::mamba3_problem<float> p({1, 6, 2, 4, 5});
  wane::check_values(p.make(0, 6));
  p.D.values[1] = NAN;
  support::expect_error({"D at batch 0, time 0, head 1"},
                        [&] { wane::check_values(p.make(0, 6)); });
  p.D.values[1] = 0;
  p.trapezoid.values[3] = NAN;
  support::expect_error({"trapezoid at batch 0, time 1, head 1, channel 0 is", "must be finite"},
                        [&] { wane::check_values(p.make(0, 6)); });
}

TEST(Mamba3, RefusesShapesThatDoNotFit) {
  wane::testing::mamba3_problem<float, 2> p({1, 6, 2, 4, 5});
  auto const with = [&](auto const& change) {
    auto in = p.in(0, 6);
    change(in);
    mamba3<float> const op(in, p.gate.part(0, 6));
    op.check_inputs();
  };
  support::expect_error(
      {"angle has channels 3; there must be at most half as many as rows of B, 4"},
      [&] { with([](auto& in) { in.angle.extent[3] = 3; }); });
  support::expect_error({"angle has channels -1; there must be at most"},
                        [&] { with([](auto& in) { in.angle.extent[3] = -1; }); });
  support::expect_error({"x has heads 3; they must be a multiple of those of delta, 2"}, [&] {
    with([](auto& in) { in.x.extent[2] = 3, in.B.extent[2] = in.C.extent[2] = 3; });
  });
  support::expect_error({"B_bias has shape [3, 4]; it must be [H R, N] = [4, 4]"},
                        [&] { with([](auto& in) { in.B_bias.extent[0] = 3; }); });
  support::expect_error({"B has groups 1; they must be 2, the rank, times"},
                        [&] { with([](auto& in) { in.B.extent[2] = in.C.extent[2] = 1; }); });
}

}  // namespace
