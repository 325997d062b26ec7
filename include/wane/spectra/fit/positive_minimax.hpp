// positive_minimax: exponentials with positive weights and the smallest largest error on samples.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "wane/spectra/fit/minimax_step.hpp"

namespace wane::spectra::impl {

// A sample whose error counts relative to its scale. The scale is held as a log, so that samples
// may lie hundreds of decades apart.
struct scaled_sample {
  double lag, log_scale;
  double target;  // value / scale
};

// weight e^{-rate (lag - pinned lag)} times the scale of the pinned sample. Relative to the scale,
// a term is largest at its pinned sample, where it is `weight`; so weights stay between 0 and 2.
struct pinned_term {
  double rate = 0, weight = 0;
  scaled_sample pinned{};

  double part_of(scaled_sample const& s) const {
    return std::exp(-rate * (s.lag - pinned.lag) - (s.log_scale - pinned.log_scale));
  }
  // The log of the weight of the exponential at lag 0.
  double log_weight() const { return std::log(weight) + pinned.log_scale + rate * pinned.lag; }
};

inline double error_of_sum(std::vector<pinned_term> const& terms, scaled_sample const& s) {
  double sum = 0;
  for (pinned_term const& term : terms)
    if (term.weight > 0) sum += term.weight * term.part_of(s);
  return sum - s.target;
}

// Each step is the best one in a box for errors linearised in log rates and weights. The box grows
// and shrinks with the trust in the linearisation (Osborne and Watson 1969; Madsen 1975). Then the
// weights become the best ones for the new rates; with the weights of the step itself the boxes
// would be tiny. Near a solution with 2S + 1 equal errors this is Newton's method. Terms whose
// weight falls to 0 leave.
//
// The multipliers of the last step tell how much a term of any further rate would lower the error.
// Where none does, no number of terms does, because the error is convex in the weights.
class positive_minimax {
 public:
  using vector = Eigen::VectorXd;
  using matrix = Eigen::MatrixXd;

  // Rates are 0, or from `slowest` to `fastest`.
  positive_minimax(std::vector<scaled_sample> samples, double slowest, double fastest)
      : samples_(std::move(samples)), slowest_(slowest), fastest_(fastest) {}

  void add(scaled_sample const& sample) { samples_.push_back(sample); }
  std::vector<pinned_term> const& terms() const { return terms_; }
  double error() const { return errors_of(terms_).cwiseAbs().maxCoeff(); }

  // Starts with a single term, the best among these rates.
  void start(std::vector<double> const& rates) {
    double least = HUGE_VAL;
    for (double rate : rates) {
      pinned_term term = pinned(rate);
      matrix const part = parts_of(term);
      vector const low = vector::Zero(1), high = vector::Constant(1, largest_weight);
      vector const errors = errors_of({});
      minimax_step const fit(errors, part, low, high);
      if (!(fit.error() < least)) continue;
      least = fit.error();
      term.weight = fit.step()(0) > finest ? fit.step()(0) : 1;  // of no use, but there
      terms_ = {term};
    }
  }
  // Adds a term with a rate that promises a large gain; returns false where no rate lowers the
  // error. Among rates that promise nearly the same, as all very fast or all very slow ones do, it
  // takes the rate nearest to a term: far from all terms the error has no slope to follow.
  bool extend(std::vector<double> const& rates) {
    double const size = error();
    std::vector<double> gains;
    for (double rate : rates) gains.push_back(-multipliers_.dot(parts_of(pinned(rate))));
    double const most = *std::max_element(gains.begin(), gains.end());
    if (!(most > precision * size)) return false;
    double nearest = HUGE_VAL, chosen = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (gains[i] < (size > unmet ? barely : nearly) * most) continue;
      double const away = distance(rates[i]);
      if (away <= nearest) nearest = away, chosen = rates[i];
    }
    terms_.push_back(pinned(chosen));
    if (size > unmet) terms_.back().weight = 1;
    return true;
  }

  // Steps until the next would lower the error by less than a thousandth of it; in a box smaller
  // than 1, by that times the size of the box.
  void improve() {
    double size = error(), radius = 0.5;
    step_basis_.clear(), weight_basis_.clear();
    for (int i = 0; i < most_steps; ++i) {
      vector const errors = errors_of(terms_);
      matrix const slopes = slopes_of_terms();
      auto const [low, high] = box(radius);
      minimax_step const best(errors, slopes, low, high, step_basis_);
      step_basis_ = best.basis();
      multipliers_ = best.multipliers();
      double const promised = size - best.error();
      bool const converged = !(promised > precision * std::min(1.0, radius) * size);
      if (converged || size < rounding || radius < least_radius) break;
      std::vector<pinned_term> const next = moved(best.step());
      double const found = errors_of(next).cwiseAbs().maxCoeff();
      double const gain = (size - found) / promised;
      if (gain > 0) terms_ = next, size = found;
      if (!(gain > 0.25)) radius /= 3;
      if (gain > 0.75) radius = std::min(widest_radius, 2 * radius);
    }
    double const unseen = std::max(finest, precision * size);
    std::erase_if(terms_, [&](pinned_term const& term) { return !(term.weight > unseen); });
  }

