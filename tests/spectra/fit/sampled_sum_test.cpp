// Sums of exponentials for samples: as good as with the kernel in closed form, true on all samples.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/sampled_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/fit/certify.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

sampled_kernel samples_of(auto const& kernel, std::vector<std::int64_t> const& lags) {
  return {lags, values_at(kernel, lags)};
}
std::vector<std::int64_t> lags_from(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> lags;
  for (; first <= last; ++first) lags.push_back(first);
  return lags;
}
auto mixture(std::vector<double> rates, std::vector<double> weights) {
  return [=](std::int64_t lag) { return impulse_response(rates, weights, lag); };
}

// Knuth's linear congruence, for the distributions of libraries differ.
struct noise {
  std::uint64_t state = 1;
  double operator()() {  // even in -1..1
    state = 6364136223846793005u * state + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-52 - 1;
  }
};

// In long double, one sample after the other.
void expect_true(exponential_sum const& sum, sampled_kernel const& kernel) {
  long double relative = 0, absolute = 0;
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < kernel.lags.size(); ++i) {
    if (kernel.lags[i] == 0) continue;
    long double reached = 0;
    for (std::size_t s = 0; s < sum.terms(); ++s)
      reached += static_cast<long double>(sum.weights[s]) *
                 std::exp(-static_cast<long double>(sum.rates[s]) *
                          static_cast<long double>(kernel.lags[i]));
    long double const error = std::abs(reached - static_cast<long double>(kernel.values[i]));
    absolute = std::max(absolute, error);
    relative = std::max(relative, error / static_cast<long double>(kernel.values[i]));
    ++seen;
  }
  double const largest = *std::max_element(kernel.values.begin(), kernel.values.end());
  // The certificate is in double: of a term rate l is rounded, up to 100 here, and the sum.
  double const rounding = 1e-13;
  EXPECT_NEAR(sum.error.max_relative_error, static_cast<double>(relative), rounding);
  EXPECT_NEAR(sum.error.max_absolute_error, static_cast<double>(absolute), rounding * largest);
  EXPECT_EQ(sum.error.lags_evaluated, seen);
  EXPECT_EQ(sum.error.horizon, kernel.lags.back());
  EXPECT_TRUE(sum.error.samples_only);
  std::int64_t const worst = sum.error.worst_relative_lag;
  auto const at = std::find(kernel.lags.begin(), kernel.lags.end(), worst) - kernel.lags.begin();
  double const value = kernel.values.at(static_cast<std::size_t>(at));
  EXPECT_DOUBLE_EQ(std::abs(sum(worst) - value) / value, sum.error.max_relative_error);
  EXPECT_TRUE(sum.rates.front() >= 0 && std::is_sorted(sum.rates.begin(), sum.rates.end()));
  for (double weight : sum.weights) EXPECT_GT(weight, 0);
}

// As many terms as Remez's exchange on the kernel itself has, which claims the fewest or one more.
void expect_terms_of_closed_form(auto const& kernel, std::vector<std::int64_t> const& lags) {
  sampled_kernel const samples = samples_of(kernel, lags);
  for (double accuracy : {1e-2, 1e-4}) {
    auto const known =
        sum_of_accuracy(kernel, lags.back(), accuracy, {.built = construction::minimax});
    auto const sum = sum_of_accuracy(samples, accuracy);
    EXPECT_LE(sum.error.max_relative_error, accuracy);
    EXPECT_LE(sum.terms(), known.terms() + 1) << lags.back();
    EXPECT_GE(sum.terms() + 1, known.terms()) << lags.back();
    expect_true(sum, samples);
    // fitting_lags miss an extremum by 4 % at the most, and a certificate may add 2 %.
    EXPECT_LE(certify(kernel, sum, lags.back()).max_relative_error, 1.04 * 1.02 * accuracy);
  }
}

TEST(SampledSum, HasTheTermsOfAKernelInClosedForm) {
  expect_terms_of_closed_form(gruenwald_letnikov(0.5), lags_from(1, 10000));
  expect_terms_of_closed_form(gruenwald_letnikov(0.5), fitting_lags(1000000));
  expect_terms_of_closed_form(power_law(0.7), lags_from(1, 100000));
  expect_terms_of_closed_form(power_law(0.7), fitting_lags(1000000));
}

