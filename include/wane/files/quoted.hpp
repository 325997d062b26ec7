// Names from outside in messages: in quotes, on one line, without control characters.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace wane::impl {

// A name that is safe to print: every control character is a question mark.
inline std::string printable(std::string name) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(name[i]); };
  for (std::size_t i = 0; i < name.size(); ++i) {
    // In UTF-8 0xc2 and a byte of 0x80 to 0x9f are a control character too.
    bool const pair = byte(i) == 0xc2 && i + 1 < name.size() && byte(i + 1) < 0xa0;
    if (pair) name[i + 1] = '?';
    if (pair || byte(i) < 0x20 || byte(i) == 0x7f) name[i] = '?';
  }
  return name;
}

inline std::string in_quotes(std::string const& name) { return "'" + printable(name) + "'"; }

}  // namespace wane::impl
