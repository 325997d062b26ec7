// The claims of VORT (arXiv 2605.08966) about retrieval and learning: sections 3 and 5.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/gruenwald_letnikov.hpp"
#include "wane/spectra/random.hpp"
#include "wane/spectra/sum_of_exponentials.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

// Tokens with positive features and one value each, a query at the last.
struct tokens {
  static constexpr std::size_t count = 64, features = 4;
  std::vector<std::vector<double>> keys;
  std::vector<double> values, query;

  explicit tokens(std::uint64_t seed) {
    std::mt19937_64 bits(seed);
    auto const draw = [&] {
      std::vector<double> drawn(features);
      for (double& x : drawn) x = unit_uniform(bits);
      return drawn;
    };
    for (std::size_t i = 0; i < count; ++i)
      keys.push_back(draw()), values.push_back(1 + unit_uniform(bits));
    query = draw();
  }
  double match(std::size_t i) const {
    double sum = 0;
    for (std::size_t f = 0; f < features; ++f) sum += query[f] * keys[i][f];
    return sum;
  }
};

// Equation (13), the kernel in place of exp(q k): sums over earlier tokens, no decay below.
double by_definition(tokens const& x, exponential_sum const& w) {
  double above = 0, below = 0;
  std::size_t const t = tokens::count - 1;
  for (std::size_t i = 0; i < t; ++i) {
    above += x.match(i) * w(static_cast<std::int64_t>(t - i)) * x.values[i];
    below += x.match(i);
  }
  return above / below;
}

// Equations (14)-(16), one bank. `as_printed`: the sums below decay too, and the current token is
// in both.
double by_recurrence(tokens const& x, exponential_sum const& w, bool as_printed) {
  double above = 0, below = 0;
  for (std::size_t s = 0; s < w.terms(); ++s) {
    double const factor = std::exp(-w.rates[s]);
    std::vector<double> g(tokens::features, 0.0), b(tokens::features, 0.0);
    for (std::size_t i = 0; i < tokens::count; ++i)
      for (std::size_t f = 0; f < tokens::features; ++f) {
        double const write = as_printed || i + 1 < tokens::count ? x.keys[i][f] : 0;
        g[f] = factor * g[f] + w.weights[s] * write * x.values[i];
        b[f] = as_printed ? factor * b[f] + w.weights[s] * write : b[f] + (s == 0 ? write : 0);
      }
    for (std::size_t f = 0; f < tokens::features; ++f)
      above += x.query[f] * g[f], below += x.query[f] * b[f];
  }
  return above / below;
}

finding normaliser() {
  tokens const x(1);
  auto const w = sum_of_terms(gruenwald_letnikov(0.5), 64, 8);
  double const right = by_definition(x, w);
  double const found = by_recurrence(x, w, true) / right;
  return {found, std::abs(found - 1) < 1e-3,
          std::abs(by_recurrence(x, w, false) / right - 1) < 1e-12,
          "alpha 0.5, 64 tokens, one bank, 8 terms; equal where the denominator does not decay and "
          "a token is read before it is written"};
}

// The loss (24) as a function of one token's order: it competes, with weight e w_l(alpha), against
// tokens of total weight `rest`; it is the one wanted, or another is.
class retrieval_loss {
 public:
  explicit retrieval_loss(std::uint64_t seed) {
    std::mt19937_64 bits(seed);
    for (int i = 0; i < 12; ++i)
      queries_.push_back({1 + static_cast<std::int64_t>(std::pow(1e3, unit_uniform(bits))),
                          0.01 + unit_uniform(bits), i % 2 == 0});
  }
  struct at_order {
    double loss, slope;
  };
  at_order operator()(double alpha) const {
    gruenwald_letnikov const w(alpha);
    at_order sum{0, 0};
    for (query const& q : queries_) {
      double const weight = w(q.lag), all = weight + q.rest;
      sum.loss -= std::log((q.wanted ? weight : q.rest) / all);
      sum.slope += w.derivative(q.lag) * (1 / all - (q.wanted ? 1 / weight : 0));
    }
    return sum;
  }

 private:
  struct query {
    std::int64_t lag;
    double rest;
    bool wanted;
  };
  std::vector<query> queries_;
};

// Theorem 5.1: descent by 1/L, L and mu from a grid of orders in [0.1, 1]; largest quotient of both
// sides of (25). 0 where the condition does not hold, or the least loss is not between the ends.
double descent_over_bound(retrieval_loss const& loss) {
  constexpr int points = 1000, steps = 100;
  constexpr double spacing = 0.9 / points;
  double low = 0.1, high = 1;
  if (loss(low).slope > 0 || loss(high).slope < 0) return 0;
  while (high - low > 1e-12) {
    double const middle = (low + high) / 2;
    (loss(middle).slope < 0 ? low : high) = middle;
  }
  double const least = loss(low).loss;
  double smooth = 0, mu = HUGE_VAL, before = loss(0.1).slope;
  for (int i = 0; i <= points; ++i) {
    auto const here = loss(std::min(1.0, 0.1 + spacing * i));
    smooth = std::max(smooth, std::abs(here.slope - before) / spacing);
    before = here.slope;
    double const excess = here.loss - least;
    if (std::abs(excess) > 1e-7) mu = std::min(mu, here.slope * here.slope / (2 * excess));
  }
  if (!(mu > 1e-2)) return 0;
  double worst = 0, alpha = 0.1, bound = loss(alpha).loss - least;
  for (int l = 0; l < steps && bound > 1e-9; ++l) {
    alpha -= loss(alpha).slope / smooth;
    bound *= 1 - mu / smooth;
    worst = std::max(worst, (loss(alpha).loss - least) / bound);
  }
  return worst;
}
finding descent() {
  double worst = 0;
  int counted = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    double const quotient = descent_over_bound(retrieval_loss(seed));
    counted += quotient > 0;
    worst = std::max(worst, quotient);
  }
  return {worst, worst <= 1 && counted >= 5, false,
          std::to_string(counted) +
              " losses (24) of one order that meet the condition, 12 queries "
              "each, step 1/L from order 0.1"};
}

}  // namespace

std::vector<claim> vort_retrieval_claims() {
  return {{"vort-eq16", "VORT, equation (16)", "output of the recurrence over that of (13)", 1,
           normaliser},
          {"vort-5.1", "VORT, Theorem 5.1", "excess loss over (1 - eta mu)^l of it, at most", 1,
           descent}};
}

}  // namespace wane::bench
