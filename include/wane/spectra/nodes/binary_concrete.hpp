// Binary Concrete: a mask in (0, 1) in place of a choice, that a temperature sharpens (STLT).
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "wane/spectra/algebra/softplus.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra::impl {

// g = log u - log(1 - u), u uniform: the difference of two Gumbels. Adding it to a logit makes the
// sum positive with the probability sigmoid(logit). STLT (section 3.6) prints one Gumbel, whose
// choices are biased (docs/errata.md). u is an odd multiple of 2^-53, so that it and 1 - u are
// exact and as likely, and none is 0: |g| <= 36.8.
inline double unit_logistic(std::mt19937_64& bits) {
  double const u = (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52;
  return std::log(u / (1 - u));
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

// So many of them, the same for a seed everywhere; a training step takes a seed of its own.
inline std::vector<double> logistic_noise(std::int64_t count, std::uint64_t seed) {
  impl::require_count(count, "count");
  std::mt19937_64 bits(seed);
  std::vector<double> noise(static_cast<std::size_t>(count));
  for (double& g : noise) g = impl::unit_logistic(bits);
  return noise;
}

}  // namespace wane::spectra

namespace wane::spectra::impl {

inline void require_relaxed_mask(std::span<double const> logits, double temperature,
                                 std::span<double const> noise) {
  require_positive(temperature, "temperature");
  require(noise.empty() || noise.size() == logits.size(), "noise has ", noise.size(),
          " entries; it must have one for each of the ", logits.size(), " logits, or none");
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

// m = sigmoid((logit + g) / temperature), for the logits of one sequence; without noise the mask
// is that of g = 0. Logits of any size, infinities included, give masks in [0, 1]. Throws
// wane::error unless temperature > 0 and noise is as long as the logits, or empty.
inline std::vector<double> relaxed_mask(std::span<double const> logits, double temperature,
                                        std::span<double const> noise = {}) {
  impl::require_relaxed_mask(logits, temperature, noise);
  std::vector<double> mask(logits.begin(), logits.end());
  for (std::size_t k = 0; k < mask.size(); ++k)
    mask[k] = logistic((logits[k] + (noise.empty() ? 0 : noise[k])) / temperature);
  return mask;
}

// From dL/dm to dL/dlogit, for the same logits, temperature and noise:
// dm/dlogit = m (1 - m) / temperature, 1 - m taken with all its digits.
inline std::vector<double> relaxed_mask_adjoint(std::span<double const> logits, double temperature,
                                                std::span<double const> noise,
                                                std::span<double const> mask_gradient) {
  impl::require_relaxed_mask(logits, temperature, noise);
  require(mask_gradient.size() == logits.size(), "mask_gradient has ", mask_gradient.size(),
          " entries; it must have one for each of the ", logits.size(), " logits");
  std::vector<double> gradient(mask_gradient.begin(), mask_gradient.end());
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    double const z = (logits[k] + (noise.empty() ? 0 : noise[k])) / temperature;
    gradient[k] *= logistic(z) * logistic(-z) / temperature;
  }
  return gradient;
}

// S_eff = sum m (STLT, section 3.6). How many nodes a draw chooses is, on average over the noise,
// the sum of sigmoid(logit): S_eff without noise at temperature 1.
inline double effective_nodes(std::span<double const> mask) {
  return std::accumulate(mask.begin(), mask.end(), 0.);
}

// The nodes with alpha = sigmoid(logit) > threshold, in order: those with m > 1/2 without noise if
// the threshold is 1/2. There may be none. Throws wane::error unless it is between 0 and
// 1, and where a logit is NaN.
inline std::vector<std::size_t> active_nodes(std::span<double const> logits,
                                             double threshold = 0.5) {
  require(threshold > 0 && threshold < 1, "threshold is ", threshold,
          "; it must be between 0 and 1");
  double const above = std::log(threshold / (1 - threshold));
  std::vector<std::size_t> active;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    require(!std::isnan(logits[k]), "logits[", k, "] is NaN; it must be a number");
    if (logits[k] > above) active.push_back(k);
  }
  return active;
}

enum class annealing { geometric, linear };

// The temperature goes from `first` to `last` over the first `part` of training, by equal factors
// or equal differences a step, and stays there.
struct temperature_schedule {
  double first = 1, last = 0.1, part = 0.4;
  annealing curve = annealing::geometric;

  // At one of the steps 0 .. steps, exactly `first` at 0 and `last` from part * steps on. Throws
  // wane::error unless both temperatures are positive, part is in [0, 1] and step is one of them.
  double at(std::int64_t step, std::int64_t steps) const {
    impl::require_positive(first, "first"), impl::require_positive(last, "last");
    require(part >= 0 && part <= 1, "part is ", part, "; it must be in [0, 1]");
    require(0 <= step && step <= steps, "step is ", step, "; it must be from 0 to ", steps);
    double const end = part * static_cast<double>(steps), now = static_cast<double>(step);
    if (now >= end) return last;
    return curve == annealing::geometric ? first * std::pow(last / first, now / end)
                                         : first + (last - first) * (now / end);
  }
};

}  // namespace wane::spectra
