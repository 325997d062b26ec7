// hgrn2 is S <- diag(e^g) S + (1 - e^g) v^T, y = scale S^T q, and keeps every law.
// SPDX-License-Identifier: MIT
#include "wane/operators/hgrn2.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/gated_problems.hpp"
#include "support/laws_hold.hpp"
#include "support/memory_case.hpp"
#include "support/naive_gated.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace {

using support::expect_error, support::memory_case;
using wane::hgrn2, wane::index, wane::sequence_view;
using wane::testing::hgrn2_problem, wane::testing::memory_size;

static_assert(wane::scannable<hgrn2<float>> && wane::reads_lanes<hgrn2<float>>);
static_assert(wane::has_row_log_decay<wane::token_of<hgrn2<float>>>);
static_assert(!wane::has_erase<wane::token_of<hgrn2<float>>>);

template <class Io>
void expect_formula(memory_case<Io>& c) {
  auto inputs = c.naive();
  inputs.key = c.query, inputs.log_decay = c.row_decay;
  c.expect(hgrn2<Io>({.query = c.query, .value = c.value}, c.row_decay, c.shape.options), inputs,
           [](auto&... token) { return support::naive_hgrn2<double>(token...); });
}

template <class Io>
class Hgrn2 : public testing::Test {};
using Types = testing::Types<float, double, wane::bfloat16>;
TYPED_TEST_SUITE(Hgrn2, Types);

TYPED_TEST(Hgrn2, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) { expect_formula(c); });
}

TYPED_TEST(Hgrn2, IsItsFormulaHoweverItsGatesForget) {
  double const extremes[] = {0, -HUGE_VAL, -1e-9, -205};
  for (double only : {0., -HUGE_VAL, -1e-9, -205., 1.}) {
    memory_case<TypeParam> c({2, 70, 2, 5, 9});
    support::random_values random;
    c.row_decay.fill([&](auto...) { return only <= 0 ? only : extremes[random.bits() % 4]; });
    expect_formula(c);
  }
}

// The key is read against -expm1(g) where 1 - e^g would be 0 or have few digits.
TEST(TheKeyOfHgrn2, IsExactHoweverSmallItsLogDecay) {
  float const one = 1;
  for (float g : {-1e-9f, -1e-4f, -0.1f, -0.34f, -0.35f, -0.7f, -3.f, -80.f, -200.f, -HUGE_VALF}) {
    hgrn2<float> const op({.query = {&one, 1, 1, 1, 1}, .value = {&one, 1, 1, 1, 1}},
                          {&g, 1, 1, 1, 1});
    auto const exact = -std::expm1(static_cast<double>(g));
    EXPECT_NEAR(op.at({}).key(index{}) / exact, 1, 3 * 0x1p-24) << g;
  }
}

// One channel whose gate lies between: h <- f h + (1 - f) v is a mean of the values.
TEST(Hgrn2OfOneRow, IsAMeanOfItsValues) {
  std::vector<float> const query(100, 1), value(100, 3), g(100, -0.01f);
  std::vector<float> y(100);
  wane::recurrent_state<float> state(1, 1, 1, 1);
  state.values()[0] = 3;
  wane::run(
      hgrn2<float>({.query = {query.data(), 1, 100, 1, 1}, .value = {value.data(), 1, 100, 1, 1}},
                   {g.data(), 1, 100, 1, 1}),
      sequence_view<float>(y.data(), 1, 100, 1, 1),
      wane::run_options<float>{.initial = std::as_const(state)});
  for (float each : y) EXPECT_NEAR(each, 3, 3e-6);
}

memory_size const sizes[] = {
    {1, 200, 3, 1, 1},
    {2, 70, 2, 3, 17},
    {1, 66, 1, 65, 33},
    {1, 70, 6, 5, 4, 2},
    {1, 70, 6, 5, 4, 3, {.groups = wane::head_groups::tiled}},
    {1, 90, 2, 8, 9, 0, {.scale = -0.7, .normalise = true, .epsilon = 0.01}}};

TEST(Hgrn2, KeepsTheLaws) {
  for (memory_size const& size : sizes) {
    support::expect_to_hold(check_laws(hgrn2_problem<float>(size), 1e-6));
    support::expect_to_hold(check_laws(hgrn2_problem<double>(size), 1e-12));
  }
}

