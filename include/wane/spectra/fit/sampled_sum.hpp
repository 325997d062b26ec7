// Sums of exponentials for a kernel known by samples: measured, or tabulated at some lags.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/fit/exponential_sum.hpp"
#include "wane/spectra/fit/fit_error.hpp"
#include "wane/spectra/fit/positive_minimax.hpp"

namespace wane::spectra {

// values[i] > 0 at lags[i], in steps, increasing; some lag is at least 1. A value at lag 0 is met
// exactly, by feed-through. Where there is none at_zero of a sum is what its exponentials give
// there, and nothing feeds through: samples that begin late say little about it.
struct sampled_kernel {
  std::vector<std::int64_t> lags;
  std::vector<double> values;
};

struct sample_options {
  metric measured = metric::relative;  // on the samples of lags >= 1; absolute in units of values
  std::int64_t most_terms = 256;
};

}  // namespace wane::spectra

namespace wane::spectra::impl {

// How sums for samples are found: terms are added one by one to the best sum of so many. That one
// is sought on a few hundred of the samples, and on those besides at which it turns out worst.
class sampled_sum_finder {
 public:
  sampled_sum_finder(sampled_kernel const& kernel, sample_options const& options)
      : options_(options) {
    require_samples(kernel.lags, kernel.values, options.measured);
    require_count(options.most_terms, "most_terms");
    for (std::size_t i = 0; i < kernel.lags.size(); ++i) {
      require(kernel.values[i] > 0, "values[", i, "] is ", kernel.values[i],
              "; a sum of exponentials with positive weights needs positive values");
      if (kernel.lags[i] == 0) has_zero_ = true, at_zero_ = kernel.values[i];
    }
    auto const first = static_cast<std::ptrdiff_t>(has_zero_);
    lags_.assign(kernel.lags.begin() + first, kernel.lags.end());
    values_.assign(kernel.values.begin() + first, kernel.values.end());
    require(!lags_.empty(), "lags holds lag 0 alone; it must hold a lag of at least 1");
    scale_samples();
    choose_rates();
  }

  exponential_sum to(double accuracy) const {
    require(accuracy >= finest * unit_ && accuracy < unit_, "accuracy is ", accuracy,
            "; it must be at least ", finest * unit_,
            ", which double precision can tell, and below ", unit_);
    exponential_sum const best =
        grow(options_.most_terms, [&](auto const& sum) { return error_of(sum) <= accuracy; });
    bool const all = static_cast<std::int64_t>(best.terms()) == options_.most_terms;
    require(error_of(best) <= accuracy, "accuracy ", accuracy, " on ", lags_.size(),
            " samples is out of reach",
            all ? "" : ", for further terms with positive weights gain next to nothing",
            "; the best found has ", best.terms(), " terms and an error of ", error_of(best));
    return best;
  }
  exponential_sum of(std::int64_t terms) const {
    require_count(terms, "terms");
    return grow(terms, [&](auto const& sum) { return error_of(sum) <= rounding * unit_; });
  }

 private:
  static constexpr double finest = 1e-13, rounding = 1e-15;
  static constexpr double log_overflow = 708;
  static constexpr std::size_t few = 300;  // samples to begin with
  static constexpr std::size_t many = 64;  // samples that join at once

  double error_of(exponential_sum const& sum) const {
    return options_.measured == metric::relative ? sum.error.max_relative_error
                                                 : sum.error.max_absolute_error;
  }

  void scale_samples() {
    bool const relative = options_.measured == metric::relative;
    double const largest = *std::max_element(values_.begin(), values_.end());
    unit_ = relative ? 1 : largest;
    for (std::size_t i = 0; i < lags_.size(); ++i) {
      double const scale = relative ? values_[i] : largest;
      samples_.push_back({static_cast<double>(lags_[i]), std::log(scale), values_[i] / scale});
    }
  }
  // Rates to begin with: 0, and from what hardly fades between the first sample and the last to
  // what leaves 1e-6 of the first at the second. A faster one would be there for the first sample
  // alone, with a weight at lag 0 that takes the digits of all others; none may overflow there.
  void choose_rates() {
    rates_ = {0};
    if (samples_.size() == 1) return;
    scaled_sample const &first = samples_[0], &second = samples_[1];
    double const steepest = std::max(0.0, first.log_scale - second.log_scale) - std::log(1e-6);
    double overflow = 0;
    for (scaled_sample const& s : samples_)
      overflow = std::max(overflow, (log_overflow - s.log_scale) / s.lag);
    fastest_ = std::min(steepest / (second.lag - first.lag), overflow);
    double const hardly = 1e-6 / (samples_.back().lag - first.lag);
    slowest_ = 1e-7 * hardly;
    for (double rate = hardly; rate < fastest_; rate *= 1.2) rates_.push_back(rate);
    add_rates_of_slopes();
  }
  // Over hundreds of decades nothing but the very rate at which samples fall is near them.
  void add_rates_of_slopes() {
    std::vector<scaled_sample> const chosen = thinned();
    auto const log_value = [](scaled_sample const& s) { return s.log_scale + std::log(s.target); };
    std::size_t const apart = 1 + chosen.size() / 60;
    double last = 0;
    for (std::size_t i = apart; i < chosen.size(); i += apart) {
      scaled_sample const &a = chosen[i - apart], &b = chosen[i];
      double const rate = (log_value(a) - log_value(b)) / (b.lag - a.lag);
      if (rate > slowest_ && rate < fastest_ && std::abs(rate / last - 1) > 1e-9)
        rates_.push_back(last = rate);
    }
  }

