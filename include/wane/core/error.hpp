// wane::error, thrown at the public door, and the checks that throw it.
// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>
#include <stdexcept>

namespace wane {

// A wrong argument. The message names the argument, what it was, and what it must be.
class error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Throws wane::error with the concatenated parts unless `condition` holds.
// require(beta > 0, "beta is ", beta, "; it must be positive");
template <class... Parts>
void require(bool condition, Parts const&... parts) {
  if (condition) return;
  std::ostringstream message;
  message.precision(17);
  (message << ... << parts);
  throw error(message.str());
}

}  // namespace wane
