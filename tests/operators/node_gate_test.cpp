// node_gate: the equation of its three pools, and its gradients.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <span>

#include "support/node_gate_case.hpp"
#include "wane/spectra/nodes/binary_concrete.hpp"
#include "wane/spectra/nodes/node_regulariser.hpp"

namespace {

using namespace support::node_gates;
using support::index;
using support::nearness;
using support::tensor;
using support::two;

// Logits are computed in double: the error is some eps, for any storage of the inputs.
TEST(NodeGate, IsItsEquation) {
  for (pooling pool : all_pools) {
    EXPECT_LE(gate<double>(pool).error(), 2e-15);
    EXPECT_LE(gate<float>(pool).error(), 2e-15);
    EXPECT_LE(gate<wane::bfloat16>(pool).error(), 2e-15);
    EXPECT_LE(gate<wane::float16>(pool).error(), 2e-15);
  }
}

TEST(NodeGate, ReadsAnyStrides) {
  for (auto lies : support::all_arrangements)
    for (pooling pool : all_pools) EXPECT_LE(gate<float>(pool, lies).error(), 2e-15);
}

// Scores in the thousands have no exponential in double. They are sums of 21 products of up to
// 2000, each rounded, so the logarithm of a weight errs by 1e-11.
TEST(NodeGate, AttendsByLargeScores) {
  gate<double> run(pooling::attention);
  run.query.fill([&](index i, auto...) { return run.query(i, 0, 0, 0) * 10000; });
  long double largest = 0;
  for (index t = 0; t < tokens; ++t) largest = std::max(largest, run.score(0, t));
  EXPECT_GT(largest, 1000);
  EXPECT_LE(run.error(), 1e-11);
}

// 4th-order differences of the equation in long double: h^4 is 1e-12 at h = 1e-3.
template <class Io>
void expect_gradients(gate<Io> const& of, tensor<double> const& g, received<double> const& is) {
  auto const compare = [&](tensor<Io> const& input, tensor<double> const& gradient) {
    nearness near;
    input.for_each([&](auto... at) {
      double const before = input(at...);
      auto const loss = [&](double by) {
        input(at...) = before + by;
        long double total = 0;
        g.for_each([&](index b, index k, auto...) { total += g(b, k, 0, 0) * of.naive(b, k); });
        input(at...) = before;
        return total;
      };
      long double const near_by = (loss(1e-3) - loss(-1e-3)) / 2e-3L,
                        far = (loss(2e-3) - loss(-2e-3)) / 4e-3L;
      near.add(gradient(at...), static_cast<double>((4 * near_by - far) / 3));
    });
    EXPECT_LE(near.both(), 1e-11);
    EXPECT_TRUE(gradient.margins_untouched());
  };
  compare(of.x, is.x), compare(of.weight, is.weight), compare(of.bias, is.bias);
  if (of.pool == pooling::attention)
    compare(of.query, is.query);
  else
    is.query.for_each([&](auto... at) { EXPECT_EQ(is.query(at...), 0); });
}

TEST(NodeGate, HasItsGradients) {
  for (pooling pool : all_pools) {
    gate<double> const run(pool);
    received<double> is;
    wane::node_gate_adjoint(run.in(), two(some_gradient()), is.to());
    expect_gradients(run, some_gradient(), is);
  }
}

// The same numbers in another type differ by the rounding of their storage only.
template <class Io>
void expect_rounded_gradients(double epsilon, double wide_epsilon) {
  for (pooling pool : all_pools) {
    gate<Io> const run(pool);
    gate<double> same(pool);
    same.x.fill([&](auto... at) { return static_cast<double>(run.x(at...)); });
    same.weight.fill([&](auto... at) { return static_cast<double>(run.weight(at...)); });
    same.query.fill([&](auto... at) { return static_cast<double>(run.query(at...)); });
    received<Io> is;
    received<double> right;
    wane::node_gate_adjoint(run.in(), two(some_gradient()), is.to());
    wane::node_gate_adjoint(same.in(), two(some_gradient()), right.to());
    auto const compare = [](auto const& rounded, auto const& exact, double bound) {
      nearness near;
      exact.for_each(
          [&](auto... at) { near.add(static_cast<double>(rounded(at...)), exact(at...)); });
      EXPECT_LE(near.both(), bound);
    };
    compare(is.x, right.x, epsilon), compare(is.weight, right.weight, wide_epsilon);
    compare(is.bias, right.bias, wide_epsilon), compare(is.query, right.query, wide_epsilon);
  }
}
TEST(NodeGate, RoundsItsGradientsOnce) {
  expect_rounded_gradients<float>(0x1p-24, 0x1p-24);
  expect_rounded_gradients<wane::bfloat16>(0x1p-8, 0x1p-24);
  expect_rounded_gradients<wane::float16>(0x1p-11, 0x1p-24);
}

// Tokens are a million away from 0 and one apart. With u . 1 = 0, the scores and dL/du are those of
// the differences. Products with the tokens themselves would lose six digits of dL/du.
TEST(NodeGate, HasItsGradientByTheQueryFarFromTheOrigin) {
  gate<double> near(pooling::attention), far(pooling::attention);
  near.query.fill([](index i, auto...) { return i == 0 ? 1 : i == 1 ? -1 : 0; });
  near.x.fill([&](auto... at) { return std::round(near.x(at...) * 1024) / 1024; });
  far.query.fill([&](auto... at) { return near.query(at...); });
  far.x.fill([&](auto... at) { return near.x(at...) + 0x1p20; });
  received<double> by_near, by_far;
  wane::node_gate_adjoint(near.in(), two(some_gradient()), by_near.to());
  wane::node_gate_adjoint(far.in(), two(some_gradient()), by_far.to());
  nearness differ;
  by_near.query.for_each(
      [&](auto... at) { differ.add(by_far.query(at...), by_near.query(at...)); });
  EXPECT_LE(differ.both(), 1e-9);  // eps times 2^20, of the pool
}

// The gradient passes through masks with noise to their regulariser, for each sequence. Differences
// err by h^2 times the third derivative, 1e-9, and by rounding, 1e-10.
TEST(NodeGate, HasTheGradientsOfWhatIsPaidForNodes) {
  gate<double> run(pooling::attention);
  auto const spectrum = wane::spectra::initial_laplace_nodes(nodes, 0.01, 1, 2);
  auto const noise = wane::spectra::logistic_noise(nodes, 4);
  wane::spectra::node_penalties const lambda{0.5, 2, 1};
  tensor<double> of_logits(batch, nodes, 1, 1);
  auto const loss = [&] {  // also sets of_logits, its gradient by the logits
    wane::node_gate(run.in(), two(run.logits));
    double total = 0;
    for (index b = 0; b < batch; ++b) {
      std::span<double const> const logits(&run.logits(b, 0, 0, 0), nodes);
      auto const mask = wane::spectra::relaxed_mask(logits, 0.5, noise);
      auto const paid = wane::spectra::regularise(spectrum, mask, lambda);
      auto const slopes = wane::spectra::relaxed_mask_adjoint(logits, 0.5, noise, paid.mask);
      total += paid.loss;
      for (std::size_t k = 0; k < slopes.size(); ++k)
        of_logits(b, static_cast<index>(k), 0, 0) = slopes[k];
    }
    return total;
  };
  loss();
  received<double> is;
  wane::node_gate_adjoint(run.in(), two(of_logits), is.to());
  auto const compare = [&](tensor<double> const& input, tensor<double> const& gradient) {
    nearness near;
    input.for_each([&](auto... at) {
      double const before = input(at...), h = 1e-5;
      input(at...) = before + h;
      double const above = loss();
      input(at...) = before - h;
      near.add(gradient(at...), (above - loss()) / (2 * h));
      input(at...) = before;
    });
    EXPECT_LE(near.both(), 1e-8);
  };
  compare(run.x, is.x), compare(run.weight, is.weight);
  compare(run.bias, is.bias), compare(run.query, is.query);
}

}  // namespace
