// The claims of PoST (arXiv 2604.07658) about the architectures of section 5.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/post_initial.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/algebra/softplus.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

// Equation (12): RWKV-7's slowest timescale at the trained length.
finding rwkv7_slowest() {
  auto const logits = rwkv7_logits(64, 2048);
  double const rate = rwkv7_fastest_rate * logistic(rwkv7_tapered_logit(logits[0], 1, 2048));
  double const found = 1 / rate / 2048;
  return {found, std::abs(found - 1) < 0.01, false,
          "slowest timescale over T at t = T = 2048: it is T squared, not T"};
}

// The initial values of section 5.
finding mamba2() {
  auto const p = mamba2_log_rates(4, 512);
  double const found = std::exp(p[2]);
  return {found, std::abs(found / 2.5 - 1) < 1e-12, false, "N 4, T 512: -A of the third head"};
}
finding rwkv7() {
  double const found = rwkv7_logits(64, 512)[0];
  return {found, std::abs(found + 5.735099) < 1e-6, false, "64 channels, T 512: the first logit"};
}
finding rwkv7_fastest() {
  double const found = 1 / (rwkv7_fastest_rate * logistic(0.5));
  return {found, std::abs(found - 2.649) < 1e-3, false, "timescale of the last channel, in tokens"};
}
// The additive taper of the logit, at t = T: gaps of the logarithm of the rates.
finding rwkv7_taper_is_even() {
  auto const logits = rwkv7_logits(64, 2048);
  auto const taper = rwkv7_taper(logits, 2048);
  auto const spread_of = [&](auto const& tapered) {
    double least = HUGE_VAL, most = 0;
    for (std::size_t k = 1; k < logits.size(); ++k) {
      double const gap = std::log(logistic(tapered(logits[k], taper[k], 2048)) /
                                  logistic(tapered(logits[k - 1], taper[k - 1], 2048)));
      least = std::min(least, gap), most = std::max(most, gap);
    }
    return most / least;
  };
  double const found = spread_of(rwkv7_tapered_logit);
  return {
      found, std::abs(found - 1) < 0.05,
      std::abs(spread_of(rwkv7_exactly_tapered_logit) - 1) < 1e-6,
      "largest over smallest gap of 64 log rates, t = T = 2048; logit(sigma(l) t^-alpha) is even"};
}

}  // namespace

std::vector<claim> post_initial_claims() {
  return {{"post-eq12", "PoST, equation (12)", "RWKV-7's slowest timescale at T over T", 1,
           rwkv7_slowest},
          {"post-mamba2", "PoST, section 5.2", "a rate of Mamba-2 at the start", 2.5, mamba2},
          {"post-rwkv7", "PoST, section 5.3", "a logit of RWKV-7 at the start", -5.735099, rwkv7},
          {"post-rwkv7-fastest", "PoST, section 5.3", "fastest timescale of RWKV-7", 2.649,
           rwkv7_fastest},
          {"post-5.1", "PoST, Corollary 5.1", "RWKV-7's spectrum stays even: gap ratio", 1,
           rwkv7_taper_is_even}};
}

}  // namespace wane::bench
