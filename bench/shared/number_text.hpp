// Numbers as text: in a format, with every digit, or short.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdio>
#include <string>

namespace wane::bench {

inline std::string formatted(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The shortest decimal that reads back as the same double.
inline std::string exact(double value) {
  char text[64];
  auto const end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

inline std::string short_number(double value) { return formatted("%.4g", value); }

}  // namespace wane::bench
