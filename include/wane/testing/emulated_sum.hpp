// sum_of_unit: how a matrix unit adds up products.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

namespace wane::testing::impl {

// c and the products, which are exact, cut off two bits behind the last bit of the largest, and the
// sum cut off to a float: what an H200 was seen to do (docs/cuda.md).
template <int Count>
float sum_of_unit(float c, double const (&products)[Count]) {
  double largest = std::abs(static_cast<double>(c)), all = c;
  for (double x : products) largest = std::max(largest, std::abs(x)), all += x;
  if (!std::isfinite(all) || largest == 0) return static_cast<float>(all);
  int const last = std::ilogb(largest) - 25;
  auto const cut = [last](double x) { return std::ldexp(std::trunc(std::ldexp(x, -last)), last); };
  double sum = cut(c);
  for (double x : products) sum += cut(x);
  auto const nearest = static_cast<float>(sum);
  return std::abs(static_cast<double>(nearest)) > std::abs(sum) ? std::nextafter(nearest, 0.0f)
                                                                : nearest;
}

}  // namespace wane::testing::impl
