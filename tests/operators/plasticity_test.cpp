// The loss of VORT's plasticity by its definition, its gradient by differences, and its step.
// SPDX-License-Identifier: MIT
#include "wane/operators/plasticity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "support/expect_error.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/retention_problem.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace {

using wane::index;
using wane::spectra::gruenwald_letnikov;
using kernel_at = std::function<double(double alpha, index lag)>;

gruenwald_letnikov exactly(double alpha) { return gruenwald_letnikov(alpha); }

// Queries, keys, orders and sources, some of which are -1. Orders are in the middle of pieces of a
// table from 0.1 to 1, so that differences stay in one piece.
template <class Io>
struct problem {
  index batch = 2, tokens = 20, heads = 3, rows = 5;
  support::random_values random{11};
  std::vector<Io> query = drawn(rows), key = drawn(rows), alpha = orders();
  std::vector<index> source = sources();
  std::vector<Io> gradient = std::vector<Io>(alpha.size(), Io(NAN));

  wane::plasticity_inputs<Io> inputs() const {
    return {.query = {query.data(), batch, tokens, heads, rows},
            .key = {key.data(), batch, tokens, heads, rows},
            .alpha = {alpha.data(), batch, tokens, heads},
            .source = {source.data(), batch, tokens, heads}};
  }
  wane::token_view<Io> to_alpha() { return {gradient.data(), batch, tokens, heads}; }

  // Equation (24), literally.
  double by_definition(kernel_at const& w) const {
    auto const in = inputs();
    double loss = 0;
    for (index b = 0; b < batch; ++b)
      for (index h = 0; h < heads; ++h)
        for (index t = 0; t < tokens; ++t) {
          if (in.source(b, t, h) < 0) continue;
          std::vector<double> r;
          double sum = 0;
          for (index i = 0; i < t; ++i) {
            double dot = 0;
            for (index c = 0; c < rows; ++c)
              dot += double(in.query(b, t, h, c)) * double(in.key(b, i, h, c));
            r.push_back(std::exp(dot / std::sqrt(double(rows))) *
                        w(double(in.alpha(b, i, h)), t - i));
            sum += r.back();
          }
          loss -= std::log(r[std::size_t(in.source(b, t, h))] / sum);
        }
    return loss;
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(batch * tokens * heads); }
  std::vector<Io> drawn(index each) {
    std::vector<Io> x(count() * std::size_t(each));
    for (Io& v : x) v = Io(random.uniform(-2, 2));
    return x;
  }
  std::vector<Io> orders() {
    std::vector<Io> x(count());
    for (Io& v : x) v = Io(0.1 + 0.9 * (std::floor(random.uniform(0, 128)) + 0.5) / 128);
    return x;
  }
  std::vector<index> sources() {
    std::vector<index> x;
    for (std::size_t n = 0; n < count(); ++n) {
      index const t = static_cast<index>(n) / heads % tokens;
      x.push_back(std::min(t - 1, static_cast<index>(random.uniform(-2, double(t)))));
      if (x.back() < -1) x.back() = -1;
    }
    return x;
  }
};

double on_nodes(wane::spectra::order_table<double> const& table, double alpha, index lag) {
  auto const order = table.at(alpha);
  double sum = 0;
  for (index s = 0; s < table.nodes(); ++s)
    sum += order.weight(s) * std::exp(table.log_decay(0, 0, 0, s) * double(lag));
  return sum;
}

template <class Io>
class Plasticity : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Plasticity, Types);

// All is in double but the orders that a float table finds.
TYPED_TEST(Plasticity, IsItsDefinition) {
  problem<TypeParam> const p;
  wane::spectra::order_weights<TypeParam> const weights(support::rates_of(12, 1000));
  wane::spectra::order_weights<double> const in_double(support::rates_of(12, 1000));
  double const wanted = p.by_definition(
      [&](double alpha, index lag) { return on_nodes(in_double.table(), alpha, lag); });
  double const bound = std::is_same_v<TypeParam, float> ? 1e-6 : 1e-14;
  EXPECT_NEAR(wane::plasticity_loss(p.inputs(), weights.table()) / wanted, 1, bound);
  double const exact =
      p.by_definition([](double alpha, index lag) { return gruenwald_letnikov(alpha)(lag); });
  EXPECT_NEAR(wane::plasticity_loss(p.inputs(), exactly) / exact, 1, 1e-14);
  EXPECT_NEAR(wanted / exact, 1, 1e-3);
}