  // Even in the logarithm of the lag since the first, the first and the last among them.
  std::vector<scaled_sample> thinned() const {
    if (samples_.size() <= few) return samples_;
    std::vector<scaled_sample> chosen{samples_.front()};
    double const start = samples_.front().lag;
    double const step = std::log1p(samples_.back().lag - start) / static_cast<double>(few);
    double next = step;
    for (scaled_sample const& s : samples_) {
      double const at = std::log1p(s.lag - start);
      if (at < next && &s != &samples_.back()) continue;
      chosen.push_back(s);
      next = std::max(next + step, at);
    }
    return chosen;
  }

  // The worst samples of every stretch of errors of one sign, that are worse than `seen`.
  std::vector<scaled_sample> worse_than(double seen, std::vector<pinned_term> const& terms) const {
    std::vector<std::pair<double, std::size_t>> tops;
    double before = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      double const error = error_of_sum(terms, samples_[i]);
      bool const same = i > 0 && (error > 0) == (before > 0) && !tops.empty();
      if (!same)
        tops.push_back({std::abs(error), i});
      else if (std::abs(error) > tops.back().first)
        tops.back() = {std::abs(error), i};
      before = error;
    }
    std::erase_if(tops, [&](auto const& top) { return !(top.first > seen); });
    std::sort(tops.rbegin(), tops.rend());
    if (tops.size() > many) tops.resize(many);
    std::vector<scaled_sample> found;
    for (auto const& top : tops) found.push_back(samples_[top.second]);
    return found;
  }
  void settle(positive_minimax& fit) const {
    for (int i = 0; i < 30; ++i) {
      fit.improve();
      auto const worse = worse_than(1.005 * fit.error() + rounding, fit.terms());
      if (worse.empty()) return;
      for (scaled_sample const& s : worse) fit.add(s);
    }
  }

  exponential_sum sum_of(std::vector<pinned_term> terms) const {
    std::sort(terms.begin(), terms.end(), [](auto& a, auto& b) { return a.rate < b.rate; });
    exponential_sum sum;
    double total = 0;
    for (pinned_term const& term : terms) {
      sum.rates.push_back(term.rate);
      sum.weights.push_back(std::exp(term.log_weight()));
      total += sum.weights.back();
    }
    sum.at_zero = has_zero_ ? at_zero_ : total;
    kernel_fit seen;
    seen.weights = sum.weights;
    measure(seen, sum.rates, lags_, values_);
    sum.error = {.max_relative_error = seen.max_relative_error,
                 .max_absolute_error = seen.max_absolute_error,
                 .worst_relative_lag = seen.worst_relative_lag,
                 .worst_absolute_lag = seen.worst_absolute_lag,
                 .horizon = lags_.back(),
                 .lags_evaluated = static_cast<std::int64_t>(lags_.size()),
                 .samples_only = true};
    return sum;
  }

  // A twentieth less error; or a twentieth more that is met, while next to nothing is.
  static bool helps(double now, double before) {
    return now < 0.95 * before || 1 - now > 1.05 * (1 - before);
  }
  // The best sum on the way to `most` terms; the way ends where a sum is enough, or where two
  // terms one after the other have not helped; over many decades it takes some to meet anything.
  template <class Enough>
  exponential_sum grow(std::int64_t most, Enough const& enough) const {
    positive_minimax fit(thinned(), slowest_, fastest_);
    fit.start(rates_);
    exponential_sum best;
    for (int in_vain = 0; in_vain < 2 || (in_vain < 20 && error_of(best) > 0.999 * unit_);) {
      settle(fit);
      exponential_sum sum = sum_of(fit.terms());
      in_vain = best.terms() == 0 || helps(error_of(sum) / unit_, error_of(best) / unit_)
                    ? 0
                    : in_vain + 1;
      if (best.terms() == 0 || error_of(sum) < error_of(best)) best = std::move(sum);
      if (enough(best) || static_cast<std::int64_t>(fit.terms().size()) >= most) break;
      if (!fit.extend(rates_)) break;
    }
    return best;
  }

  sample_options options_;
  bool has_zero_ = false;
  double at_zero_ = 0, unit_ = 1, slowest_ = 0, fastest_ = 0;
  std::vector<std::int64_t> lags_;  // from 1 on
  std::vector<double> values_, rates_;
  std::vector<scaled_sample> samples_;
};

}  // namespace wane::spectra::impl

namespace wane::spectra {

// The fewest terms found whose error on the samples is no larger than `accuracy`. Throws
// wane::error with the best found where that is out of reach, as it is below the noise of a
// measurement, and for samples that rise: a sum with positive weights falls.
//
// How the certificate was verified: the sum as it is returned, rounding included, was evaluated at
// every sample of lags >= 1 (lags_evaluated of them; horizon is the last lag), and the largest
// errors are over these and no other lags. Of the kernel between samples nothing is known.
inline exponential_sum sum_of_accuracy(sampled_kernel const& kernel, double accuracy,
                                       sample_options const& options = {}) {
  return impl::sampled_sum_finder(kernel, options).to(accuracy);
}

// At most `terms` terms, with the least error on the samples that is found; certified likewise.
inline exponential_sum sum_of_terms(sampled_kernel const& kernel, std::int64_t terms,
                                    sample_options const& options = {}) {
  return impl::sampled_sum_finder(kernel, options).of(terms);
}

}  // namespace wane::spectra
