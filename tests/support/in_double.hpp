// What a kernel is held against: the same problem in double, in order.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "support/nearness.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace support {

// The oracle, in double.
struct in_order {
  void operator()(auto const& op, auto const& output, auto const& options) const {
    wane::impl::run_in_order(op, output, options);
  }
  void operator()(auto const& op, auto const& output_gradient, auto const& gradients,
                  auto const& options) const {
    wane::adjoint(op, output_gradient, gradients, options);
  }
};

std::vector<double> widened(auto const& from) {
  std::vector<double> to;
  for (auto const& x : from)
    to.push_back(static_cast<double>(static_cast<wane::widened<std::decay_t<decltype(x)>>>(x)));
  return to;
}

inline double apart(std::vector<double> const& is, std::vector<double> const& should_be) {
  nearness near;
  for (std::size_t i = 0; i < should_be.size(); ++i) near.add(is[i], should_be[i]);
  return near.both();
}

}  // namespace support
