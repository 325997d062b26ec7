// Sums of exponentials: how many terms an accuracy takes, and what cannot be had.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/sum_of_exponentials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace {

using namespace wane::spectra;

sum_options const polished{.built = construction::minimax};

// The fewest terms that any sum of exponentials has for errors of 1e-2, 1e-3, 1e-4 and 1e-6, found
// apart from this code: Remez's exchange from many starts.
struct fewest {
  double alpha, horizon;
  std::int64_t terms[4];
};
constexpr double accuracies[] = {1e-2, 1e-3, 1e-4, 1e-6};
constexpr fewest known[] = {
    {0.3, 1e3, {5, 7, 9, 12}},    {0.3, 1e4, {7, 9, 12, 16}},  {0.3, 1e5, {8, 11, 14, 20}},
    {0.3, 1e6, {10, 13, 17, 23}}, {0.5, 1e3, {5, 7, 8, 12}},   {0.5, 1e4, {6, 9, 11, 15}},
    {0.5, 1e5, {8, 10, 13, 19}},  {0.5, 1e6, {9, 12, 16, 22}}, {0.7, 1e3, {4, 6, 8, 11}},
    {0.7, 1e4, {6, 8, 10, 14}},   {0.7, 1e5, {7, 9, 12, 18}},  {0.7, 1e6, {8, 11, 14, 21}},
    {0.9, 1e3, {3, 5, 7, 10}},    {0.9, 1e4, {4, 6, 9, 13}},   {0.9, 1e5, {5, 8, 10, 16}},
    {0.9, 1e6, {6, 9, 12, 19}}};

TEST(SumOfExponentials, OfClosedFormHasFewTermsMoreThanTheFewest) {
  for (auto const& best : known)
    for (int i = 0; i < 4; ++i) {
      auto const sum = sum_of_accuracy(gruenwald_letnikov(best.alpha),
                                       static_cast<std::int64_t>(best.horizon), accuracies[i]);
      EXPECT_LE(sum.error.max_relative_error, accuracies[i]);
      EXPECT_LE(static_cast<std::int64_t>(sum.terms()), best.terms[i] + (i < 3 ? 3 : 5))
          << best.alpha << ", " << best.horizon << ", " << accuracies[i];
    }
}

TEST(SumOfExponentials, OfMinimaxHasTheFewestTermsOrOneMore) {
  for (auto const& best : known)
    for (int i = 0; i < 4; ++i) {
      auto const sum =
          sum_of_accuracy(gruenwald_letnikov(best.alpha), static_cast<std::int64_t>(best.horizon),
                          accuracies[i], polished);
      EXPECT_LE(sum.error.max_relative_error, accuracies[i]);
      EXPECT_LE(static_cast<std::int64_t>(sum.terms()), best.terms[i] + 1)
          << best.alpha << ", " << best.horizon << ", " << accuracies[i];
    }
}

TEST(SumOfExponentials, ForAMillionLagsHasTheTermsThatAreClaimed) {
  std::size_t const closed[] = {11, 15, 18, 27}, minimax[] = {9, 12, 16, 23};
  gruenwald_letnikov const kernel(0.5);
  for (int i = 0; i < 4; ++i) {
    EXPECT_LE(sum_of_accuracy(kernel, 1000000, accuracies[i]).terms(), closed[i]);
    EXPECT_LE(sum_of_accuracy(kernel, 1000000, accuracies[i], polished).terms(), minimax[i]);
  }
}

TEST(SumOfExponentials, OfSoManyTermsHasTheLeastError) {
  // Minimax errors measured apart: 9.3e-5, 1.4e-2, 8.8e-4, 5.4e-5; certificates may add 2 %.
  gruenwald_letnikov const kernel(0.5);
  auto const error = [&](std::int64_t horizon, std::int64_t terms) {
    auto const sum = sum_of_terms(kernel, horizon, terms, polished);
    EXPECT_EQ(static_cast<std::int64_t>(sum.terms()), terms);
    return sum.error.max_relative_error;
  };
  EXPECT_LE(error(1000, 8), 9.35e-5 * 1.02);
  EXPECT_LE(error(1000000, 8), 1.45e-2 * 1.02);
  EXPECT_LE(error(1000000, 12), 8.85e-4 * 1.02);
  EXPECT_LE(error(1000000, 16), 5.45e-5 * 1.02);
  double last = 1;
  for (std::int64_t terms = 1; terms <= 20; ++terms) {
    auto const sum = sum_of_terms(kernel, 100000, terms, polished);
    EXPECT_LE(sum.error.max_relative_error, 1.021 * last) << terms;  // certificates may add 2 %
    last = sum.error.max_relative_error;
  }
}

TEST(SumOfExponentials, MeetsPowerLawsAndLongHorizons) {
  for (double beta : {0.2, 0.5, 1.0, 2.5})
    for (std::int64_t horizon : {1000, 1000000000})
      for (auto const& options : {sum_options{}, polished}) {
        auto const sum = sum_of_accuracy(power_law(beta), horizon, 1e-4, options);
        EXPECT_LE(sum.error.max_relative_error, 1e-4);
        EXPECT_EQ(sum(0), 0);
        for (double weight : sum.weights) EXPECT_GT(weight, 0);
      }
}

