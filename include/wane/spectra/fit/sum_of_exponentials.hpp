// Sums of exponentials for a kernel: of a wanted accuracy, or of a wanted number of terms.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/fit/certify.hpp"
#include "wane/spectra/fit/closed_form.hpp"
#include "wane/spectra/fit/minimax_sum.hpp"

namespace wane::spectra {

enum class construction {
  closed_form,  // a few terms more than needed, in milliseconds; minimax where that falls short
  minimax       // the fewest terms possible, or one more, in tens of milliseconds
};

struct sum_options {
  metric measured = metric::relative;  // on lags 1..horizon; lag 0 is met exactly
  construction built = construction::closed_form;
  std::int64_t most_terms = 256;
};

}  // namespace wane::spectra

namespace wane::spectra::impl {

// Finds sums of exponentials for one kernel and horizon.
template <completely_monotone Kernel>
class sum_finder {
 public:
  sum_finder(Kernel const& kernel, std::int64_t horizon, sum_options const& options)
      : kernel_(kernel), horizon_(horizon), options_(options) {
    require_horizon(horizon, "horizon");
    require_count(options.most_terms, "most_terms");
  }

  // The fewest terms of the construction whose certified error is at most `accuracy`.
  exponential_sum to(double accuracy) const {
    require(accuracy >= finest && accuracy < 1, "accuracy is ", accuracy,
            "; it must be at least 1e-13, which double precision can certify, and below 1");
    exponential_sum best = closed_form_to(accuracy);
    if (lags() <= 2 * most_exact) best = fewest_of_rules(best, accuracy);
    bool const met = error_of(best) <= accuracy && terms_of(best) <= options_.most_terms;
    if (options_.built == construction::minimax || !met) best = fewest(std::move(best), accuracy);
    require(error_of(best) <= accuracy && terms_of(best) <= options_.most_terms, "accuracy ",
            accuracy, " on lags 1..", horizon_, " is out of reach with ", options_.most_terms,
            " terms; the best found has ", best.terms(), " terms and an error of ", error_of(best));
    return best;
  }

  // The sum of at most `terms` terms with the least error.
  exponential_sum of(std::int64_t terms) const {
    require_count(terms, "terms");
    auto const wanted = static_cast<std::size_t>(terms);
    // Halves the accuracy until there are too many terms, then searches between the last two.
    double reached = 1, missed = 0, least = HUGE_VAL;
    exponential_sum best = closed_form_aimed_at(reached);
    auto const try_at = [&](double aim) {
      exponential_sum found = closed_form_aimed_at(aim);
      if (found.terms() > wanted) return false;
      double const error = seen_error(found);
      if (error < least) best = std::move(found), least = error;
      return true;
    };
    for (double aim = reached; aim > finest / 10 && missed == 0; aim /= 2)
      (try_at(aim) ? reached : missed) = aim;
    for (int i = 0; i < 4 && missed > 0; ++i) {
      double const aim = std::sqrt(reached * missed);
      (try_at(aim) ? reached : missed) = aim;
    }
    if (best.terms() > wanted || (wanted <= most_exact && 2 * wanted >= lags()))
      best = first_lags_of(closed_form_aimed_at(finest), wanted);
    best = certified(std::move(best));
    if (options_.built == construction::minimax)
      if (auto polished = minimax_of(wanted, best); polished && better(*polished, best))
        best = std::move(*polished);
    return best;
  }

 private:
  double error_of(exponential_sum const& sum) const {
    return options_.measured == metric::relative ? sum.error.max_relative_error
                                                 : sum.error.max_absolute_error;
  }
  static std::int64_t terms_of(exponential_sum const& sum) {
    return static_cast<std::int64_t>(sum.terms());
  }
  bool better(exponential_sum const& a, exponential_sum const& b) const {
    return error_of(a) < error_of(b);
  }

  exponential_sum of_nodes(std::vector<node> const& nodes) const {
    exponential_sum sum;
    for (node const& n : nodes)
      if (n.weight != 0) sum.rates.push_back(n.at), sum.weights.push_back(n.weight);
    sum.at_zero = kernel_.at_zero();
    return sum;
  }
  exponential_sum certified(exponential_sum sum) const {
    sum.error = certify(kernel_, sum, horizon_);
    return sum;
  }
  // The largest error on a few lags, at most the certified error.
  double seen_error(exponential_sum const& sum) const {
    double largest = 0;
    for (std::int64_t lag : log_spaced_lags(horizon_, 8, 200)) {
      double const value = kernel_(lag);
      double const scale = options_.measured == metric::relative ? value : 1.0;
      double const error = std::abs(sum(lag) - value) / scale;
      if (!(error <= largest)) largest = error == error ? error : HUGE_VAL;
    }
    return largest;
  }
  std::size_t lags() const { return static_cast<std::size_t>(horizon_); }

  exponential_sum closed_form_aimed_at(double accuracy) const {
    if (kernel_.tail_exponent() == 0) return of_nodes({{0, kernel_(1)}});  // the kernel is constant
    if (options_.measured == metric::relative)
      return of_nodes(closed_form<Kernel>(kernel_, horizon_, accuracy).nodes());
    // Beyond the lag where the kernel is below the error, 0 is accurate enough.
    std::int64_t low = 1, high = horizon_;
    while (low < high) {
      std::int64_t const middle = low + (high - low) / 2;
      if (kernel_(middle) > accuracy / 2)
        low = middle + 1;
      else
        high = middle;
    }
    return of_nodes(
        closed_form<Kernel>(kernel_, low, std::min(1.0, accuracy / kernel_(1))).nodes());
  }
  // The closed form reaches 0.6 to 1.6 times the error it aims at, so several aims are tried.
  exponential_sum closed_form_to(double accuracy) const {
    exponential_sum sum;
    for (double part : {1.6, 1.3, 1.0, 0.85, 0.7, 0.5, 0.35, 0.2}) {
      sum = closed_form_aimed_at(part * accuracy);
      if (seen_error(sum) > accuracy) continue;
      sum = certified(std::move(sum));
      if (error_of(sum) <= accuracy) return sum;
    }
    return certified(std::move(sum));
  }

