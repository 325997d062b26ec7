// Rates at a position: values, gradients of the whole chain from PoST's parameters on, refusals.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/tapered_rates.hpp"

#include <gtest/gtest.h>

#include <boost/math/differentiation/autodiff.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/rates/post_map.hpp"
#include "wane/spectra/rates/taper.hpp"

namespace {

using namespace wane::spectra;

TEST(TaperedRates, StretchByThePowerOfThePosition) {
  auto const at = tapered_rates({0.01, 0.1, 1}, {1, 0.5, 0}, 100, 400).values();
  EXPECT_NEAR(at[0], 0.0025, 1e-17);
  EXPECT_NEAR(at[1], 0.05, 1e-16);
  EXPECT_EQ(at[2], 1);
  std::vector<double> const base{0.3, 0.2};  // in any order
  EXPECT_EQ(tapered_rates(base, {1, 0.3}, 7, 7).values(), base);
}

// Sum_k weight_k r_k(t), every step of it in any kind of number: parameters (theta, delta...), log
// rates, the spectrum-adaptive taper, rates.
template <class Number>
Number objective(std::vector<Number> const& parameters, std::vector<double> const& weight,
                 double position, double trained_at, double log_reference) {
  std::vector<Number> p{parameters[0]};
  for (std::size_t k = 1; k < parameters.size(); ++k)
    p.push_back(p.back() + log(1 + exp(parameters[k])));
  auto const last = static_cast<double>(p.size() - 1);
  Number sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    auto const at = static_cast<double>(k);
    Number const even = p.front() + (p.back() - p.front()) * (at / last);
    Number const alpha = (last - at) / last + (p[k] - even) / log_reference;
    sum += weight[k] * exp(p[k] - alpha * std::log(position / trained_at));
  }
  return sum;
}

TEST(TaperedRates, HaveTheAdjointOfTheWholeChain) {
  using boost::math::differentiation::make_fvar;
  using dual = decltype(make_fvar<double, 1>(0.0));
  std::vector<double> const parameters{-7, 0.2, 0.5, -0.1, 0.9, 0.3}, weight{3, 1, -2, 0.5, 4, -1};
  for (std::int64_t const trained_at : {1, 512}) {
    post_parameters const post{parameters[0], {parameters.begin() + 1, parameters.end()}};
    auto const p = log_rates(post);
    adaptive_taper const taper(p, std::log(2048.0));
    std::vector<double> base;
    for (double x : p) base.push_back(std::exp(x));
    tapered_rates const rates(base, taper.values(), trained_at, 100'000);
    auto [by_log_rate, by_taper] = rates.adjoint(weight);
    auto const through_taper = taper.adjoint(by_taper);
    for (std::size_t k = 0; k < p.size(); ++k) by_log_rate[k] += through_taper[k];
    auto const found = log_rates_adjoint(post, by_log_rate);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      std::vector<dual> at(parameters.begin(), parameters.end());
      at[k] = make_fvar<double, 1>(parameters[k]);
      double const expected =
          objective(at, weight, 1e5, static_cast<double>(trained_at), std::log(2048.0))
              .derivative(1);
      double const ours = k == 0 ? found.slowest : found.gaps[k - 1];
      EXPECT_NEAR(ours, expected, 1e-12 * (1 + std::abs(expected))) << k;
    }
  }
}

TEST(TaperedRates, RefuseWhatIsNoTaper) {
  expect_refusal([] { (void)tapered_rates({1, 2}, {1}, 1, 1); }, {"taper has 1 entries"});
  expect_refusal([] { (void)tapered_rates({1}, {1.5}, 1, 1); }, {"taper[0] is 1.5"});
  expect_refusal([] { (void)tapered_rates({1}, {NAN}, 1, 1); }, {"taper[0] is nan"});
  expect_refusal([] { (void)tapered_rates({1}, {1}, 1, -1); }, {"position is -1"});
  expect_refusal([] { (void)tapered_rates({1}, {1}, 0, 1); }, {"trained_at is 0"});
  expect_refusal([] { (void)tapered_rates({1}, {1}, 1, 1).adjoint({}); }, {"gradient has 0"});
}

}  // namespace
