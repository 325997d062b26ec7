// Plasticity: orders learn what to forget, at the rate of VORT's Theorem 5.1 where it applies.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <wane/operators/plasticity.hpp>
#include <wane/spectra/orders/order_weights.hpp>

constexpr wane::index tokens = 200;
constexpr double least = 0.1;  // delta: orders are in [least, 1]
wane::spectra::order_weights<double> const weights(wane::spectra::shared_rates(14, 1000, least));

// Loss (24) by one order, which the tokens first <= i < last share; the others have 1/2.
struct retrieval_loss {
  std::vector<double> query, key;
  std::vector<wane::index> source;
  wane::index first = 0, last = tokens;

  struct at_order {
    double loss, slope;
  };
  at_order operator()(double order) const {
    std::vector<double> alpha(tokens, 0.5), gradient(tokens);
    std::fill(alpha.begin() + first, alpha.begin() + last, order);
    double const loss =
        wane::plasticity_loss<double>({.query = {query.data(), 1, tokens, 1, 1},
                                       .key = {key.data(), 1, tokens, 1, 1},
                                       .alpha = {alpha.data(), 1, tokens, 1},
                                       .source = {source.data(), 1, tokens, 1}},
                                      weights.table(), {gradient.data(), 1, tokens, 1});
    double slope = 0;
    for (wane::index i = first; i < last; ++i) slope += gradient[std::size_t(i)];
    return {loss, slope};
  }
};

// Distances to sources are drawn from a power law, about l^(order-1); keys do not depend on them.
retrieval_loss sources_of_order(double order) {
  std::mt19937 bits(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  retrieval_loss f;
  for (wane::index t = 0; t < tokens; ++t) {
    f.query.push_back(normal(bits)), f.key.push_back(normal(bits));
    auto const lag = static_cast<wane::index>(1 + 150 * std::pow(uniform(bits), 1 / order));
    f.source.push_back(lag <= t ? t - lag : -1);
  }
  return f;
}

// Token 20 resembles the queries of the next three tokens, and only the last query wants it.
retrieval_loss found_too_soon() {
  std::vector<double> const none(tokens, 0.0);
  retrieval_loss f{none, none, std::vector<wane::index>(tokens, -1), 20, 21};
  f.key[20] = 1;
  for (std::size_t t : {21u, 22u, 23u}) f.query[t] = 6, f.source[t] = 19;
  f.query[tokens - 1] = -2, f.source[tokens - 1] = 20;
  return f;
}

// Projected descent by `part` of 1/L; L and mu of all orders, from a grid.
struct descent {
  double order, smoothness = 0, mu = HUGE_VAL, worst = 0;
  int steps = 0;

  descent(retrieval_loss const& f, double from, double least_loss, double part) : order(from) {
    constexpr int points = 400;
    double before = f(least).slope;
    for (int i = 1; i <= points; ++i) {
      auto const [loss, slope] = f(least + (1 - least) * i / points);
      smoothness = std::max(smoothness, std::abs(slope - before) / (1 - least) * points);
      mu = std::min(mu, slope * slope / (2 * (loss - least_loss)));
      before = slope;
    }
    auto now = f(from);
    std::printf("  step   order      loss - least   of the one before, at most %.4f\n", rate(part));
    for (bool done = false; !done; ++steps) {
      double const here = order, excess = now.loss - least_loss;
      wane::plasticity_step<double>({&order, 1, 1, 1}, {&now.slope, 1, 1, 1}, part / smoothness,
                                    least);
      now = f(order);
      double const left = now.loss - least_loss;
      done = left < 1e-9 || order == here;
      if (order != here) worst = std::max(worst, left / excess);
      if (steps < 2 || steps % 20 == 19 || done)
        std::printf("  %4d   %.6f   %9.3e      %.4f\n", steps + 1, order, left, left / excess);
    }
  }
  double rate(double part) const { return 1 - part * mu / smoothness; }
};

int main() {
  auto const inside = sources_of_order(0.6);
  double low = least, high = 1;
  while (high - low > 1e-13) (inside((low + high) / 2).slope < 0 ? low : high) = (low + high) / 2;
  std::printf("Distances of order 0.6; the loss is least at %.3f:\n", low);
  descent const down(inside, least, inside(low).loss, 1);
  bool const as_stated = down.mu > 0 && down.steps > 5 && down.worst <= down.rate(1);

  auto const edge = sources_of_order(0.02);
  std::printf("Most sources one token back; least at the end, slope %.0f:\n", edge(least).slope);
  descent const cut(edge, 1, edge(least).loss, 0.02);
  bool const stops = cut.order == least && edge(least).slope > 0 && cut.worst <= cut.rate(0.02);

  auto const two = found_too_soon();
  std::printf("A token found too soon; a hill between two minima, so mu = 0:\n");
  descent const left(two, 0.5, two(least).loss, 1), right(two, 0.6, two(least).loss, 1);
  bool const apart = left.order == least && right.order == 1 && two(1).loss > two(least).loss + 1 &&
                     left.mu < 1e-3 && right.mu < 1e-3;

  std::printf("falls at the rate of the theorem: %s; stops at the end: %s; one of two minima: %s\n",
              as_stated ? "yes" : "no", stops ? "yes" : "no", apart ? "yes" : "no");
  return as_stated && stops && apart ? 0 : 1;
}
