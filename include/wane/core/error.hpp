// wane::error, thrown at the public door, and the checks that throw it.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <type_traits>

namespace wane {

// A wrong argument. The message names the argument, what it was, and what it must be.
class error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace wane

namespace wane::impl {

// A number as the fewest digits that tell it from its neighbours, anything else as it is printed.
template <class Part>
void write_part(std::ostream& to, Part const& part) {
  if constexpr (std::is_floating_point_v<Part>) {
    char digits[64];
    to.write(digits, std::to_chars(digits, digits + sizeof digits, part).ptr - digits);
  } else {
    to << part;
  }
}

}  // namespace wane::impl

namespace wane {

// Throws wane::error with the concatenated parts unless `condition` holds.
// require(beta > 0, "beta is ", beta, "; it must be positive");
template <class... Parts>
void require(bool condition, Parts const&... parts) {
  if (condition) return;
  std::ostringstream message;
  (impl::write_part(message, parts), ...);
  throw error(message.str());
}

}  // namespace wane
