// Which form describes measured lags: of processes whose form is known, for many draws.
// SPDX-License-Identifier: MIT
#include "spectra/decay_forms.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/random_series.hpp"
#include "bench/renewal.hpp"
#include "spectra/measure.hpp"

namespace wane::bench {
namespace {

// The name of the simplest form, or "none".
std::string form_of(std::vector<double> const& series) {
  progress shown;
  auto const data = measure_series(series, lags_to_measure(std::ssize(series) / 10), 2, shown);
  auto const forms = decay_forms(lags_seen(data.lags));
  decay_form const* const found = simplest(forms);
  return found ? found->name : "none";
}

constexpr int draws = 20;

TEST(DecayForms, OneExponentialUnderNoise) {
  int right = 0;
  for (int n = 0; n < draws; ++n) {
    auto const seed = static_cast<std::uint64_t>(n);
    auto series = first_order_series(20'000, 0.95, 2 * seed);
    auto const noise = white_noise(series.size(), 2 * seed + 1);
    for (std::size_t i = 0; i < series.size(); ++i) series[i] += 0.7 * noise[i];
    right += form_of(series) == "one exponential";
  }
  EXPECT_GE(right, draws - 1);
}

TEST(DecayForms, TwoExponentials) {
  int right = 0;
  for (int n = 0; n < draws; ++n) {
    auto const seed = static_cast<std::uint64_t>(n);
    auto series = first_order_series(200'000, 0.99, 2 * seed);
    auto const fast = first_order_series(series.size(), 0.7, 2 * seed + 1);
    for (std::size_t i = 0; i < series.size(); ++i) series[i] += 1.2 * fast[i];
    right += form_of(series) == "two exponentials";
  }
  EXPECT_GE(right, draws - 1);
}

TEST(DecayForms, APowerLaw) {
  int right = 0;
  for (int n = 0; n < draws; ++n)
    right += form_of(renewal{}.series(50'000, static_cast<std::uint64_t>(n))) == "power law";
  EXPECT_GE(right, draws - 1);
}

// What no form of positive terms follows: excesses that rise and fall.
TEST(DecayForms, NoneOfThem) {
  std::vector<measured_lag> lags;
  for (std::int64_t lag = 1; lag <= 12; ++lag) {
    measured_lag m{.lag = lag, .pairs = 1'000'000, .estimate = lag % 2 ? 0.9 : 0.3, .chance = 1e-3};
    m.without.fill(m.estimate);
    lags.push_back(m);
  }
  auto const forms = decay_forms(lags);
  EXPECT_EQ(simplest(forms), nullptr);
}

}  // namespace
}  // namespace wane::bench