// The kernel of an order on four banks, each for 1/4 of (0.1, 1]: from both banks beside it, or
// from the nearest.
double on_banks(wane::spectra::routing routed, double alpha, index lag) {
  static std::vector<wane::spectra::exponential_sum> sums;
  for (int k = int(sums.size()) + 1; k <= 4; ++k)
    sums.push_back(wane::spectra::sum_of_terms(gruenwald_letnikov(0.1 + 0.9 * k / 4), 1000, 8));
  double const place = (alpha - 0.1) / 0.9 * 4 - 1;  // from the first bank, in banks
  auto const bank = [&](double k) { return sums[std::size_t(k)](lag); };
  if (place <= 0) return bank(0);
  if (routed == wane::spectra::routing::nearest) return bank(std::round(place));
  double const below = std::floor(place), x = place - below;
  return (1 - x) * bank(below) + x * bank(below + 1);
}
template <class T>
using linear_banks = support::banks<T, wane::spectra::routing::linear>;
template <class T>
using nearest_banks = support::banks<T, wane::spectra::routing::nearest>;

TYPED_TEST(Plasticity, IsItsDefinitionOnBanks) {
  problem<TypeParam> const p;
  double const bound = std::is_same_v<TypeParam, float> ? 1e-6 : 1e-14;
  auto const check = [&](auto const& weights, wane::spectra::routing routed) {
    double const wanted =
        p.by_definition([&](double alpha, index lag) { return on_banks(routed, alpha, lag); });
    EXPECT_NEAR(wane::plasticity_loss(p.inputs(), weights.table()) / wanted, 1, bound);
  };
  check(linear_banks<TypeParam>(8, 1000), wane::spectra::routing::linear);
  check(nearest_banks<TypeParam>(8, 1000), wane::spectra::routing::nearest);
}

// Differences of fourth order. For log alpha at 0.1, h^4 times the fifth derivative is 6e-10 of 10.
// Rounding of a loss of 200 leaves 1e-10.
template <class Weights>
double gradient_error(Weights const& weights) {
  problem<double> p;
  wane::plasticity_loss(p.inputs(), weights, p.to_alpha());
  support::nearness near;
  for (std::size_t n = 0; n < p.alpha.size(); ++n) {
    double const here = p.alpha[n];
    auto const loss = [&](double step) {
      p.alpha[n] = here + step;
      return wane::plasticity_loss(p.inputs(), weights);
    };
    double const h = 3e-4;
    near.add(p.gradient[n], (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h));
    p.alpha[n] = here;
  }
  return near.both();
}
TEST(Plasticity, HasTheGradientOfItsLoss) {
  wane::spectra::order_weights<double> const weights(support::rates_of(12, 1000));
  EXPECT_LT(gradient_error(weights.table()), 1e-9);
  EXPECT_LT(gradient_error(exactly), 1e-9);
  EXPECT_LT(gradient_error(linear_banks<double>(8, 1000).table()), 1e-9);
}

// Between the jumps of nearest routing the gradient is 0; linear routing has a slope there.
TEST(Plasticity, HasNoGradientOnTheNearestBank) {
  problem<double> p, linear;
  wane::plasticity_loss(p.inputs(), nearest_banks<double>(8, 1000).table(), p.to_alpha());
  wane::plasticity_loss(linear.inputs(), linear_banks<double>(8, 1000).table(), linear.to_alpha());
  EXPECT_EQ(p.gradient, std::vector<double>(p.gradient.size(), 0));
  EXPECT_GT(std::abs(linear.gradient[linear.gradient.size() / 2]), 1e-3);
}

// Nodes approximate the power law in the gradient too; float adds rounding only.
TEST(Plasticity, HasTheGradientOfThePowerLaw) {
  problem<double> exact, nodes;
  problem<float> narrow;
  wane::plasticity_loss(exact.inputs(), exactly, exact.to_alpha());
  wane::spectra::order_weights<double> const weights(support::rates_of(14, 1000));
  wane::plasticity_loss(nodes.inputs(), weights.table(), nodes.to_alpha());
  wane::plasticity_loss(narrow.inputs(), weights.table(), narrow.to_alpha());
  support::nearness near, near_in_float;
  for (std::size_t n = 0; n < exact.gradient.size(); ++n) {
    near.add(nodes.gradient[n], exact.gradient[n]);
    near_in_float.add(double(narrow.gradient[n]), nodes.gradient[n]);
  }
  EXPECT_LT(near.both(), 1e-3);
  EXPECT_LT(near_in_float.both(), 1e-6);
}

