// Windows as sums of exponentials: the same weights and slopes, and the sums that STLT wants.
// SPDX-License-Identifier: MIT
#include "wane/spectra/nodes/window_terms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <span>
#include <vector>

namespace {

using namespace wane::spectra;
using complex = std::complex<double>;
using enum window_shape;

constexpr std::array shapes{none, rectangular, hann, exponential, gaussian};

static_assert(is_cut(rectangular) && is_cut(hann));
static_assert(!is_cut(none) && !is_cut(exponential) && !is_cut(gaussian));
static_assert(window_terms(gaussian).size() == 8 && window_terms(hann).size() == 3);

// Twenty-two is the largest sum of |weight|, four what a sum of eight in double may lose of it.
double rounding_of(std::span<window_term const> terms) {
  double size = 0;
  for (auto const& term : terms) size += std::abs(term.weight);
  return 4 * 2.3e-16 * size;
}

TEST(WindowTerms, AddUpToTheWindow) {
  for (auto const shape : shapes)
    for (double const width : {0.7, 3.3, 64.0, 100.5}) {
      window const exact(shape, width);
      auto const terms = window_terms(shape);
      for (double lag = 0; lag < std::min(exact.reach(), 12 * width); ++lag) {
        complex sum = 0;
        for (auto const& term : terms) sum += term.weight * std::exp(term.exponent * lag / width);
        double const bound = window_error(shape) + rounding_of(terms);
        EXPECT_NEAR(sum.real(), exact(lag), bound) << static_cast<int>(shape) << ", " << lag;
        EXPECT_NEAR(sum.imag(), 0, rounding_of(terms));
      }
    }
}

TEST(WindowTerms, HaveTheSlopeOfTheWindow) {
  for (auto const shape : shapes)
    for (double const width : {0.7, 3.3, 64.0, 100.5}) {
      window const exact(shape, width);
      auto const terms = window_terms(shape);
      for (double lag = 0; lag < std::min(exact.reach(), 12 * width); ++lag) {
        complex slope = 0;
        for (auto const& term : terms) {
          slope += term.weight * (-term.exponent * lag / (width * width)) *
                   std::exp(term.exponent * lag / width);
        }
        // Times the width it is the x d/dx of the header; |exponent| x e^{-2.3 x} stays below 5.
        double const bound = (shape == gaussian ? 4.8e-7 : 0) + 5 * rounding_of(terms);
        EXPECT_NEAR(width * slope.real(), width * exact.derivative(lag), bound)
            << static_cast<int>(shape) << ", " << lag;
      }
    }
}

// Between points the error is bounded by its Taylor series: the first three slopes at the nearest
// point (the middle of a thousandth), and as fourth one at most 3 of e^{-x^2/2} and sum |weight|
// |exponent|^4 of the terms.
TEST(WindowTerms, MeetTheGaussianWithinTheErrorSaid) {
  using precise = long double;  // 1e-18 of 22
  precise const half = 0.0005L;
  precise fourth = 3, largest = 0, at_points = 0, tail = 0;
  for (auto const& term : impl::gaussian_terms) {
    fourth += std::abs(term.weight) * std::pow(std::abs(term.exponent), 4);
    tail += std::abs(term.weight) * std::exp(40 * term.exponent.real());
    EXPECT_LT(term.exponent.real(), 0);
  }
  for (int i = 0; i < 40'000; ++i) {
    precise const x = half * static_cast<precise>(2 * i + 1), gauss = std::exp(-x * x / 2);
    std::array<precise, 4> slope{-gauss, x * gauss, (1 - x * x) * gauss,
                                 (x * x * x - 3 * x) * gauss};
    for (auto const& term : impl::gaussian_terms) {
      std::complex<precise> const exponent = term.exponent;
      auto value = std::complex<precise>(term.weight) * std::exp(exponent * x);
      for (precise& one : slope) {
        one += value.real();
        value *= exponent;
      }
    }
    precise bound = fourth * std::pow(half, 4.0L) / 24;
    bound += std::abs(slope[0]) +
             half * (std::abs(slope[1]) +
                     half / 2 * (std::abs(slope[2]) + half / 3 * std::abs(slope[3])));
    largest = std::max(largest, bound);
    at_points = std::max(at_points, std::abs(slope[0]));
  }
  EXPECT_LE(largest, window_error(gaussian));
  EXPECT_GE(at_points, 0.99L * window_error(gaussian));  // no more is claimed than is needed
  EXPECT_LT(tail, 1e-38L);                               // and beyond 40 it is no larger
}

TEST(WindowTerms, ComeInConjugatePairsOfModerateWeight) {
  for (auto const shape : shapes) {
    double size = 0;
    for (auto const& term : window_terms(shape)) {
      size += std::abs(term.weight);
      EXPECT_LE(term.exponent.real(), 0);
      EXPECT_TRUE(std::any_of(window_terms(shape).begin(), window_terms(shape).end(),
                              [&](window_term const& other) {
                                return other.weight == std::conj(term.weight) &&
                                       other.exponent == std::conj(term.exponent);
                              }));
    }
    EXPECT_LT(size, shape == gaussian ? 22 : 1.001);
  }
}

// Recurrences of one pole give the windowed sums of a node, forward in time.
TEST(WindowTerms, MakeTheWindowedSumOfANodeByRecurrences) {
  std::vector<double> x(200);
  for (std::size_t n = 0; n < x.size(); ++n) x[n] = std::sin(static_cast<double>(n * n));
  complex const node = std::polar(0.97, 0.4);
  for (auto const shape : shapes)
    for (double const width : {1.0, 6.5, 16.0}) {
      window const exact(shape, width);
      auto const cut = static_cast<std::size_t>(std::ceil(width));
      std::vector<complex> by_terms(x.size()), by_lags(x.size());
      for (auto const& term : window_terms(shape)) {
        complex const pole = node * std::exp(term.exponent / width);
        complex const last = std::pow(pole, static_cast<double>(cut));
        complex held = 0;
        for (std::size_t n = 0; n < x.size(); ++n) {
          held = pole * held + x[n];
          if (is_cut(shape) && n >= cut) held -= last * x[n - cut];
          by_terms[n] += term.weight * held;
        }
      }
      for (std::size_t n = 0; n < x.size(); ++n) {
        complex power = 1;
        for (std::size_t l = 0; l <= n; ++l, power *= node) {
          by_lags[n] += exact(static_cast<double>(l)) * power * x[n - l];
        }
        // |x| <= 1, and sum_l 0.97^l is 33.
        EXPECT_LE(std::abs(by_terms[n] - by_lags[n]), 33 * window_error(shape) + 1e-13)
            << static_cast<int>(shape) << ", " << width << ", " << n;
      }
    }
}

}  // namespace
