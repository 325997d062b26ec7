// The accuracy of a label that is retrieved from a decaying memory, without training anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace wane::bench {

// A query asks for the label, one of 16, of one token. A label's score is the sum of w m over the
// tokens that carry it: w is what the memory has left of a token, and the match m is 1 for the
// token asked for, normal with mean 0 and deviation 4/strength for all others, as random keys of
// strength^2/16 numbers match. Labels are even. With many others of like weight the scores of all
// labels have the same normal noise, and the right one is ahead by `label_signal` deviations of it.
//
// A denominator that all labels have, as in VORT's equation (16), changes no answer.
inline constexpr int labels = 16;

// w of the token asked for, and the sum of w^2 of all others.
inline double label_signal(double weight, double others, double strength) {
  return strength * weight / std::sqrt(std::max(others, 1e-300));
}

// P(a normal number, moved up by the signal, is the largest among 15 others).
class label_accuracy {
 public:
  label_accuracy() {
    for (int i = 0; i <= points; ++i) table_.push_back(integral(i * step));
  }
  double operator()(double signal) const {
    double const place = std::min(signal / step, points - 1e-9);
    auto const i = static_cast<std::size_t>(place);
    return table_[i] + (place - static_cast<double>(i)) * (table_[i + 1] - table_[i]);
  }

 private:
  static constexpr int points = 200;
  static constexpr double step = 0.05;
  static double integral(double signal) {
    constexpr double width = 0.05;
    double sum = 0;
    for (double x = -8; x <= 8; x += width) {
      double const below = std::erfc(-(x + signal) / std::numbers::sqrt2) / 2;
      sum += std::exp(-x * x / 2) * std::pow(below, labels - 1);
    }
    return sum * width / std::sqrt(2 * std::numbers::pi);
  }
  std::vector<double> table_;
};

}  // namespace wane::bench