TEST(SampledSum, OfSoManyTermsHasTheLeastError) {
  // The minimax errors that sum_of_exponentials_test has for the same kernel; samples that are
  // left out may be half a per cent worse than the others, and a last step of a tenth is not made.
  double const spare = 1.006;
  gruenwald_letnikov const kernel(0.5);
  auto const error = [&](std::int64_t horizon, std::int64_t terms) {
    auto const sum = sum_of_terms(samples_of(kernel, fitting_lags(horizon)), terms);
    EXPECT_EQ(static_cast<std::int64_t>(sum.terms()), terms);
    return sum.error.max_relative_error;
  };
  EXPECT_LE(error(1000, 8), 9.35e-5 * spare);
  EXPECT_LE(error(1000000, 8), 1.45e-2 * spare);
  EXPECT_LE(error(1000000, 12), 8.85e-4 * spare);
  EXPECT_LE(error(1000000, 16), 5.45e-5 * spare);
}

TEST(SampledSum, RecoversKnownExponentials) {
  std::vector<double> const rates{1e-4, 0.01, 0.5}, weights{0.5, 0.3, 0.2};
  auto const kernel = samples_of(mixture(rates, weights), lags_from(0, 20000));
  for (auto const& sum : {sum_of_accuracy(kernel, 1e-9), sum_of_terms(kernel, 10)}) {
    ASSERT_EQ(sum.terms(), 3u);
    for (std::size_t s = 0; s < 3; ++s) {
      // Rates 50 apart are told apart well: an error of 1e-9 leaves some 1e-8 of each.
      EXPECT_NEAR(sum.rates[s], rates[s], 1e-7 * rates[s]);
      EXPECT_NEAR(sum.weights[s], weights[s], 1e-7);
    }
    expect_true(sum, kernel);
  }
  auto const lasting =
      sum_of_accuracy(samples_of(mixture({0, 0.01}, {0.5, 0.3}), lags_from(1, 2000)), 1e-12);
  ASSERT_EQ(lasting.terms(), 2u);
  EXPECT_NEAR(lasting.rates[0], 0, 1e-14);  // an accuracy of 1e-12 leaves 1e-15 over 2000 lags
}

TEST(SampledSum, OfOneExponentialIsThatOne) {
  for (double rate : {0.0, 1e-9, 0.02, 0.5}) {
    auto const kernel = samples_of(mixture({rate}, {3}), lags_from(1, 500));
    auto const sum = sum_of_accuracy(kernel, 1e-12);
    ASSERT_EQ(sum.terms(), 1u) << rate;
    EXPECT_NEAR(sum.rates[0], rate, 1e-12);  // over 500 lags an accuracy of 1e-12 leaves 4e-15
    EXPECT_NEAR(sum.weights[0], 3, 1e-11);
    expect_true(sum, kernel);
  }
}

TEST(SampledSum, OfFewSamplesMeetsThem) {
  auto const one = sum_of_accuracy({{5}, {3}}, 1e-12);
  EXPECT_EQ(one.rates, std::vector<double>{0});
  auto const two = sum_of_accuracy({{5, 9}, {3, 1}}, 1e-12);
  ASSERT_EQ(two.terms(), 1u);
  EXPECT_NEAR(two.rates[0], std::log(3) / 4, 1e-12);
  // As a rule of half as many nodes does that is exact on the lags.
  for (std::int64_t count : {3, 4, 5, 6}) {
    auto const kernel = samples_of(gruenwald_letnikov(0.5), lags_from(1, count));
    auto const sum = sum_of_accuracy(kernel, 1e-9);
    EXPECT_LE(sum.terms(), static_cast<std::size_t>(count + 1) / 2);
    expect_true(sum, kernel);
  }
}

TEST(SampledSum, MeetsLagZeroWhereItIsGivenAndGoesOnToItWhereNot) {
  gruenwald_letnikov const kernel(0.3);
  auto const with = sum_of_accuracy(samples_of(kernel, lags_from(0, 1000)), 1e-3);
  auto const without = sum_of_accuracy(samples_of(kernel, lags_from(1, 1000)), 1e-3);
  EXPECT_EQ(with.rates, without.rates);
  EXPECT_EQ(with.weights, without.weights);
  EXPECT_EQ(with.error.lags_evaluated, 1000);
  EXPECT_EQ(with(0), 1);
  EXPECT_GT(with.feed_through(), 0.1);
  EXPECT_EQ(without(0), impulse_response(without.rates, without.weights, 0));
  EXPECT_NEAR(without.feed_through(), 0, 1e-15 * static_cast<double>(without.terms()));
}