 private:
  static constexpr double precision = 1e-3;
  // `nearly`: the part of the largest promise that counts as equally good. While the error is above
  // `unmet`, because samples span more decades than so few terms can reach, no weight lowers it;
  // then a term enters with weight 1, and a promise of the part `barely` suffices.
  static constexpr double nearly = 0.7, barely = 0.1, unmet = 0.95;
  static constexpr double rounding = 1e-15, finest = 1e-13;
  static constexpr double largest_weight = 2;
  static constexpr double widest_radius = 2, least_radius = 1e-7;
  static constexpr int most_steps = 80;

  // The distance to the nearest term in log rate.
  double distance(double rate) const {
    double least = HUGE_VAL;
    for (pinned_term const& term : terms_)
      if (rate > 0 && term.rate > 0) least = std::min(least, std::abs(std::log(rate / term.rate)));
    return least;
  }

  vector parts_of(pinned_term const& term) const {
    vector parts(Eigen::Index(samples_.size()));
    for (std::size_t i = 0; i < samples_.size(); ++i)
      parts(Eigen::Index(i)) = term.part_of(samples_[i]);
    return parts;
  }
  vector errors_of(std::vector<pinned_term> const& terms) const {
    vector errors(Eigen::Index(samples_.size()));
    for (std::size_t i = 0; i < samples_.size(); ++i)
      errors(Eigen::Index(i)) = error_of_sum(terms, samples_[i]);
    return errors;
  }
  pinned_term pinned(double rate) const {
    pinned_term term{rate, 0, samples_.front()};
    for (scaled_sample const& s : samples_)
      if (rate * s.lag + s.log_scale < rate * term.pinned.lag + term.pinned.log_scale)
        term.pinned = s;
    return term;
  }
  pinned_term pinned_anew(pinned_term const& term) const {
    pinned_term anew = pinned(term.rate);
    anew.weight = term.weight * term.part_of(anew.pinned);
    return anew;
  }

  // The derivatives of the errors by the weights, then by the log rates.
  matrix slopes_of_terms() const {
    auto const count = Eigen::Index(terms_.size());
    matrix slopes(Eigen::Index(samples_.size()), 2 * count);
    for (Eigen::Index s = 0; s < count; ++s) {
      pinned_term const& term = terms_[std::size_t(s)];
      slopes.col(s) = parts_of(term);
      for (std::size_t i = 0; i < samples_.size(); ++i)
        slopes(Eigen::Index(i), count + s) = -term.rate * (samples_[i].lag - term.pinned.lag) *
                                             term.weight * slopes(Eigen::Index(i), s);
    }
    return slopes;
  }
  std::pair<vector, vector> box(double radius) const {
    auto const count = Eigen::Index(terms_.size());
    vector low = vector::Constant(2 * count, -radius), high = -low;
    for (Eigen::Index s = 0; s < count; ++s) {
      pinned_term const& term = terms_[std::size_t(s)];
      low(s) = -term.weight;
      high(s) = std::max(0.0, largest_weight - term.weight);
      if (term.rate > 0) high(count + s) = std::clamp(std::log(fastest_ / term.rate), 0.0, radius);
    }
    return {low, high};
  }
  std::vector<pinned_term> moved(vector const& step) {
    auto const count = Eigen::Index(terms_.size());
    std::vector<pinned_term> next = terms_;
    for (Eigen::Index s = 0; s < count; ++s) {
      pinned_term& term = next[std::size_t(s)];
      term.weight = std::max(0.0, term.weight + step(s));
      term.rate *= std::exp(step(count + s));
      if (term.rate < slowest_) term.rate = 0;
      term = pinned_anew(term);
    }
    weigh(next);
    return next;
  }
  // Sets the best weights for the rates of these terms.
  void weigh(std::vector<pinned_term>& terms) {
    auto const count = Eigen::Index(terms.size());
    matrix parts(Eigen::Index(samples_.size()), count);
    vector low(count), high(count);
    for (Eigen::Index s = 0; s < count; ++s) {
      pinned_term const& term = terms[std::size_t(s)];
      parts.col(s) = parts_of(term);
      low(s) = -term.weight;
      high(s) = std::max(0.0, largest_weight - term.weight);
    }
    vector const errors = errors_of(terms);
    minimax_step const best(errors, parts, low, high, weight_basis_);
    weight_basis_ = best.basis();
    std::vector<pinned_term> next = terms;
    for (Eigen::Index s = 0; s < count; ++s)
      next[std::size_t(s)].weight = std::max(0.0, terms[std::size_t(s)].weight + best.step()(s));
    if (errors_of(next).cwiseAbs().maxCoeff() < errors.cwiseAbs().maxCoeff()) terms = next;
  }

  std::vector<scaled_sample> samples_;
  double slowest_, fastest_;
  std::vector<pinned_term> terms_;
  vector multipliers_;
  std::vector<minimax_step::constraint> step_basis_, weight_basis_;
};

}  // namespace wane::spectra::impl
