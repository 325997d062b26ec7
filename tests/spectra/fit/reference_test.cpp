// A reference: its fit has one error size with the signs of y, and its bound is weak duality.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/fit/minimax.hpp"
#include "wane/spectra/rates/geometric.hpp"

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

class Reference : public ::testing::Test {
 protected:
  std::vector<std::int64_t> lags = fitting_lags(1000);
  exponential_basis basis{geometric(5, 1e-3, 1), lags, std::vector<double>(lags.size(), 1.0)};
  std::vector<double> target = values_at(power_law(0.5), lags);
  std::vector<std::size_t> chosen = {0, 2, 10, 50, 200, 900};
};

TEST_F(Reference, FitHasOneErrorSizeWithAlternatingSignsAndThatIsTheBound) {
  reference_fit const fit(basis, chosen, target);
  auto const error = residual(basis, fit.step(), target);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    EXPECT_NEAR(std::abs(error[chosen[i]]), fit.lower_bound(), 1e-14);
    if (i > 0) {
      EXPECT_LT(error[chosen[i]] * error[chosen[i - 1]], 0);
    }
  }
}

TEST_F(Reference, BoundDoesNotDependOnTheFitItStartsFrom) {
  double const bound = reference_fit(basis, chosen, target).lower_bound();
  auto const other = residual(basis, {1, 2, 3, 4, 5}, target);
  EXPECT_NEAR(reference_fit(basis, chosen, other).lower_bound(), bound, 1e-13);
}

TEST_F(Reference, ExchangeOfOneLagRaisesTheBoundUntilItIsTheError) {
  double bound = 0;
  double size = 1;
  for (int step = 0; step < 100 && size > bound * (1 + 1e-9); ++step) {
    reference_fit const fit(basis, chosen, target);
    EXPECT_GE(fit.lower_bound(), bound * (1 - 1e-12));
    bound = fit.lower_bound();
    auto const error = residual(basis, fit.step(), target);
    std::size_t const entering = index_of_largest(error);
    size = std::abs(error[entering]);
    chosen[fit.leaving(basis, entering, error[entering] > 0)] = entering;
    std::sort(chosen.begin(), chosen.end());
  }
  EXPECT_NEAR(size / bound, 1, 1e-9);
  EXPECT_NEAR(size, minimax(basis, target).error, 1e-9);
}

}  // namespace