TEST(SampledSum, MeasuresAsItIsAsked) {
  power_law const kernel(0.5);
  auto const samples = samples_of(kernel, lags_from(1, 10000));
  auto const relative = sum_of_accuracy(samples, 1e-3);
  auto const absolute = sum_of_accuracy(samples, 1e-3, {.measured = metric::absolute});
  EXPECT_LE(relative.error.max_relative_error, 1e-3);
  EXPECT_LE(absolute.error.max_absolute_error, 1e-3);
  // The tail, a hundredth of the first value, may be missed by a tenth.
  EXPECT_LT(absolute.terms(), relative.terms());
  expect_true(absolute, samples);
  auto const known = sum_of_accuracy(
      kernel, 10000, 1e-3, {.measured = metric::absolute, .built = construction::minimax});
  EXPECT_LE(absolute.terms(), known.terms() + 1);
}

TEST(SampledSum, IsTheSameInAnyUnit) {
  auto const kernel = samples_of(power_law(0.5), lags_from(1, 1000));
  auto const sum = sum_of_accuracy(kernel, 1e-3);
  for (double unit : {0x1p-1000, 0x1p1000}) {
    sampled_kernel scaled = kernel;
    for (double& value : scaled.values) value *= unit;
    auto const same = sum_of_accuracy(scaled, 1e-3);
    auto const absolute = sum_of_accuracy(scaled, 1e-3 * unit, {.measured = metric::absolute});
    ASSERT_EQ(same.terms(), sum.terms());
    // Steps end within a thousandth of the best, from either side of rounding.
    double const error = sum.error.max_relative_error;
    EXPECT_NEAR(same.error.max_relative_error, error, 2e-3 * error);
    EXPECT_LE(absolute.error.max_absolute_error, 1e-3 * unit);
  }
}

TEST(SampledSum, SpansManyDecades) {
  auto const steep = samples_of(mixture({0.69}, {1}), lags_from(1, 1000));
  EXPECT_EQ(sum_of_accuracy(steep, 1e-11).terms(), 1u);
  auto const late = samples_of([](auto l) { return std::exp(0.23 * (1100.0 - double(l))); },
                               lags_from(1000, 2000));
  EXPECT_EQ(sum_of_accuracy(late, 1e-11).terms(), 1u);
  // 1e-300 on the last lag. Rates and weights are rounded: some 1e-16 of exponents up to 690.
  auto const two = samples_of(mixture({0.1, 0.69}, {1e-100, 1}), lags_from(1, 1000));
  EXPECT_EQ(sum_of_accuracy(two, 1e-11).terms(), 2u);
  auto const fifteen = samples_of(power_law(2.5), fitting_lags(1000000));
  auto const sum = sum_of_accuracy(fifteen, 1e-2);
  expect_true(sum, fifteen);
  EXPECT_LE(sum.terms(), sum_of_accuracy(power_law(2.5), 1000000, 1e-2).terms());
}

TEST(SampledSum, ReachesTheLongestHorizon) {
  auto const kernel = samples_of(power_law(0.3), log_spaced_lags(longest_horizon, 20, 400));
  auto const sum = sum_of_accuracy(kernel, 1e-3);
  EXPECT_LE(sum.terms(), sum_of_accuracy(power_law(0.3), longest_horizon, 1e-3).terms());
  expect_true(sum, kernel);
}

TEST(SampledSum, LooksAtEverySample) {
  // One of 100000 samples is off by 1 %, where thinning would not find it. A falling sum errs there
  // or at its neighbours by half of that, less the 1e-5 by which the kernel falls there. The best
  // sum errs no more, but a sample that is left out may add half a per cent of it.
  sampled_kernel kernel = samples_of(power_law(0.5), lags_from(1, 100000));
  kernel.values[54320] *= 1.01;
  auto const sum = sum_of_terms(kernel, 20);
  EXPECT_GE(sum.error.max_relative_error, 0.5 * 0.00995 - 1e-5);
  EXPECT_LE(sum.error.max_relative_error, 0.5 * 0.00995 * 1.006);
  expect_true(sum, kernel);
}

