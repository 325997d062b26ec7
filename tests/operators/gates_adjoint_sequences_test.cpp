// gate_adjoint over packed, padded, carried and reversed sequences, in float, and on threads.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.hpp"
#include "support/gate_problem.hpp"
#include "support/tensor.hpp"
#include "wane/operators/gates/gates.hpp"

namespace {

using support::gate_problem;
using support::input;
using wane::index;
using problem = gate_problem<double>;

// A gate of rows over 14 tokens of one sequence of the batch, given as numbers.
template <class T>
struct packed_problem : gate_problem<T> {
  using base = gate_problem<T>;
  static constexpr index tokens = base::batch * base::time;

  wane::sequence_view<T> all(std::vector<T>& x) const {
    return {x.data(), 1, tokens, base::heads, base::rows};
  }
  auto gate(index begin, index end) {
    wane::sequence_view<T const> const input = all(this->raw.values);
    return wane::softplus_gate(input.tokens(begin, end),
                               {.log_rate = base::of_rows(this->log_rate.values),
                                .bias = base::of_rows(this->bias.values),
                                .taper = {base::of_rows(this->alpha.values)}});
  }
};

TEST(GateAdjoint, OfPackedSequencesIsTheSumOfSeparateOnes) {
  packed_problem<double> p;
  index const starts[] = {0, 5, 5, 6, 14}, seen[] = {10, 20, 30, 40};
  wane::gate_adjoint(p.gate(0, 14), p.all(p.weight),
                     {.raw = p.all(p.raw.gradient),
                      .log_rate = p.of_rows(p.log_rate.gradient),
                      .bias = p.of_rows(p.bias.gradient),
                      .taper = p.of_rows(p.alpha.gradient)},
                     {.packed = {starts}, .seen = seen});
  packed_problem<double> apart;
  std::vector<double> total(p.alpha.gradient.size());
  for (std::size_t n = 0; n < 4; ++n) {
    wane::gate_adjoint(apart.gate(starts[n], starts[n + 1]),
                       apart.all(apart.weight).tokens(starts[n], starts[n + 1]),
                       {.raw = apart.all(apart.raw.gradient).tokens(starts[n], starts[n + 1]),
                        .taper = apart.of_rows(apart.alpha.gradient)},
                       {.seen = &seen[n]});
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += apart.alpha.gradient[i];
  }
  EXPECT_EQ(p.raw.gradient, apart.raw.gradient);
  support::nearness near;
  for (std::size_t i = 0; i < total.size(); ++i) near.add(p.alpha.gradient[i], total[i]);
  EXPECT_LT(near.both(), 1e-15);  // the same numbers, added in another order
}

TEST(GateAdjoint, OfAPaddedBatchIsTheSumOfItsSequences) {
  problem p, apart;
  index const lengths[] = {4, 7}, seen[] = {10, 20};
  for (auto way : {wane::direction::forward, wane::direction::reverse}) {
    auto const gate = [](problem& of, index batch, index begin, index end) {
      wane::sequence_view<double const> input = of.raw_rows().tokens(begin, end);
      if (batch >= 0) input.data += batch * input.stride[0], input.extent[0] = 1;
      return wane::softplus_gate(input, {.log_rate = of.of_rows(of.log_rate.values),
                                         .bias = of.of_rows(of.bias.values),
                                         .taper = {of.of_rows(of.alpha.values)}});
    };
    std::vector<double> total(p.alpha.gradient.size());
    apart.raw.gradient.assign(apart.raw.gradient.size(), -7);
    for (index b = 0; b < 2; ++b) {
      auto const part = [&](std::vector<double>& x) {
        auto of = apart.by_row(x).tokens(0, lengths[b]);
        return of.data += b * of.stride[0], of.extent[0] = 1, of;
      };
      wane::gate_adjoint(
          gate(apart, b, 0, lengths[b]), part(apart.weight),
          {.raw = part(apart.raw.gradient), .taper = apart.of_rows(apart.alpha.gradient)},
          {.direction = way, .seen = &seen[b]});
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += apart.alpha.gradient[i];
    }
    p.raw.gradient.assign(p.raw.gradient.size(), -7);
    for (index t = 4; t < 7; ++t)
      for (index h = 0; h < p.heads; ++h)
        for (index i = 0; i < p.rows; ++i)
          p.by_row(p.weight)(0, t, h, i) = p.by_row(p.raw.values)(0, t, h, i) = NAN;
    wane::gate_adjoint(gate(p, -1, 0, 7), p.by_row(p.weight),
                       {.raw = p.by_row(p.raw.gradient), .taper = p.of_rows(p.alpha.gradient)},
                       {.lengths = lengths, .direction = way, .seen = seen});
    EXPECT_EQ(p.raw.gradient, apart.raw.gradient);
    support::nearness near;
    for (std::size_t i = 0; i < total.size(); ++i) near.add(p.alpha.gradient[i], total[i]);
    EXPECT_LT(near.both(), 1e-15);  // the same numbers, added in another order
  }
}

TEST(GateAdjoint, InFloatIsThatInDoubleRounded) {
  packed_problem<float> p;
  packed_problem<double> exact;  // the same random numbers
  auto const widen = [](std::vector<double>& to, std::vector<float> const& from) {
    to.assign(from.begin(), from.end());
  };
  widen(exact.raw.values, p.raw.values), widen(exact.weight, p.weight);
  widen(exact.log_rate.values, p.log_rate.values), widen(exact.bias.values, p.bias.values);
  widen(exact.alpha.values, p.alpha.values);
  index const seen[] = {100000};
  auto const run = [&](auto& of) {
    // The gradient of the raw input is written over that of the log decays.
    wane::gate_adjoint(of.gate(0, 14), of.all(of.weight),
                       {.raw = of.all(of.weight),
                        .log_rate = of.of_rows(of.log_rate.gradient),
                        .bias = of.of_rows(of.bias.gradient),
                        .taper = of.of_rows(of.alpha.gradient)},
                       {.seen = seen});
  };
  run(p), run(exact);
  auto const expect_near = [](std::vector<float> const& is, std::vector<double> const& wanted) {
    support::nearness near;
    for (std::size_t i = 0; i < is.size(); ++i) near.add(static_cast<double>(is[i]), wanted[i]);
    EXPECT_LT(near.both(), 3e-7);  // some roundings of 6e-8 in each term
  };
  expect_near(p.weight, exact.weight), expect_near(p.log_rate.gradient, exact.log_rate.gradient);
  expect_near(p.bias.gradient, exact.bias.gradient);
  expect_near(p.alpha.gradient, exact.alpha.gradient);
}

// 3 x 700 tokens are several pieces, one of which ends in another sequence than it begins in.
TEST(GateAdjoint, HasTheSameBitsForAnyThreadsAndTheSumsOfLongSequences) {
  constexpr index batch = 3, time = 700, heads = 2, rows = 5;
  support::random_values random(9);
  input<float> raw(batch * time * heads * rows, -4, -0.1, random);
  input<float> weight(batch * time * heads * rows, -1, 1, random);
  input<float> bias(heads, -2, -0.1, random), alpha(heads * rows, 0.1, 0.9, random);
  auto const tensor = [](auto& x) {
    return wane::sequence_view<float>(x.data(), batch, time, heads, rows);
  };
  wane::sequence_view<float const> const in = tensor(raw.values);
  auto const gate = wane::sigmoid_gate(
      in, {.bias = {bias.values.data(), heads}, .taper = {{alpha.values.data(), heads, rows}}});
  index const lengths[] = {700, 1, 650};
  auto const gradients = [&](int threads) {
    std::fill(raw.gradient.begin(), raw.gradient.end(), -7.f);
    wane::gate_adjoint(gate, tensor(weight.values),
                       {.raw = tensor(raw.gradient),
                        .bias = wane::view<float, 1>(bias.gradient.data(), heads),
                        .taper = wane::view<float, 2>(alpha.gradient.data(), heads, rows)},
                       {.lengths = lengths, .threads = threads});
    std::vector<float> all = raw.gradient;
    all.insert(all.end(), bias.gradient.begin(), bias.gradient.end());
    all.insert(all.end(), alpha.gradient.begin(), alpha.gradient.end());
    return all;
  };
  auto const one = gradients(1);
  for (int threads : {0, 2, 3, 7}) EXPECT_EQ(gradients(threads), one);
  support::nearness near;
  for (index h = 0; h < heads; ++h) {
    double by_bias = 0;  // the sum of the raw input's gradients over tokens and rows
    for (index b = 0; b < batch; ++b)
      for (index t = 0; t < lengths[b]; ++t)
        for (index i = 0; i < rows; ++i)
          by_bias += static_cast<double>(tensor(raw.gradient)(b, t, h, i));
    near.add(static_cast<double>(bias.gradient[static_cast<std::size_t>(h)]), by_bias);
  }
  EXPECT_LT(near.both(), 1e-6);  // roundings of the terms, 6e-8, and of some cancellation
  support::expect_error({"threads is -1"}, [&] { gradients(-1); });
}

}  // namespace
