// The power law through measured lags: exact points, exclusion, known exponents, coverage.
// SPDX-License-Identifier: MIT
#include "spectra/power_law_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/renewal.hpp"
#include "shared/input.hpp"
#include "shared/progress.hpp"
#include "spectra/series_measurement.hpp"
#include "spectra/text.hpp"
#include "spectra/text_measurement.hpp"
#include "wane/spectra/fit/lags.hpp"

namespace wane::bench {
namespace {

measured_lag exactly(std::int64_t lag, double value, double chance) {
  measured_lag m{.lag = lag, .pairs = 1000, .estimate = value, .chance = chance};
  m.without.fill(value);
  return m;
}

measurement power_points(double exponent, double chance) {
  measurement data{.quantity = "thing", .unit = "1", .baseline_name = "none", .lags = {}};
  for (std::int64_t lag = 1; lag <= 1024; lag *= 2) {
    data.lags.push_back(exactly(lag, 0.3 * std::pow(static_cast<double>(lag), -exponent), chance));
  }
  return data;
}

TEST(PowerLawFit, GoesThroughPointsOnALaw) {
  auto const fit = fit_power_law(power_points(0.8, 1e-6));
  EXPECT_NEAR(fit.exponent, 0.8, 1e-12);
  EXPECT_NEAR(fit.amplitude, 0.3, 1e-12);
  EXPECT_EQ(fit.lags_used, 11u);
  EXPECT_EQ(fit.first_lag, 1);
  EXPECT_EQ(fit.last_lag, 1024);
  EXPECT_LT(fit.high - fit.low, 1e-10);
}

TEST(PowerLawFit, LeavesOutWhatLiesInTheNoise) {
  auto const fit = fit_power_law(power_points(1, 0.001));  // 3 sd are 0.003: lags up to 64
  EXPECT_EQ(fit.last_lag, 64);
  EXPECT_NEAR(fit.exponent, 1, 1e-12);
}

TEST(PowerLawFit, StopsWhereTheTailHasDrowned) {
  auto data = power_points(1, 0.001);
  data.lags.push_back(exactly(2048, 0.1, 0.001));  // sticks out after four lags in the noise
  EXPECT_EQ(fit_power_law(data).last_lag, 64);
  data = power_points(1, 1e-6);
  data.lags[4].estimate = 0;  // one gap is no end
  EXPECT_EQ(fit_power_law(data).last_lag, 1024);
  EXPECT_EQ(fit_power_law(data).lags_used, 10u);
}

TEST(PowerLawFit, MayStartLater) {
  auto data = power_points(0.5, 1e-6);
  data.lags[0].estimate = 100;
  auto const fit = fit_power_law(data, 2);
  EXPECT_EQ(fit.first_lag, 2);
  EXPECT_NEAR(fit.exponent, 0.5, 1e-12);
}

TEST(PowerLawFit, RefusesFewerThanFourLags) {
  EXPECT_THROW(fit_power_law(power_points(1, 0.03)), input_error);
  EXPECT_THROW(fit_power_law(power_points(1, 1e-6), 512), input_error);
}

// A kernel that bends has an interval that says so, however little noise there is.
TEST(PowerLawFit, IsUnsureWhenTheKernelIsNoPowerLaw) {
  measurement data = power_points(0.5, 1e-9);
  for (auto& m : data.lags)
    m = exactly(m.lag, m.estimate + std::exp(-0.3 * static_cast<double>(m.lag)), 1e-9);
  auto const fit = fit_power_law(data);
  EXPECT_GT(fit.high - fit.low, 0.1);
  EXPECT_EQ(fit.sampling_error, 0);
}

// Of 40 intervals of 95 %, fewer than 34 cover with probability 0.3 %. The process renews with gaps
// of infinite variance, so its blocks are far from independent; a draw that is mostly one gap has
// no lags to fit and counts as not covered. The mean is within 0.06: four of its standard
// deviations, 0.09 / sqrt(40).
constexpr std::uint64_t draws = 40;
constexpr std::size_t length = 100'000;
constexpr std::size_t fewest_covered = 34;

class coverage {
 public:
  explicit coverage(double exponent) : exponent_(exponent) {}

  template <class Measure>
  void add(Measure const& measure) {
    try {
      auto const fit = fit_power_law(measure());
      covered += fit.low <= exponent_ && exponent_ <= fit.high;
      sum_ += fit.exponent;
      ++fitted_;
    } catch (input_error const&) {
    }
  }

  double mean() const { return sum_ / fitted_; }
  std::size_t covered = 0;

 private:
  double exponent_, sum_ = 0, fitted_ = 0;
};

TEST(PowerLawFit, CoversTheExponentOfAText) {
  renewal const process{.decay = 0.7, .share = 0.5};
  auto const lags = spectra::log_spaced_lags(1000, 8, 28);
  progress silent(false);
  coverage result(1.4);
  for (std::uint64_t i = 0; i < draws; ++i) {
    auto const source = corpus_of(std::vector<std::string>{process.text(length, 3, 100 + i)});
    result.add([&] { return measure_text(source, lags, i, 2, silent, 4); });
  }
  EXPECT_GE(result.covered, fewest_covered);
  EXPECT_NEAR(result.mean(), 1.4, 0.06);
}

TEST(PowerLawFit, CoversTheExponentOfASeries) {
  renewal const process{.decay = 0.7, .share = 0.5};
  auto const lags = spectra::log_spaced_lags(1000, 8, 28);
  progress silent(false);
  coverage result(0.7);
  for (std::uint64_t i = 0; i < draws; ++i) {
    auto const values = process.series(length, 100 + i);
    result.add([&] { return measure_series(values, lags, 2, silent); });
  }
  EXPECT_GE(result.covered, fewest_covered);
  EXPECT_NEAR(result.mean(), 0.7, 0.06);
}

// The closed form that the two tests above rest on.
TEST(PowerLawFit, IsTestedOnAProcessWithTheMutualInformationItClaims) {
  renewal const process{.decay = 0.7, .share = 0.5};
  auto const source = corpus_of(std::vector<std::string>{process.text(1'000'000, 3, 1)});
  progress silent(false);
  auto const data = measure_text(source, std::vector<std::int64_t>{1, 2, 5, 20}, 0, 2, silent, 2);
  for (auto const& m : data.lags) {
    EXPECT_NEAR(m.excess(), process.mutual_information(m.lag, 3), 4 * m.noise()) << m.lag;
  }
}

}  // namespace
}  // namespace wane::bench
