// crossing: the length from which on a kernel is faster than another whose time grows more.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

class crossing {
 public:
  // The other's time over the kernel's, at rising lengths.
  void add(index length, double ratio) {
    seen_.push_back({std::log(static_cast<double>(length)), std::log(ratio)});
  }
  bool empty() const { return seen_.empty(); }

  // The length where the ratio passes 1 for the last time, on a line between two measured points in
  // logarithms. Empty where it ends below 1; the first length where it was never below.
  std::optional<double> length() const {
    if (empty() || !(seen_.back().ratio >= 0)) return {};
    auto after = seen_.end() - 1;
    while (after != seen_.begin() && (after - 1)->ratio >= 0) --after;
    if (after == seen_.begin()) return std::exp(after->length);
    auto const before = after - 1;
    double const part = before->ratio / (before->ratio - after->ratio);
    return std::exp(before->length + part * (after->length - before->length));
  }

 private:
  struct point {
    double length, ratio;  // logarithms
  };
  std::vector<point> seen_;
};

}  // namespace wane::bench
