// gate_adjoint against central differences, in every layout, and at its edges.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/gate_problem.hpp"
#include "support/tensor.hpp"
#include "wane/operators/gates/gates.hpp"

namespace {

using wane::index;

using support::gate_problem;
using support::input;
using problem = gate_problem<double>;

TEST(GateAdjoint, OfSoftplusByHeadIsTheDerivative) {
  problem p;
  auto const make = [&] {
    return wane::softplus_gate(p.raw_heads(), {.log_rate = p.of_heads(p.log_rate.values),
                                               .bias = p.of_heads(p.bias.values),
                                               .taper = {p.of_heads(p.alpha.values)}});
  };
  wane::gate_adjoint(make(), p.by_head(p.weight),
                     {.raw = p.by_head(p.raw.gradient),
                      .log_rate = p.of_heads(p.log_rate.gradient),
                      .bias = p.of_heads(p.bias.gradient),
                      .taper = p.of_heads(p.alpha.gradient)});
  p.expect_gradient(p.raw, p.batch * p.time * p.heads, make);
  for (auto* x : {&p.log_rate, &p.bias, &p.alpha}) p.expect_gradient(*x, p.heads, make);
}

TEST(GateAdjoint, OfSoftplusByRowSharesWhatAHeadHasOneOf) {
  problem p;
  index const seen[] = {1000, 5};
  p.where = {.direction = wane::direction::reverse, .seen = seen};
  auto const make = [&] {
    return wane::softplus_gate(p.raw_rows(), {.log_rate = p.of_heads(p.log_rate.values),
                                              .bias = p.of_rows(p.bias.values),
                                              .taper = {p.of_heads(p.alpha.values), 64}});
  };
  wane::gate_adjoint(make(), p.by_row(p.weight),
                     {.raw = p.by_row(p.raw.gradient),
                      .log_rate = p.of_heads(p.log_rate.gradient),
                      .bias = p.of_rows(p.bias.gradient),
                      .taper = p.of_heads(p.alpha.gradient)},
                     p.where);
  p.expect_gradient(p.raw, p.raw.values.size(), make);
  p.expect_gradient(p.bias, p.heads * p.rows, make);
  for (auto* x : {&p.log_rate, &p.alpha}) p.expect_gradient(*x, p.heads, make);
}

TEST(GateAdjoint, OfSigmoidIsTheDerivative) {
  problem p;
  auto const make = [&] {
    return wane::sigmoid_gate(
        p.raw_rows(), {.bias = p.of_rows(p.bias.values), .taper = {p.of_rows(p.alpha.values)}});
  };
  wane::gate_adjoint(make(), p.by_row(p.weight),
                     {.raw = p.by_row(p.raw.gradient),
                      .bias = p.of_rows(p.bias.gradient),
                      .taper = p.of_rows(p.alpha.gradient)});
  p.expect_gradient(p.raw, p.raw.values.size(), make);
  for (auto* x : {&p.bias, &p.alpha}) p.expect_gradient(*x, p.heads * p.rows, make);
}

TEST(GateAdjoint, OfLogSigmoidAndOfTaperedLogsIsTheDerivative) {
  problem p;
  auto const gla = [&] {
    return wane::log_sigmoid_gate(p.raw_rows(), {.log_rate = p.of_heads(p.log_rate.values),
                                                 .taper = {p.of_rows(p.alpha.values)}});
  };
  wane::gate_adjoint(gla(), p.by_row(p.weight),
                     {.raw = p.by_row(p.raw.gradient),
                      .log_rate = p.of_heads(p.log_rate.gradient),
                      .taper = p.of_rows(p.alpha.gradient)});
  p.expect_gradient(p.raw, p.raw.values.size(), gla);
  p.expect_gradient(p.log_rate, p.heads, gla);
  p.expect_gradient(p.alpha, p.heads * p.rows, gla);
  auto const tapered = [&] {
    return wane::tapered_gate(p.raw_rows(), {p.of_rows(p.alpha.values)});
  };
  wane::gate_adjoint(tapered(), p.by_row(p.weight),
                     {.raw = p.by_row(p.raw.gradient), .taper = p.of_rows(p.alpha.gradient)});
  p.expect_gradient(p.raw, p.raw.values.size(), tapered);
  p.expect_gradient(p.alpha, p.heads * p.rows, tapered);
}

TEST(GateAdjoint, OfConstantsIsTheDerivative) {
  problem p;
  auto const logs = [&] {
    return wane::constant_gate<double>(p.of_heads(p.bias.values), {p.of_heads(p.alpha.values)});
  };
  wane::gate_adjoint(logs(), p.by_head(p.weight),
                     {.bias = p.of_heads(p.bias.gradient), .taper = p.of_heads(p.alpha.gradient)});
  for (auto* x : {&p.bias, &p.alpha}) p.expect_gradient(*x, p.heads, logs);
  auto const rates = [&] {
    return wane::constant_rate_gate<double>(p.of_heads(p.log_rate.values),
                                            {p.of_heads(p.alpha.values)});
  };
  wane::gate_adjoint(
      rates(), p.by_head(p.weight),
      {.log_rate = p.of_heads(p.log_rate.gradient), .taper = p.of_heads(p.alpha.gradient)});
  for (auto* x : {&p.log_rate, &p.alpha}) p.expect_gradient(*x, p.heads, rates);
}

TEST(GateAdjoint, IsTheSameInEveryLayout) {
  gate_problem<float> p;
  auto const gradients = [&](support::arrangement how) {
    support::tensor<float> raw(2, 7, 3, 19, how), weight(2, 7, 3, 19, how), to(2, 7, 3, 19, how);
    raw.fill([&](index b, index t, index h, index i) { return p.raw_rows()(b, t, h, i); });
    weight.fill([&](index b, index t, index h, index i) { return p.by_row(p.weight)(b, t, h, i); });
    wane::sequence_view<float const> const input = raw;
    wane::gate_adjoint(wane::sigmoid_gate(input, {.bias = p.of_heads(p.bias.values)}),
                       weight.view(), {.raw = to.view(), .bias = p.of_heads(p.bias.gradient)});
    EXPECT_TRUE(to.margins_untouched());
    std::vector<float> found(p.bias.gradient.begin(), p.bias.gradient.begin() + 3);
    to.for_each([&](index b, index t, index h, index i) { found.push_back(to(b, t, h, i)); });
    return found;
  };
  auto const plain = gradients(support::arrangement::plain);
  for (auto how : support::all_arrangements) {
    support::nearness near;
    auto const found = gradients(how);
    for (std::size_t n = 0; n < plain.size(); ++n)
      near.add(static_cast<double>(found[n]), static_cast<double>(plain[n]));
    EXPECT_LT(near.both(), 2e-7);  // a vector may contract where a number does not
  }
}

TEST(GateAdjoint, OfNoTokensIsZero) {
  problem p;
  wane::gate_adjoint(
      wane::softplus_gate(p.raw_heads().tokens(0, 0), {.log_rate = p.of_heads(p.log_rate.values)}),
      p.by_head(p.weight).tokens(0, 0), {.log_rate = p.of_heads(p.log_rate.gradient)});
  for (index h = 0; h < p.heads; ++h) EXPECT_EQ(p.of_heads(p.log_rate.gradient)(h), 0);
}

TEST(GateAdjoint, OfAResetIsNothing) {
  problem p;
  p.raw.values[0] = -std::numeric_limits<double>::infinity();
  p.weight[0] = 0;  // the gradient that an operator gives for a reset
  wane::gate_adjoint(wane::tapered_gate(p.raw_heads(), {p.of_heads(p.alpha.values)}),
                     p.by_head(p.weight),
                     {.raw = p.by_head(p.raw.gradient), .taper = p.of_heads(p.alpha.gradient)});
  EXPECT_EQ(p.raw.gradient[0], 0);
  EXPECT_TRUE(std::isfinite(p.alpha.gradient[0]));
}

}  // namespace
