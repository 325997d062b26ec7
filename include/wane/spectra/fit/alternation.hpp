// Remez's exchange: from an error that alternates on a reference to a better reference.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace wane::spectra::impl {

inline std::size_t index_of_largest(std::vector<double> const& error) {
  auto const less = [](double a, double b) { return std::abs(a) < std::abs(b); };
  auto const largest = std::max_element(error.begin(), error.end(), less);
  return static_cast<std::size_t>(largest - error.begin());
}

inline bool same_sign(double a, double b) { return (a > 0) == (b > 0); }

// The index of the largest |error| of the run of one sign around `from`.
inline std::size_t top_of_run(std::vector<double> const& error, std::size_t from) {
  std::size_t top = from;
  auto const visit = [&](std::size_t i) {
    if (!same_sign(error[i], error[from])) return false;
    if (std::abs(error[i]) > std::abs(error[top])) top = i;
    return true;
  };
  for (std::size_t i = from; i > 0 && visit(i - 1); --i) continue;
  for (std::size_t i = from + 1; i < error.size() && visit(i); ++i) continue;
  return top;
}

inline bool alternates(std::vector<double> const& error,
                       std::vector<std::size_t> const& reference) {
  for (std::size_t i = 1; i < reference.size(); ++i)
    if (same_sign(error[reference[i]], error[reference[i - 1]])) return false;
  return true;
}

// Puts `entering` in place of a neighbour in the reference with the same sign, so that signs still
// alternate. If `entering` lies beyond an end of the other sign, the far end leaves instead.
inline void exchange_one(std::vector<double> const& error, std::vector<std::size_t>& reference,
                         std::size_t entering) {
  auto const after = std::lower_bound(reference.begin(), reference.end(), entering);
  if (after != reference.end() && same_sign(error[*after], error[entering])) {
    *after = entering;
  } else if (after != reference.begin() && same_sign(error[*(after - 1)], error[entering])) {
    *(after - 1) = entering;
  } else if (after == reference.begin()) {
    reference.pop_back();
    reference.insert(reference.begin(), entering);
  } else {
    reference.erase(reference.begin());
    reference.push_back(entering);
  }
}

// Moves every lag of the reference to the largest error of its sign nearby, and brings in the
// largest error of all if it is not among these. Other lags stay: without the first lags, which
// only fast rates tell apart, a reference is singular to rounding. Returns false, and changes
// nothing, where rounding has kept the signs from alternating.
inline bool move_to_extrema(std::vector<double> const& error, std::vector<std::size_t>& reference) {
  if (!alternates(error, reference)) return false;
  for (std::size_t& lag : reference) lag = top_of_run(error, lag);
  std::size_t const largest = index_of_largest(error);
  if (!std::binary_search(reference.begin(), reference.end(), largest))
    exchange_one(error, reference, largest);
  return true;
}

}  // namespace wane::spectra::impl
