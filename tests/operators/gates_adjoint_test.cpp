// gate_adjoint against central differences, and over packed, carried and reversed sequences.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/operators/gates.hpp"

namespace {

using wane::index;

// Numbers of one input and their gradient, which begins as NaN.
template <class T>
struct input {
  std::vector<T> values, gradient;

  input(index size, double low, double high, support::random_values& random) {
    for (index n = 0; n < size; ++n) values.push_back(static_cast<T>(random.uniform(low, high)));
    gradient.assign(values.size(), std::numeric_limits<T>::quiet_NaN());
  }
};

// 2 x 7 tokens, 3 heads of 19 rows (or of one), and all that gates may be made of.
template <class T>
struct gate_problem {
  static constexpr index batch = 2, time = 7, heads = 3, rows = 19;
  support::random_values random;
  input<T> raw{batch * time * heads * rows, -4, -0.1, random};
  input<T> log_rate{heads * rows, -2, 1, random}, bias{heads * rows, -2, -0.1, random};
  input<T> alpha{heads * rows, 0.1, 0.9, random};
  std::vector<T> weight = input<T>(batch * time * heads * rows, -1, 1, random).values;
  wane::token_positions where;

  static wane::sequence_view<T> by_row(std::vector<T>& x) {
    return {x.data(), batch, time, heads, rows};
  }
  static wane::token_view<T> by_head(std::vector<T>& x) { return {x.data(), batch, time, heads}; }
  wane::sequence_view<T const> raw_rows() { return by_row(raw.values); }
  wane::token_view<T const> raw_heads() { return by_head(raw.values); }
  static wane::view<T, 2> of_rows(std::vector<T>& x) { return {x.data(), heads, rows}; }
  static wane::view<T, 1> of_heads(std::vector<T>& x) { return {x.data(), heads}; }