TEST(Hgrn2, HasTheGradientsOfAllInputs) {
  for (memory_size const& size : {memory_size{1, 40, 1, 1, 1},
                                  {2, 50, 2, 3, 5},
                                  {1, 17, 1, 17, 8},
                                  {1, 35, 6, 3, 4, 2},
                                  {1, 40, 2, 5, 9, 0, {.scale = -0.7, .normalise = true}}}) {
    hgrn2_problem<double> problem(size);
    support::expect_to_hold(wane::testing::check_adjoint_laws(problem));
  }
}

// dL/dg through the key is -e^g times that of the key; where g is 0 nothing is written.
TEST(Hgrn2, HasTheGradientsOfGatesAtTheEndsOfTheirRange) {
  std::vector<double> const query{1, 1}, value{2, 5}, dy{1, 1};
  for (double g : {0., -1e-9, -50., -HUGE_VAL}) {
    std::vector<double> const gates{0, g};
    std::vector<double> found(2, NAN);
    sequence_view<double const> const of_query(query.data(), 1, 2, 1, 1);
    wane::recurrent_state<double> start(1, 1, 1, 1);
    start.values()[0] = 7;
    wane::adjoint(hgrn2<double>({.query = of_query, .value = {value.data(), 1, 2, 1, 1}},
                                {gates.data(), 1, 2, 1, 1}),
                  sequence_view<double const>(dy.data(), 1, 2, 1, 1),
                  {.log_decay = {found.data(), 1, 2, 1, 1}}, {.initial = std::as_const(start)});
    // y_1 = 7 f_1 + 2 (1 - f_1), y_2 = f_2 y_1 + 5 (1 - f_2), f_1 = 1
    EXPECT_NEAR(found[1], std::exp(g) * (7 - 5), 1e-15) << g;
    EXPECT_NEAR(found[0], (1 + std::exp(g)) * (7 - 2), 1e-14) << g;
  }
}

// What a layer of flash-linear-attention does: the gate is the logarithm of a sigmoid.
TEST(Hgrn2WithAGate, IsHgrn2OfTheGatesLogDecays) {
  memory_case<double> c({1, 40, 2, 5, 3});
  wane::log_sigmoid_gate const gate(c.key.view(), {.normaliser = 1});
  auto const op = hgrn2({.query = c.query.view(), .value = c.value.view()}, gate);
  support::tensor<double> given(1, 40, 2, 5);
  given.fill(
      [&](auto b, auto t, auto h, auto i) { return -std::log1p(std::exp(-c.key(b, t, h, i))); });
  auto inputs = c.naive();
  inputs.key = c.query, inputs.log_decay = given;
  c.expect(op, inputs, [](auto&... token) { return support::naive_hgrn2<double>(token...); });
}

TEST(Hgrn2, RefusesWhatDoesNotFit) {
  float const zeros[200] = {};
  sequence_view<float const> const query(zeros, 2, 3, 4, 5), value(zeros, 2, 3, 4, 6);
  sequence_view<float const> const no_data(nullptr, 2, 3, 4, 5);
  using in = wane::hgrn2_inputs<float>;
  auto const refused = [&](std::vector<std::string> const& why, in const& given,
                           sequence_view<float const> const& gate,
                           wane::keyed_options const& options = {}) {
    std::vector<float> y(144, -7.f);
    expect_error(why, [&] {
      wane::run(hgrn2<float>(given, gate, options), sequence_view<float>(y.data(), 2, 3, 4, 6));
    });
    EXPECT_EQ(y, std::vector<float>(144, -7.f));
  };
  refused({"query is not given"}, {.value = value}, query);
  refused({"value is not given"}, {.query = query}, query);
  refused({"log_decay is not given"}, {.query = query, .value = value}, {});
  refused({"query has heads 3", "must divide that of value, 4"},
          {.query = {zeros, 2, 3, 3, 5}, .value = value}, query);
  refused({"query has batch 1", "must be 2"}, {.query = {zeros, 1, 3, 4, 5}, .value = value},
          query);
  refused({"query has time 2", "must be 3"}, {.query = {zeros, 2, 2, 4, 5}, .value = value}, query);
  refused({"log_decay", "6", "must be 5"}, {.query = query, .value = value}, value);
  refused({"query", "no data"}, {.query = no_data, .value = value}, query);
  refused({"scale", "nan", "finite"}, {.query = query, .value = value}, query, {.scale = NAN});
}

}  // namespace
