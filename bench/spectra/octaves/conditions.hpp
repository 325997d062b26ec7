// PoST's conditions 3.2 and 3.5, tested on what was measured.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "spectra/octaves/coarse_graining.hpp"
#include "spectra/octaves/measurement.hpp"
#include "spectra/power_law_fit.hpp"

namespace wane::bench {

// J0 and the slack of condition 3.5, J0 (1 - slack) <= J <= J0 (1 + slack), of some octaves: the
// least slack there is. The condition needs it below 1.
struct equipartition {
  double usual = 0;  // J0
  double slack = 0;
  double least_slack = 0;  // with every J moved within its interval towards the others
  bool all_seen = false;   // every J is above its noise

  // Corollary 4.15 moves the exponents of the taper, which lie in [0, 1], by up to this much.
  double taper_bound() const {
    return slack < 1 ? 2 * slack / (1 - slack) : std::numeric_limits<double>::infinity();
  }
  bool holds() const { return all_seen && slack < 1; }
  bool says_something() const { return holds() && taper_bound() < 1; }
};

inline equipartition equipartition_of(std::span<measured_octave const> octaves) {
  double low = std::numeric_limits<double>::infinity(), high = -low, low_reach = low,
         high_reach = -low;
  equipartition found{.all_seen = true};
  for (auto const& octave : octaves) {
    double const j = octave.information(), reach = octave.reach();
    low = std::min(low, j);
    high = std::max(high, j);
    low_reach = std::min(low_reach, j + reach);
    high_reach = std::max(high_reach, j - reach);
    found.all_seen &= octave.above_noise();
  }
  auto const slack_of = [](double least, double most) {
    return most > 0 ? (most - least) / (most + least) : std::numeric_limits<double>::infinity();
  };
  found.usual = (high + low) / 2;
  found.slack = low > 0 ? slack_of(low, high) : std::numeric_limits<double>::infinity();
  found.least_slack = high_reach > low_reach ? slack_of(std::max(low_reach, 0.0), high_reach) : 0;
  return found;
}

// The longest run of octaves at the far end, three or more, whose slack lets Corollary 4.15 say
// something. The number of octaves before it; all of them where there is no such run.
inline std::size_t equal_from(std::span<measured_octave const> octaves) {
  for (std::size_t i = 0; i + 3 <= octaves.size(); ++i) {
    if (equipartition_of(octaves.subspan(i)).says_something()) return i;
  }
  return octaves.size();
}

// J(sigma) ~ sigma^-gamma through the octaves above the noise. Condition 3.5 means that the
// information in [1, t] grows with log t: gamma = 0. NaN with fewer than three such octaves.
struct information_decay {
  double gamma = std::nan(""), reach = std::nan("");  // of the 95 % interval

  bool known() const { return !std::isnan(gamma); }
  bool logarithmic() const { return known() && std::abs(gamma) <= reach; }
};

inline information_decay information_decay_of(std::span<measured_octave const> octaves) {
  std::vector<log_point> points;
  for (auto const& octave : octaves) {
    if (!octave.above_noise()) continue;
    double const j = octave.information();
    points.push_back({std::log(static_cast<double>(octave.sigma)), std::log(j),
                      std::pow(octave.standard_error() / j, 2)});
  }
  if (points.size() < 3) return {};
  line const fit = fit_line(points, spread_around_law(points));
  return {-fit.slope, student_95 * misfit_error(points, fit)};
}

// The window within which half of what the octaves hold is found: logarithmic between octaves. With
// log growth it would be the square root of the longest window.
inline double half_of_the_information(std::span<measured_octave const> octaves) {
  double total = 0, sum = 0;
  for (auto const& octave : octaves) total += std::max(0.0, octave.information());
  for (auto const& octave : octaves) {
    double const j = std::max(0.0, octave.information());
    if (j > 0 && sum + j >= total / 2) {
      return static_cast<double>(octave.sigma) * std::exp2((total / 2 - sum) / j);
    }
    sum += j;
  }
  return std::nan("");
}

// Condition 3.2 wants one exponent beta in (0, 1) at every block length.
struct self_similarity {
  bool positive = true;  // no covariance is below 0 by more than its noise
  double low = std::nan(""), high = std::nan("");  // the exponents above the noise
  double mean = std::nan("");
  double farthest = 0;  // from their mean, in standard errors
  std::size_t exponents = 0;

  // 3.88 standard errors: 0.1 %, Student, 19 degrees of freedom.
  bool constant() const { return farthest <= 3.88; }
  bool known() const { return !positive || exponents > 1; }
  bool holds() const { return positive && exponents > 1 && constant() && mean > 0 && mean < 1; }
};

// Of the blocks given, of lengths b, 2b, 4b, ....
inline self_similarity self_similarity_of(std::span<coarse_grained const> blocks_of_text) {
  auto const above = [](coarse_grained const& c) {
    return c.covariance > student_95 * c.standard_error();
  };
  self_similarity found;
  std::vector<coarse_grained const*> used;
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < blocks_of_text.size(); ++i) {
    auto const& c = blocks_of_text[i];
    found.positive &= c.covariance > -3.88 * c.standard_error();
    if (i + 1 == blocks_of_text.size() || !above(c) || !above(blocks_of_text[i + 1])) continue;
    if (std::isnan(c.exponent) || !(c.exponent_error > 0)) continue;
    used.push_back(&c);
    weights += std::pow(c.exponent_error, -2);
    sum += c.exponent * std::pow(c.exponent_error, -2);
  }
  found.exponents = used.size();
  if (used.empty()) return found;
  found.mean = sum / weights;
  found.low = found.high = used.front()->exponent;
  for (auto const* c : used) {
    found.low = std::min(found.low, c->exponent);
    found.high = std::max(found.high, c->exponent);
    found.farthest =
        std::max(found.farthest, std::abs(c->exponent - found.mean) / c->exponent_error);
  }
  return found;
}

// The blocks before the longest run at the far end, of three exponents or more, that is similar to
// itself; all of them where there is no such run.
inline std::size_t similar_from(std::span<coarse_grained const> blocks_of_text) {
  for (std::size_t i = 0; i < blocks_of_text.size(); ++i) {
    auto const found = self_similarity_of(blocks_of_text.subspan(i));
    if (found.exponents >= 3 && found.holds()) return i;
  }
  return blocks_of_text.size();
}

}  // namespace wane::bench