  // Finds minimax sums one after another, each from the rates of the one before, because best sums
  // have similar rates. next(sum) returns the number of terms of the following sum; 0 ends.
  template <class Next>
  void grow(exponential_sum const& from, std::size_t first, Next const& next) const {
    minimax_sum<Kernel> polish(kernel_, horizon_, options_.measured);
    std::vector<double> log_rates = log_rates_of(from);
    // A best sum has 2 S + 1 extrema.
    std::size_t const most = (std::min<std::size_t>(lags(), 1000) - 1) / 2;
    for (std::size_t count = std::min(first, most); count > 0;) {
      auto const nodes = polish.from(spread(log_rates, count));
      if (!nodes) break;
      exponential_sum const sum = certified(of_nodes(*nodes));
      log_rates = log_rates_of(sum);
      count = next(sum);
    }
  }
  static constexpr std::size_t first_terms = 6;
  static constexpr std::size_t most_exact = 12;  // Gauss rules are accurate up to so many nodes
  static constexpr double finest = 1e-13;
  // The next number of terms on the way from `terms` to `wanted`: up by a quarter, down by one.
  static std::size_t towards(std::size_t wanted, std::size_t terms) {
    if (wanted < terms) return terms - 1;
    return std::min(wanted, terms + std::max<std::size_t>(1, terms / 4));
  }

  // `count` terms that agree with the sum on the first 2 `count` lags.
  exponential_sum first_lags_of(exponential_sum const& sum, std::size_t count) const {
    std::vector<node> nodes;
    for (std::size_t s = 0; s < sum.terms(); ++s) nodes.push_back({sum.rates[s], sum.weights[s]});
    return of_nodes(rule_in_factors(nodes, count));
  }

  // For a short horizon, where half as many terms as lags meet every lag.
  exponential_sum fewest_of_rules(exponential_sum const& best, double accuracy) const {
    exponential_sum const fine = closed_form_aimed_at(finest);
    for (std::size_t count = 1; count < best.terms(); ++count) {
      exponential_sum found = certified(first_lags_of(fine, count));
      if (error_of(found) <= accuracy || 2 * count >= lags()) return found;
    }
    return best;
  }

  // The fewest terms of minimax sums. Each term lowers the error by exp(-pi^2 / log T) or more,
  // from which the next number of terms to try is estimated.
  exponential_sum fewest(exponential_sum best, double accuracy) const {
    double const of_a_term = std::numbers::pi * std::numbers::pi /
                             std::log(std::max(8.0, static_cast<double>(horizon_)));
    std::size_t too_few = 0;
    grow(best, std::min(first_terms, best.terms()), [&](exponential_sum const& sum) -> std::size_t {
      std::size_t const terms = sum.terms();
      double const spare = std::log(accuracy / error_of(sum)) / of_a_term;
      std::size_t next = 0;
      if (spare >= 0) {
        if (terms < best.terms()) best = sum;
        auto const fewer = std::max<std::size_t>(1, static_cast<std::size_t>(spare));
        next = std::max(terms - std::min(fewer, terms - 1), too_few + 1);
      } else {
        too_few = std::max(too_few, terms);
        auto const more = std::max<std::size_t>(1, static_cast<std::size_t>(-spare));
        next = towards(terms + more, terms);
      }
      return next > too_few && next < best.terms() ? next : 0;
    });
    return best;
  }
  // The best of the minimax sums found on the way to `terms` terms.
  std::optional<exponential_sum> minimax_of(std::size_t terms, exponential_sum const& start) const {
    std::optional<exponential_sum> best;
    for (std::size_t first = std::min(first_terms, terms); first > 0 && !best; --first)
      grow(start, first, [&](exponential_sum const& sum) -> std::size_t {
        if (!best || better(sum, *best)) best = sum;
        return sum.terms() == terms ? 0 : towards(terms, sum.terms());
      });
    return best;
  }
  static std::vector<double> log_rates_of(exponential_sum const& sum) {
    std::vector<double> logs;
    for (double rate : sum.rates) logs.push_back(std::log(rate));
    return logs;
  }

  Kernel const& kernel_;
  std::int64_t horizon_;
  sum_options options_;
};

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   using namespace wane::spectra;
//   exponential_sum const sum = sum_of_accuracy(power_law(0.5), 4096, 1e-3);
//   exponential_sum const fewest =
//       sum_of_accuracy(power_law(0.5), 4096, 1e-3, {.built = construction::minimax});
//
// A sum whose certified error on lags 1..horizon is at most `accuracy`, with as few terms as
// options.built gives. Throws wane::error, with the error of the best sum found, where minimax
// cannot reach the accuracy within options.most_terms.
template <completely_monotone Kernel>
exponential_sum sum_of_accuracy(Kernel const& kernel, std::int64_t horizon, double accuracy,
                                sum_options const& options = {}) {
  return impl::sum_finder<Kernel>(kernel, horizon, options).to(accuracy);
}

// The sum of at most `terms` terms with the least error that options.built finds, certified.
template <completely_monotone Kernel>
exponential_sum sum_of_terms(Kernel const& kernel, std::int64_t horizon, std::int64_t terms,
                             sum_options const& options = {}) {
  return impl::sum_finder<Kernel>(kernel, horizon, options).of(terms);
}

}  // namespace wane::spectra
