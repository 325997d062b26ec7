// larger: the larger of two errors, in which NaN is never lost.
// SPDX-License-Identifier: MIT
#pragma once

namespace wane::bench {

// NaN if either is. (std::max and a comparison lose it in one of the two places.)
constexpr double larger(double a, double b) { return a > b || a != a ? a : b; }

}  // namespace wane::bench
