// evenly_spaced: numbers from one to another at equal distances.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/checks.hpp"

namespace wane::spectra::impl {

// Both ends are exact; a single number is `first`.
inline std::vector<double> evenly_spaced(std::int64_t count, double first, double last) {
  require_count(count, "count");
  std::vector<double> numbers(static_cast<std::size_t>(count), first);
  for (std::size_t k = 1; k < numbers.size(); ++k) {
    double const part = static_cast<double>(k) / static_cast<double>(numbers.size() - 1);
    numbers[k] = (1 - part) * first + part * last;
  }
  return numbers;
}

}  // namespace wane::spectra::impl
