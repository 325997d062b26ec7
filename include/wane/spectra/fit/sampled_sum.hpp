// Sums of exponentials for a kernel known at some lags only, measured or tabulated.
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

//   wane::spectra::sampled_kernel const measured{{1, 2, 4, 8, 16}, {1, 0.7, 0.5, 0.35, 0.25}};
//   auto const sum = wane::spectra::sum_of_accuracy(measured, 0.01);
//
// values[i] > 0 at lags[i], in steps, increasing; at least one lag is 1 or more. A value at lag 0
// is met exactly, by feed_through(). Without one, at_zero of a sum is the sum of its weights and
// feed_through() is 0, because samples at later lags say little about lag 0.
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

// Adds terms one by one, each to the best sum found with one term fewer. A fit takes a few hundred
// of the samples at first, and then also the samples with the largest errors.
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
  // The rates of new terms: 0, and a range from a rate that hardly fades between the first and the
  // last sample to one that falls by 1e-6 from the first sample to the second. A faster term would
  // serve the first sample alone, and its weight at lag 0 would take the digits of all others. The
  // fastest rate is also limited so that no weight at lag 0 overflows.
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
  // Adds the rates at which the samples fall: over hundreds of decades only these come near them.
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

  // Samples even in the logarithm of the lag since the first, with the first and the last.
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

  // The worst sample of every stretch of errors of one sign, where it is worse than `seen`.
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

  // Whether a term helps: the error falls by 5 %, or, while it is near 1, the part of the samples
  // that is met grows by 5 %.
  static bool helps(double now, double before) {
    return now < 0.95 * before || 1 - now > 1.05 * (1 - before);
  }
  // The best sum with up to `most` terms. Stops at a sum that is enough, or after two successive
  // terms that did not help; after 20 while almost no sample is met, as over many decades.
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

// The fewest terms found whose error on the samples is at most `accuracy`. Throws wane::error, with
// the error of the best sum found, where that is out of reach: below the noise of a measurement, or
// for samples that rise, since a sum with positive weights falls.
//
// The certificate: the returned sum, with its rounded weights, is evaluated at every sample of lags
// >= 1. There are lags_evaluated of them, and horizon is the last. The errors are the largest over
// these lags; nothing is known of the kernel between samples.
inline exponential_sum sum_of_accuracy(sampled_kernel const& kernel, double accuracy,
                                       sample_options const& options = {}) {
  return impl::sampled_sum_finder(kernel, options).to(accuracy);
}

// The sum of at most `terms` terms with the least error found on the samples, certified as above.
inline exponential_sum sum_of_terms(sampled_kernel const& kernel, std::int64_t terms,
                                    sample_options const& options = {}) {
  return impl::sampled_sum_finder(kernel, options).of(terms);
}

}  // namespace wane::spectra
