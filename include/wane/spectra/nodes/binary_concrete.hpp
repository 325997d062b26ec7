// Binary Concrete: a mask in (0, 1) instead of a choice, sharper as the temperature falls (STLT).
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

// g = log u - log(1 - u), u uniform: the difference of two Gumbel variables. A logit plus g is
// positive with the probability sigmoid(logit). STLT (section 3.6) prints one Gumbel variable,
// which biases the choice (docs/errata.md). u is an odd multiple of 2^-53, so u and 1 - u are
// exact, equally likely and never 0: |g| <= 36.8.
inline double unit_logistic(std::mt19937_64& bits) {
  double const u = (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52;
  return std::log(u / (1 - u));
}

inline void require_relaxed_mask(std::span<double const> logits, double temperature,
                                 std::span<double const> noise) {
  require_positive(temperature, "temperature");
  require(noise.empty() || noise.size() == logits.size(), "noise has ", noise.size(),
          " entries; it must have one for each of the ", logits.size(), " logits, or none");
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   auto const noise = wane::spectra::logistic_noise(std::ssize(logits), seed_of_step);
//   auto const mask = wane::spectra::relaxed_mask(logits, temperature, noise);
//
// `count` numbers g = log u - log(1 - u), u uniform; the same for a seed on every machine.
inline std::vector<double> logistic_noise(std::int64_t count, std::uint64_t seed) {
  impl::require_count(count, "count");
  std::mt19937_64 bits(seed);
  std::vector<double> noise(static_cast<std::size_t>(count));
  for (double& g : noise) g = impl::unit_logistic(bits);
  return noise;
}

// m = sigmoid((logit + g) / temperature), for the logits of one sequence or of several; without
// noise g = 0. Logits of any size, infinities included, give masks in [0, 1]. Throws wane::error
// unless temperature > 0 and noise is empty or as long as the logits.
inline std::vector<double> relaxed_mask(std::span<double const> logits, double temperature,
                                        std::span<double const> noise = {}) {
  impl::require_relaxed_mask(logits, temperature, noise);
  std::vector<double> mask(logits.begin(), logits.end());
  for (std::size_t k = 0; k < mask.size(); ++k)
    mask[k] = logistic((logits[k] + (noise.empty() ? 0 : noise[k])) / temperature);
  return mask;
}

// From dL/dm to dL/dlogit, for the same logits, temperature and noise:
// dm/dlogit = m (1 - m) / temperature. 1 - m is computed without cancellation.
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

// S_eff = sum m (STLT, section 3.6). The mean number of nodes that a draw chooses is the sum of
// sigmoid(logit), which is S_eff without noise at temperature 1.
inline double effective_nodes(std::span<double const> mask) {
  return std::accumulate(mask.begin(), mask.end(), 0.);
}

//   auto const kept = wane::spectra::kept_nodes(nodes, wane::spectra::active_nodes(logits));
//
// The indices of the nodes with sigmoid(logit) > threshold, ascending; there may be none. Throws
// wane::error for a threshold outside (0, 1) and for a logit that is NaN.
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

//   wane::spectra::temperature_schedule const schedule{.first = 1, .last = 0.1, .part = 0.4};
//   double const temperature = schedule.at(step, steps);
//
// The temperature goes from `first` to `last` over the first `part` of training, by equal factors
// (geometric) or equal differences (linear) a step, and stays at `last`.
struct temperature_schedule {
  double first = 1, last = 0.1, part = 0.4;
  annealing curve = annealing::geometric;

  // The temperature at a step from 0 to `steps`: exactly `first` at 0 and exactly `last` from
  // part * steps on. Throws wane::error unless both temperatures are positive, part is in [0, 1]
  // and step is in [0, steps].
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