  // The place of token k of a sequence of the batch, none packed.
  wane::place<> place(index b, index t, index h) const {
    bool const forward = where.direction == wane::direction::forward;
    return {b, t, h, (where.seen ? where.seen[b] : 0) + (forward ? t + 1 : time - t)};
  }
  // The loss sum weight o log w.
  template <class Gate>
  double loss(Gate const& gate) {
    double total = 0;
    for (index b = 0; b < batch; ++b)
      for (index t = 0; t < time; ++t)
        for (index h = 0; h < heads; ++h) {
          if constexpr (Gate::by_row) {
            for (index i = 0; i < rows; ++i)
              total +=
                  static_cast<double>(by_row(weight)(b, t, h, i) * gate.read(place(b, t, h), i));
          } else {
            total += static_cast<double>(by_head(weight)(b, t, h) * gate.read(place(b, t, h)));
          }
        }
    return total;
  }
  // Compares the gradient of an input with central differences of the loss.
  template <class Make>
  void expect_gradient(input<T>& of, std::size_t count, Make const& make) {
    support::nearness near;
    for (std::size_t n = 0; n < count; n += 1 + count / 60) {
      double const step = 1e-5;
      T const here = of.values[n];
      of.values[n] = here + step;
      double const above = loss(make());
      of.values[n] = here - step;
      double const below = loss(make());
      of.values[n] = here;
      near.add(of.gradient[n], (above - below) / (2 * step));
    }
    // The third derivative leaves 1e-10, rounding 1e-16 / 1e-5 of the sum of some hundred terms.
    EXPECT_LT(near.both(), 1e-8);
  }
};

using problem = gate_problem<double>;

TEST(GateAdjoint, OfSoftplusByHeadIsTheDerivative) {
  problem p;
  auto const make = [&] {
    return wane::softplus_gate(p.raw_heads(), p.of_heads(p.log_rate.values),
                               p.of_heads(p.bias.values), {p.of_heads(p.alpha.values)});
  };
  wane::gate_adjoint(make(), p.by_head(p.weight),
                     {p.by_head(p.raw.gradient), p.of_heads(p.log_rate.gradient),
                      p.of_heads(p.bias.gradient), p.of_heads(p.alpha.gradient)});
  p.expect_gradient(p.raw, p.batch * p.time * p.heads, make);
  for (auto* x : {&p.log_rate, &p.bias, &p.alpha}) p.expect_gradient(*x, p.heads, make);
}

TEST(GateAdjoint, OfSoftplusByRowSharesWhatAHeadHasOneOf) {
  problem p;
  index const seen[] = {1000, 5};
  p.where = {.direction = wane::direction::reverse, .seen = seen};
  auto const make = [&] {
    return wane::softplus_gate(p.raw_rows(), p.of_heads(p.log_rate.values),
                               p.of_rows(p.bias.values), {p.of_heads(p.alpha.values), 64});
  };
  wane::gate_adjoint(make(), p.by_row(p.weight),
                     {p.by_row(p.raw.gradient), p.of_heads(p.log_rate.gradient),
                      p.of_rows(p.bias.gradient), p.of_heads(p.alpha.gradient)},
                     p.where);
  p.expect_gradient(p.raw, p.raw.values.size(), make);
  p.expect_gradient(p.bias, p.heads * p.rows, make);
  for (auto* x : {&p.log_rate, &p.alpha}) p.expect_gradient(*x, p.heads, make);
}

TEST(GateAdjoint, OfSigmoidIsTheDerivative) {
  problem p;
  auto const make = [&] {
    return wane::sigmoid_gate(p.raw_rows(), p.of_rows(p.bias.values), {p.of_rows(p.alpha.values)});
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
    return wane::log_sigmoid_gate(p.raw_rows(), 16, p.of_heads(p.log_rate.values),
                                  {p.of_rows(p.alpha.values)});
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
    return wane::softplus_gate(input.tokens(begin, end), base::of_rows(this->log_rate.values),
                               base::of_rows(this->bias.values),
                               {base::of_rows(this->alpha.values)});
  }
};

TEST(GateAdjoint, OfPackedSequencesIsTheSumOfSeparateOnes) {
  packed_problem<double> p;
  index const starts[] = {0, 5, 5, 6, 14}, seen[] = {10, 20, 30, 40};
  wane::gate_adjoint(p.gate(0, 14), p.all(p.weight),
                     {p.all(p.raw.gradient), p.of_rows(p.log_rate.gradient),
                      p.of_rows(p.bias.gradient), p.of_rows(p.alpha.gradient)},
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
      return wane::softplus_gate(input, of.of_rows(of.log_rate.values), of.of_rows(of.bias.values),
                                 {of.of_rows(of.alpha.values)});
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
                       {of.all(of.weight), of.of_rows(of.log_rate.gradient),
                        of.of_rows(of.bias.gradient), of.of_rows(of.alpha.gradient)},
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

TEST(GateAdjoint, IsTheSameInEveryLayout) {
  gate_problem<float> p;
  auto const gradients = [&](support::arrangement how) {
    support::tensor<float> raw(2, 7, 3, 19, how), weight(2, 7, 3, 19, how), to(2, 7, 3, 19, how);
    raw.fill([&](index b, index t, index h, index i) { return p.raw_rows()(b, t, h, i); });
    weight.fill([&](index b, index t, index h, index i) { return p.by_row(p.weight)(b, t, h, i); });
    wane::sequence_view<float const> const input = raw;
    wane::gate_adjoint(wane::sigmoid_gate(input, p.of_heads(p.bias.values)), weight.view(),
                       {.raw = to.view(), .bias = p.of_heads(p.bias.gradient)});
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
  wane::gate_adjoint(wane::softplus_gate(p.raw_heads().tokens(0, 0), p.of_heads(p.log_rate.values)),
                     p.by_head(p.weight).tokens(0, 0),
                     {.log_rate = p.of_heads(p.log_rate.gradient)});
  for (index h = 0; h < p.heads; ++h) EXPECT_EQ(p.of_heads(p.log_rate.gradient)(h), 0);
}

TEST(GateAdjoint, OfAResetIsNothing) {
  problem p;
  p.raw.values[0] = -std::numeric_limits<double>::infinity();
  p.weight[0] = 0;  // what an operator says of a token that forgot everything
  wane::gate_adjoint(wane::tapered_gate(p.raw_heads(), {p.of_heads(p.alpha.values)}),
                     p.by_head(p.weight),
                     {.raw = p.by_head(p.raw.gradient), .taper = p.of_heads(p.alpha.gradient)});
  EXPECT_EQ(p.raw.gradient[0], 0);
  EXPECT_TRUE(std::isfinite(p.alpha.gradient[0]));
}

}  // namespace