TEST(SumOfExponentials, TriesMinimaxWhereTheClosedFormHasTooManyTerms) {
  gruenwald_letnikov const kernel(0.4);
  EXPECT_GT(sum_of_accuracy(kernel, 100000, 1e-3).terms(), 12u);
  auto const sum = sum_of_accuracy(kernel, 100000, 1e-3, {.most_terms = 12});
  EXPECT_LE(sum.terms(), 12u);
  EXPECT_LE(sum.error.max_relative_error, 1e-3);
}

TEST(SumOfExponentials, MeetsLagZeroByFeedThrough) {
  // What docs/spectra.md says, to two digits, and never what the exponentials would give there.
  for (auto [alpha, said] : {std::pair{0.1, 0.68}, {0.3, 0.29}, {0.5, 0.11}}) {
    auto const sum = sum_of_terms(gruenwald_letnikov(alpha), 1000000, 16);
    double weights = 0;
    for (double weight : sum.weights) weights += weight;
    EXPECT_EQ(sum(0), 1);
    EXPECT_NEAR(sum.feed_through(), 1 - weights, 1e-14);
    EXPECT_NEAR(sum.feed_through(), said, 0.005);
  }
}

TEST(SumOfExponentials, OfOrderOneIsOneThatForgetsNothing) {
  auto const sum = sum_of_accuracy(gruenwald_letnikov(1), 1000000, 1e-6);
  ASSERT_EQ(sum.terms(), 1u);
  EXPECT_EQ(sum.rates[0], 0);
  EXPECT_EQ(sum(1000000), 1);
  EXPECT_EQ(sum.error.max_relative_error, 0);
}

TEST(SumOfExponentials, OfShortHorizonsIsThereToo) {
  for (std::int64_t horizon : {1, 2, 3, 5, 10, 40})
    for (auto const& options : {sum_options{}, polished}) {
      auto const sum = sum_of_accuracy(gruenwald_letnikov(0.6), horizon, 1e-5, options);
      EXPECT_LE(sum.error.max_relative_error, 1e-5) << horizon;
    }
}

TEST(SumOfExponentials, OfHalfTheLagsIsExact) {
  for (std::int64_t horizon : {1, 2, 3, 10, 12})
    EXPECT_LE(sum_of_accuracy(gruenwald_letnikov(0.5), horizon, 1e-6).terms(),
              static_cast<std::size_t>(horizon + 1) / 2);
  EXPECT_LE(sum_of_terms(gruenwald_letnikov(0.5), 2, 1).error.max_relative_error, 1e-12);
}

TEST(SumOfExponentials, OfFewTermsIsTheBestOfThem) {
  // By minimisation from many starts: 1.8e-2, 3.7e-2, 1.05e-2 and 1.6e-3.
  auto const error = [](double alpha, std::int64_t horizon, std::int64_t terms) {
    return sum_of_terms(gruenwald_letnikov(alpha), horizon, terms, polished)
        .error.max_relative_error;
  };
  EXPECT_LE(error(0.99, 1000, 1), 1.85e-2 * 1.02);
  EXPECT_LE(error(0.9, 1000, 2), 3.75e-2 * 1.02);
  EXPECT_LE(error(0.5, 13, 2), 1.06e-2 * 1.02);
  EXPECT_LE(error(0.1, 13, 3), 1.65e-3 * 1.02);
}

// Steeper near lag 1 than any exponential that fades by e^-1: the density grows.
struct shifted {
  double operator()(std::int64_t lag) const { return 1 / (static_cast<double>(lag) - 0.9); }
  double density(double rate) const { return std::exp(0.9 * rate); }
  double tail_exponent() const { return 1; }
  double at_zero() const { return 0; }
  double second_difference(std::int64_t lag) const {
    double const x = static_cast<double>(lag) - 0.9;
    return 2 / ((x - 1) * x * (x + 1));
  }
};

TEST(SumOfExponentials, MeetsSteepKernels) {
  EXPECT_LE(sum_of_terms(power_law(10), 1000, 14).error.max_relative_error, 1e-2);
  EXPECT_LE(sum_of_accuracy(power_law(30), 1000000, 1e-3).error.max_relative_error, 1e-3);
  for (double accuracy : {0.5, 1e-3})
    for (auto const& options : {sum_options{}, polished})
      EXPECT_LE(sum_of_accuracy(shifted(), 1000, accuracy, options).error.max_relative_error,
                accuracy);
  expect_refusal([] { (void)sum_of_accuracy(power_law(200), 1000, 1e-3); }, {"out of reach"});
}

TEST(SumOfExponentials, SaysWhatTheBestIsWhereMoreIsAsked) {
  gruenwald_letnikov const kernel(0.5);
  expect_refusal([&] { (void)sum_of_accuracy(kernel, 1000000, 1e-4, {.most_terms = 10}); },
                 {"10 terms", "16 terms and an error of"});
  for (double accuracy : {0.0, 1e-14, 1.0, std::nan("")})
    expect_refusal([&] { (void)sum_of_accuracy(kernel, 1000000, accuracy); },
                   {"accuracy is", "at least 1e-13"});
  expect_refusal([&] { (void)sum_of_accuracy(kernel, 0, 1e-3); }, {"horizon is 0"});
  expect_refusal([&] { (void)sum_of_terms(kernel, 1000, 0); }, {"terms is 0"});
}

}  // namespace