// One source for all heads, a scale, and scores whose exponentials overflow.
TEST(Plasticity, TakesStridesAScaleAndLargeScores) {
  problem<double> p, same;
  for (index t = 0; t < p.tokens * p.batch; ++t)
    for (index h = 0; h < p.heads; ++h)
      same.source[std::size_t(t * p.heads + h)] = p.source[std::size_t(t * p.heads)];
  auto in = p.inputs();
  in.source.stride[2] = 0;
  EXPECT_EQ(wane::plasticity_loss(in, exactly), wane::plasticity_loss(same.inputs(), exactly));
  in.scale = 1 / std::sqrt(5.);
  EXPECT_EQ(wane::plasticity_loss(in, exactly), wane::plasticity_loss(same.inputs(), exactly));
  // Without a competitor in reach the loss is the difference of scores.
  double const q[] = {0, 0, 1}, k[] = {-2000, 2000, 0}, alpha[] = {0.5, 0.5, 0.5};
  index const source[] = {-1, -1, 0};
  double gradient[3];
  double const loss = wane::plasticity_loss<double>({.query = {q, 1, 3, 1, 1},
                                                     .key = {k, 1, 3, 1, 1},
                                                     .alpha = {alpha, 1, 3, 1},
                                                     .source = {source, 1, 3, 1}},
                                                    exactly, {gradient, 1, 3, 1});
  // w_1 = 1/2 and w_2 = 3/8, whose logs have the slopes 1/alpha and 1/alpha + 1/(1 + alpha).
  EXPECT_NEAR(loss, 4000 + std::log(4. / 3), 1e-9);
  EXPECT_NEAR(gradient[0], -(2 + 1 / 1.5), 1e-14);
  EXPECT_NEAR(gradient[1], 2, 1e-14);
  EXPECT_EQ(gradient[2], 0);
}

TEST(Plasticity, IsNoNumberWhereAWeightIsNotPositive) {
  struct kernel {
    double last;
    double operator()(index lag) const { return lag < 10 ? 1 : last; }
    double derivative(index) const { return 1; }
  };
  for (double last : {-1., 0.}) {
    problem<double> p;
    for (index& source : p.source) source = -1;
    p.source.back() = p.tokens - 2;
    double const loss = wane::plasticity_loss(
        p.inputs(), [&](double) { return kernel{last}; }, p.to_alpha());
    EXPECT_EQ(std::isnan(loss), last < 0);
    EXPECT_TRUE(std::isnan(p.to_alpha()(p.batch - 1, 0, p.heads - 1)));
  }
}

TEST(PlasticityStep, DescendsAndStaysWithin) {
  std::vector<double> alpha{0.5, 0.5, 0.5, 0.5}, gradient{1, -1, 100, -100};
  wane::plasticity_step<double>({alpha.data(), 1, 2, 2}, {gradient.data(), 1, 2, 2}, 0.25, 0.1);
  EXPECT_EQ(alpha, (std::vector<double>{0.25, 0.75, 0.1, 1}));
  gradient[1] = NAN;
  wane::plasticity_step<double>({alpha.data(), 1, 2, 2}, {gradient.data(), 1, 2, 2}, 0.25, 0.1);
  EXPECT_TRUE(std::isnan(alpha[1]));
}

TEST(Plasticity, RefusesWhatDoesNotFit) {
  problem<double> p;
  wane::spectra::order_weights<double> const weights(support::rates_of(12, 1000));
  auto const refuses = [&](std::vector<std::string> const& message, auto const& inputs) {
    support::expect_error(message,
                          [&] { wane::plasticity_loss(inputs, weights.table(), p.to_alpha()); });
    EXPECT_TRUE(std::isnan(p.gradient[0]));
  };
  auto in = p.inputs();
  in.key.extent[3] = 4;
  refuses({"key has columns 4", "it must be 5"}, in);
  in = p.inputs(), in.alpha.extent[1] = 19;
  refuses({"alpha has time 19", "it must be 20"}, in);
  in = p.inputs(), in.source.data = nullptr;
  refuses({"source has no data"}, in);
  for (index wrong : {index{7}, index{-2}}) {
    problem<double> q;
    q.source[std::size_t((1 * q.tokens + 7) * q.heads + 2)] = wrong;
    refuses({"source at batch 1, time 7, head 2 is " + std::to_string(wrong), "a token before"},
            q.inputs());
  }
  for (double wrong : {0.05, 1.2, double(NAN)}) {
    problem<double> q;
    q.alpha.back() = wrong;
    refuses({"alpha is ", "it must be an order that the nodes have"}, q.inputs());
  }
  support::expect_error({"the nodes of plasticity are empty"}, [&] {
    wane::plasticity_loss(p.inputs(), wane::spectra::order_table<double>{});
  });
  support::expect_error({"the nodes of plasticity are empty"}, [&] {
    wane::plasticity_loss(p.inputs(), wane::spectra::bank_table<double>{});
  });
  auto to = p.to_alpha();
  to.extent[0] = 1;
  support::expect_error({"alpha_gradient has batch 1"},
                        [&] { wane::plasticity_loss(p.inputs(), exactly, to); });
  auto const step = [&](double size, double least) {
    wane::plasticity_step<double>({p.alpha.data(), 2, 20, 3}, {p.key.data(), 2, 20, 3}, size,
                                  least);
  };
  support::expect_error({"step is -1"}, [&] { step(-1, 0.1); });
  support::expect_error({"least is 0"}, [&] { step(1, 0); });
}

}  // namespace
