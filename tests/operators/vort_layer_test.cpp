// VORT's layer is retrieval and local attention added up, in one run, in steps and backward.
// SPDX-License-Identifier: MIT
#include "wane/operators/vort_layer.hpp"

#include <gtest/gtest.h>

#include "support/attention_case.hpp"
#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/vort_problem.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

using support::tensor;

static_assert(diagonal_recurrence<vort_layer<float>>);
static_assert(std::is_same_v<vort_layer<bfloat16>::accumulate, float>);
// A retrieval in double beside attention in float: their sum is one in double.
static_assert(std::is_same_v<vort_layer<float, normaliser::decayed, double>::accumulate, double>);

constexpr index window = vort_problem<float>::window, keys = vort_problem<float>::keys;

// Equation (17) in double, with (16) or (13), as a sum over the pairs with tokens from `first` on.
template <normaliser Normaliser>
std::vector<double> naive(vort_problem<double, Normaliser> const& p, index first, index t,
                          index h) {
  auto const in = p.in(0, p.time());
  auto const q = p.near_query.view(), k = p.near_key.view();
  auto const table = p.weights.table();
  std::vector<double> near(static_cast<std::size_t>(in.value.extent[3])), y = near;
  double above = 0, below = 0;
  for (index i = first; i <= t; ++i) {
    double match = 0, score = 0;
    for (index f = 0; f < in.key.extent[3]; ++f) match += in.query(0, t, h, f) * in.key(0, i, h, f);
    for (index f = 0; f < keys; ++f) score += q(0, t, h, f) * k(0, i, h, f) / std::sqrt(keys);
    double const attention = t - i < window ? std::exp(score) : 0;
    auto const order =
        table.at(p.alpha.values[static_cast<std::size_t>(i * in.value.extent[2] + h)]);
    double weight = i == t ? order.weight(table.nodes()) : 0;
    for (index s = 0; s < table.nodes(); ++s)
      weight += order.weight(s) * std::exp(double(t - i) * table.log_decay(0, 0, 0, s));
    above += attention, below += match * (Normaliser == normaliser::undecayed ? 1 : weight);
    for (std::size_t j = 0; j < y.size(); ++j) {
      double const v = in.value(0, i, h, static_cast<index>(j));
      near[j] += attention * v, y[j] += match * weight * v;
    }
  }
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = y[j] / std::max(below, 2.) + near[j] / above;
  return y;
}

template <normaliser Normaliser>
void expect_equation17() {
  constexpr index T = 120, H = 2, V = 5;
  vort_problem<double, Normaliser> const p({1, T, H, 4, V});
  std::vector<double> y(T * H * V);
  sequence_view<double> const to(y.data(), 1, T, H, V);
  for (std::vector<index> const& starts : {std::vector<index>{}, {0, 3, 3, 50, T}}) {
    run(p.make(0, T), to, run_options<double>{.packed = {starts}});
    support::nearness near;
    for (index h = 0; h < H; ++h)
      for (index t = 0; t < T; ++t) {
        index first = 0;
        for (index start : starts) first = start <= t ? start : first;
        auto const expected = naive(p, first, t, h);
        for (index j = 0; j < V; ++j)
          near.add(to(0, t, h, j), expected[static_cast<std::size_t>(j)]);
      }
    EXPECT_LT(near.both(), 1e-13);  // some eps
  }
}

TEST(VortLayer, IsEquation17) { expect_equation17<normaliser::decayed>(); }
TEST(VortLayer, IsEquation17With13) { expect_equation17<normaliser::undecayed>(); }

memory_size const sizes[] = {{1, 90, 2, 5, 7}, {2, 66, 2, 3, 17}, {1, 40, 1, 4, 1}};

TEST(VortLayer, KeepsTheLawsOfARecurrence) {
  for (memory_size const& size : sizes) {
    support::expect_to_hold(check_laws(vort_problem<float>(size), 1e-6));
    support::expect_to_hold(check_laws(vort_problem<double>(size), 1e-13));
    support::expect_to_hold(check_laws(vort_problem<double, normaliser::undecayed>(size), 1e-13));
  }
}

// The gradient of the final ring is part of the gradients of the last keys and values.
TEST(VortLayer, KeepsTheLawsOfTheAdjoint) {
  for (memory_size const& size : {memory_size{2, 30, 2, 3, 5}, memory_size{1, 4, 3, 3, 2}})
    for (index seen : {0, 4, 50}) {
      vort_problem<double> p(size);
      p.seen = seen;
      support::expect_to_hold(check_adjoint_laws(p));
      vort_problem<double, normaliser::undecayed> q(size);
      q.seen = seen;
      support::expect_to_hold(check_adjoint_laws(q));
    }
}