TEST(SampledSum, OfNoisySamplesIsAsNearAsTheNoise) {
  sampled_kernel kernel = samples_of(power_law(0.5), lags_from(1, 3000));
  noise next;
  for (double& value : kernel.values) value *= 1 + 0.05 * next();
  // The kernel without noise errs by at most 0.05 / 0.95, so the best sum errs no more. Sums only
  // fall, so the largest rise from one sample to a later one is a lower bound.
  auto const sum = sum_of_terms(kernel, 30);
  double least = kernel.values[0], bound = 0;
  for (double value : kernel.values) {
    least = std::min(least, value);
    bound = std::max(bound, (value - least) / (value + least));
  }
  EXPECT_GE(sum.error.max_relative_error, bound);
  EXPECT_LE(sum.error.max_relative_error, 0.05 / 0.95);
  expect_true(sum, kernel);
  expect_refusal([&] { (void)sum_of_accuracy(kernel, 0.9 * bound); },
                 {"on 3000 samples is out of reach", "further terms", "an error of 0.0"});
}

TEST(SampledSum, OfRisingSamplesIsConstant) {
  // Halfway, in the relative sense, between the least and the largest value.
  auto const kernel = samples_of([](auto l) { return 1 + 0.1 * double(l); }, lags_from(1, 50));
  auto const sum = sum_of_terms(kernel, 5);
  EXPECT_EQ(sum.rates, std::vector<double>{0});
  EXPECT_NEAR(sum.error.max_relative_error, (6 - 1.1) / (6 + 1.1), 1e-12);
  expect_refusal([&] { (void)sum_of_accuracy(kernel, 0.1); },
                 {"accuracy 0.1", "further terms", "1 terms and an error of 0.69"});
  // Over 300 decades one term is as good as none.
  auto const rocket =
      samples_of([](auto l) { return std::exp(0.69 * double(l)); }, lags_from(1, 999));
  EXPECT_EQ(sum_of_terms(rocket, 5).terms(), 1u);
}

TEST(SampledSum, SaysWhatTheBestIsWhereMoreIsAsked) {
  auto const kernel = samples_of(gruenwald_letnikov(0.5), lags_from(1, 1000));
  expect_refusal([&] { (void)sum_of_accuracy(kernel, 1e-4, {.most_terms = 5}); },
                 {"out of reach; the best found has 5 terms and an error of 0.0052"});
  for (double accuracy : {0.0, 1e-14, 1.0, std::nan("")})
    expect_refusal([&] { (void)sum_of_accuracy(kernel, accuracy); }, {"at least 1e-13", "below 1"});
  expect_refusal([&] { (void)sum_of_terms(kernel, 2, {.most_terms = 0}); }, {"most_terms is 0"});
  expect_refusal([&] { (void)sum_of_terms(kernel, 0); }, {"terms is 0"});
}

TEST(SampledSum, RefusesWhatAreNoSamples) {
  auto const refuses = [](sampled_kernel const& kernel, char const* piece) {
    for (metric measured : {metric::relative, metric::absolute}) {
      expect_refusal([&] { (void)sum_of_accuracy(kernel, 0.5, {.measured = measured}); }, {piece});
      expect_refusal([&] { (void)sum_of_terms(kernel, 2, {.measured = measured}); }, {piece});
    }
  };
  refuses({{}, {}}, "lags is empty");
  refuses({{1, 2}, {1}}, "values has 1 entries");
  refuses({{0}, {1}}, "lag 0 alone");
  refuses({{1, 1}, {1, 1}}, "lags[1] is 1");
  refuses({{2, 1}, {1, 2}}, "lags[1] is 1");
  refuses({{-1, 1}, {1, 1}}, "lags[0] is -1");
  refuses({{1, longest_horizon + 1}, {1, 1}}, "end by 2^53");
  refuses({{1, 2}, {1, std::nan("")}}, "values[1] is nan");
  refuses({{1, 2}, {HUGE_VAL, 1}}, "values[0] is inf");
  refuses({{1, 2}, {1, 0}}, "values[1] is 0");
  refuses({{1, 2}, {1, -0.5}}, "values[1] is -0.5");
}

}  // namespace
