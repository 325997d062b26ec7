// lowest_point: the smallest value of a function on a rectangle, by a grid and descents from it.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

namespace wane::spectra::impl {

// A side of length 0 makes the search one-dimensional.
struct rectangle {
  double x_low, x_high;
  double y_low, y_high;
};

struct valley {
  double x, y;
  double value;
};

// Moves to the lowest of the eight points a step away while it is lower; else halves the step.
template <class Function>
valley descend(Function const& function, rectangle const& within, valley from, double first_step,
               double last_step) {
  for (double step = first_step; step >= last_step;) {
    valley best = from;
    for (int right = -1; right <= 1; ++right) {
      for (int up = -1; up <= 1; ++up) {
        double const x = std::clamp(from.x + right * step, within.x_low, within.x_high);
        double const y = std::clamp(from.y + up * step, within.y_low, within.y_high);
        if (x == from.x && y == from.y) continue;
        double const value = function(x, y);
        if (value < best.value) best = {x, y, value};
      }
    }
    if (best.value < from.value)
      from = best;
    else
      step /= 2;
  }
  return from;
}

// The points of a grid that are no higher than any neighbour, lowest first. Points of the grid lie
// `step` apart, or a little less.
template <class Function>
std::vector<valley> grid_valleys(Function const& function, rectangle const& within, double step) {
  double const width = within.x_high - within.x_low;
  double const height = within.y_high - within.y_low;
  auto const columns = static_cast<std::ptrdiff_t>(std::ceil(width / step));
  auto const rows = static_cast<std::ptrdiff_t>(std::ceil(height / step));
  std::vector<valley> grid;
  for (std::ptrdiff_t i = 0; i <= columns; ++i) {
    double const x =
        columns == 0
            ? within.x_low
            : within.x_low + width * (static_cast<double>(i) / static_cast<double>(columns));
    for (std::ptrdiff_t j = 0; j <= rows; ++j) {
      double const y =
          rows == 0 ? within.y_low
                    : within.y_low + height * (static_cast<double>(j) / static_cast<double>(rows));
      grid.push_back({x, y, function(x, y)});
    }
  }
  auto const value = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
    return grid[static_cast<std::size_t>(i * (rows + 1) + j)].value;
  };
  std::vector<valley> valleys;
  for (std::ptrdiff_t i = 0; i <= columns; ++i) {
    for (std::ptrdiff_t j = 0; j <= rows; ++j) {
      bool lowest = std::isfinite(value(i, j));
      for (std::ptrdiff_t a = std::max<std::ptrdiff_t>(i - 1, 0); a <= std::min(i + 1, columns);
           ++a)
        for (std::ptrdiff_t b = std::max<std::ptrdiff_t>(j - 1, 0); b <= std::min(j + 1, rows); ++b)
          lowest = lowest && value(a, b) >= value(i, j);
      if (lowest) valleys.push_back(grid[static_cast<std::size_t>(i * (rows + 1) + j)]);
    }
  }
  // Ties keep the order of the grid. Not std::stable_sort: that of g++ 12 calls a function which it
  // declares deprecated, and clang++ 19 says so.
  std::sort(valleys.begin(), valleys.end(), [](valley const& a, valley const& b) {
    return std::tie(a.value, a.x, a.y) < std::tie(b.value, b.x, b.y);
  });
  return valleys;
}

// Descends from the `most_valleys` lowest valleys of the grid to an eighth of its step, and from
// the best of them to `precision`. Deterministic. An infinite value marks a point outside the
// domain.
template <class Function>
valley lowest_point(Function const& function, rectangle const& within, double step,
                    std::size_t most_valleys, double precision) {
  std::vector<valley> valleys = grid_valleys(function, within, step);
  valleys.resize(std::min(valleys.size(), most_valleys));
  valley best = valleys.front();
  for (valley const& start : valleys) {
    valley const end = descend(function, within, start, step / 2, step / 8);
    if (end.value < best.value) best = end;
  }
  return descend(function, within, best, step / 16, precision);
}

}  // namespace wane::spectra::impl