// Each of the packed sequences has the gradients that it has alone, also those from its final
// state.
TEST(VortLayerAdjoint, OfPackedSequencesIsThatOfEach) {
  constexpr index T = 60, H = 2, V = 5;
  std::vector<index> const starts{0, 4, 4, 41, T};
  vort_problem<double, normaliser::undecayed> packed({1, T, H, 3, V}), alone({1, T, H, 3, V});
  support::random_values random(9);
  std::vector<double> dy(T * H * V);
  for (double& x : dy) x = random.uniform(-1, 1);
  sequence_view<double const> const g(dy.data(), 1, T, H, V);
  recurrent_state<double> final(packed.make(0, T), 4);
  for (double& x : final.values()) x = random.uniform(-1, 1);
  state_view<double const> const final_gradient = std::as_const(final);
  adjoint(packed.make(0, T), g, packed.gradients(),
          adjoint_options<double>{.final_gradient = final_gradient, .packed = {starts}});
  for (index n = 0; n < 4; ++n) {
    index const begin = starts[static_cast<std::size_t>(n)],
                end = starts[static_cast<std::size_t>(n + 1)];
    auto own = final_gradient;
    own.values.data += n * own.values.stride[0], own.values.extent[0] = 1, own.positions = nullptr;
    auto to = alone.gradients();
    auto const cut = [&](auto& x) { x = x.tokens(begin, end); };
    cut(to.first.query), cut(to.first.key), cut(to.first.value), cut(to.first.alpha);
    cut(to.second.query), cut(to.second.key), cut(to.second.value);
    adjoint(alone.make(begin, end), g.tokens(begin, end), to,
            adjoint_options<double>{.final_gradient = own});
  }
  auto const is = packed.input_gradients(), must_be = alone.input_gradients();
  for (std::size_t i = 0; i < is.size(); ++i) {
    support::nearness near;
    for (std::size_t k = 0; k < is[i].size(); ++k) near.add(is[i][k], must_be[i][k]);
    EXPECT_LE(near.both(), 1e-14) << i;
  }
}

// In 16 bits the parts are added up before they are rounded: once, by half an ulp.
template <class Io>
void expect_rounded_once(double bound) {
  constexpr index T = 100, H = 2, F = 4, V = 7;
  vort_problem<float> const exact({1, T, H, F, V});
  auto const narrow = [](auto const& values) {
    return std::vector<Io>(values.begin(), values.end());
  };
  auto const q = narrow(exact.query.input.values), k = narrow(exact.key.input.values),
             v = narrow(exact.value.values), alpha = narrow(exact.alpha.values),
             near_q = narrow(exact.near_query.values), near_k = narrow(exact.near_key.values);
  auto const make = [&]<class To>(auto const& as) {
    auto const of = [&](auto const& x, index n) {
      return sequence_view<To const>(as(x), 1, T, H, n);
    };
    return vort_layer<To>{
        {{.query = of(q, F), .key = of(k, F), .value = of(v, V), .alpha = {as(alpha), 1, T, H}},
         exact.weights.table()},
        {{.query = of(near_q, keys), .key = of(near_k, keys), .value = of(v, V)},
         {.window = window}}};
  };
  std::vector<std::vector<float>> wide;
  wide.reserve(6);
  std::vector<float> y(T * H * V);
  std::vector<Io> rounded(y.size()), stepped(y.size());
  run(make.template operator()<float>([&](auto const& x) {
    wide.emplace_back();
    for (Io each : x) wide.back().push_back(static_cast<float>(each));
    return wide.back().data();
  }),
      sequence_view<float>(y.data(), 1, T, H, V));
  auto const op = make.template operator()<Io>([](auto const& x) { return x.data(); });
  run(op, sequence_view<Io>(rounded.data(), 1, T, H, V));
  recurrent_state<float> state(op);
  step(op, sequence_view<Io>(stepped.data(), 1, T, H, V), state);
  for (std::size_t i = 0; i < y.size(); ++i) {
    double const each = static_cast<double>(y[i]),
                 is = static_cast<double>(static_cast<float>(rounded[i])),
                 by_step = static_cast<double>(static_cast<float>(stepped[i]));
    EXPECT_LE(std::abs(is - each), bound * std::abs(each) + 1e-6);
    EXPECT_LE(std::abs(by_step - each), bound * std::abs(each) + 1e-6);
  }
}
TEST(VortLayer, OfSixteenBitsIsRoundedOnce) {
  expect_rounded_once<bfloat16>(0x1p-8);
  expect_rounded_once<float16>(0x1p-11);
}

TEST(VortLayerErrors, SayWhatDoesNotFit) {
  vort_problem<float> p({2, 9, 2, 3, 5});
  auto const op = p.make(0, 9);
  using layer = vort_layer<float>;
  std::vector<float> y(2 * 9 * 2 * 5);
  sequence_view<float> const to(y.data(), 2, 9, 2, 5);
  support::expect_error({"second part", "time 8", "must be 9"},
                        [&] { layer(op.first(), p.make(0, 8).second()); });
  auto const in = p.in(0, 9);
  support::expect_error({"second part", "output columns 6", "must be 5"}, [&] {
    layer(op.first(),
          {{.query = in.query, .key = in.key, .value = in.value}, {.window = 4, .entropy = true}});
  });
  recurrent_state<float> state(op), small(2, 2, 1, 7);
  support::expect_error({"state", "columns 7"}, [&] { step(op, to, small); });
  auto const gradients = p.gradients();
  std::fill(p.value.gradient.begin(), p.value.gradient.end(), -7.f);
  auto const refuse = [&](std::vector<std::string> const& pieces,
                          adjoint_options<float> const& options, layer::gradients const& of) {
    support::expect_error(pieces, [&] { adjoint(op, to, of, options); });
  };
  state_view<float const> without_positions = std::as_const(state);
  without_positions.positions = nullptr;
  refuse({"initial has no positions"}, {.initial = without_positions}, gradients);
  auto wrong = gradients;
  wrong.second.key.extent[3] = 4;
  refuse({"gradient of key", "rows 4", "must be 3"}, {}, wrong);
  wrong = gradients, wrong.first.alpha.extent[1] = 4;
  refuse({"gradient of alpha", "time 4", "must be 9"}, {}, wrong);
  EXPECT_EQ(p.value.gradient, std::vector<float>(p.value.gradient.size(), -7.f))
      << "written in spite of the error";
}

}  // namespace
}  // namespace wane::testing
