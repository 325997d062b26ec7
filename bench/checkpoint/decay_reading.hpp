// How numbers of a checkpoint become decay rates: by name, one formula each.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "wane/spectra/algebra/softplus.hpp"
#include "wane/spectra/rates/post_initial.hpp"

namespace wane::bench {

// The rate r per step, the state being multiplied by e^-r, from a stored number. Gates that the
// input moves are read where it adds nothing to them.
struct decay_reading {
  std::string name;
  std::string formula;  // with {} for the number's name
  double (*rate)(double);
};

inline std::vector<decay_reading> const& decay_readings() {
  using spectra::logistic, spectra::softplus;
  static std::vector<decay_reading> const list{
      {"rate", "r = {}", [](double x) { return x; }},
      {"log-rate", "r = e^{}", [](double x) { return std::exp(x); }},
      {"decay", "r = -ln {}", [](double x) { return -std::log(x); }},
      {"log-decay", "r = -{}", [](double x) { return -x; }},
      {"logit-decay", "r = softplus(-{})", [](double x) { return softplus(-x); }},
      {"gla", "r = softplus(-{}) / 16", [](double x) { return softplus(-x) / 16; }},
      {"rwkv7", "r = e^-0.5 sigmoid({})",
       [](double x) { return spectra::rwkv7_fastest_rate * logistic(x); }}};
  return list;
}

inline decay_reading const* find_reading(std::string const& name) {
  for (auto const& reading : decay_readings()) {
    if (reading.name == name) return &reading;
  }
  return nullptr;
}

}  // namespace wane::bench
