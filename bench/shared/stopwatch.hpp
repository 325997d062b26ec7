// Time of a piece of work, and the median of many.
// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include <algorithm>
#include <vector>

namespace wane::bench {

// Seconds: of this thread where the work has one thread, so that what else the machine does counts
// less; of the clock on the wall otherwise.
inline double seconds_now(int threads) {
  timespec t{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Seconds of one call of `work`, over `repetitions` in a row.
template <class Work>
double seconds_of(Work const& work, int repetitions, int threads) {
  double const begin = seconds_now(threads);
  for (int i = 0; i < repetitions; ++i) work();
  return (seconds_now(threads) - begin) / repetitions;
}

inline double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace wane::bench
