// wane::error, the exception for a wrong argument, and require, which throws it.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "wane/core/config.hpp"

namespace wane {

// A wrong argument. The message names the argument, what it was, and what it must be.
class error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace wane

namespace wane::impl {

// One part of a message, and the function that writes it.
struct message_part {
  void const* what;
  void (*write)(std::ostream& to, void const* what);
};

inline message_part text_part(char const* text) {
  return {text, [](std::ostream& to, void const* what) { to << static_cast<char const*>(what); }};
}

// Floating-point numbers are written with the fewest digits that identify them; all else by <<.
template <class Part>
message_part part_of_message(Part const& part) {
  if constexpr (std::is_convertible_v<Part const&, char const*>) {
    return text_part(part);
  } else {
    return {&part, [](std::ostream& to, void const* what) {
              Part const& is = *static_cast<Part const*>(what);
              if constexpr (std::is_floating_point_v<Part>) {
                char digits[64];
                to.write(digits, std::to_chars(digits, digits + sizeof digits, is).ptr - digits);
              } else {
                to << is;
              }
            }};
  }
}

// No template, so that it is compiled once for all checks.
[[noreturn, gnu::cold]] inline void throw_error(message_part const* parts, std::size_t count) {
  std::ostringstream message;
  for (std::size_t n = 0; n < count; ++n) parts[n].write(message, parts[n].what);
  throw error(message.str());
}

}  // namespace wane::impl

namespace wane {

//   require(beta > 0, "beta is ", beta, "; it must be positive");
//
// Throws wane::error with the concatenated parts unless `condition` holds.
template <class... Parts>
void require(bool condition, Parts const&... parts) {
  if (condition) return;
  impl::message_part const all[] = {impl::part_of_message(parts)...};
  impl::throw_error(all, sizeof...(Parts));
}

}  // namespace wane
