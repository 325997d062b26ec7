// UTF-8: the length of a sound sequence, and the sequence of a code point (RFC 3629).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wane::impl {

// The number of bytes of the character that `text` begins with; 0 where it begins with none. A
// character has one sequence, the shortest, and there are none for the halves of surrogate pairs.
inline std::size_t utf8_length(std::string_view text) {
  auto const byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  std::uint32_t const first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  std::size_t const length = first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf7) return 0;
  std::uint32_t point = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  std::uint32_t const least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  bool const is_half = point >= 0xd800 && point < 0xe000;
  return point >= least && point <= 0x10ffff && !is_half ? length : 0;
}

// Appends the character of a code point, which is at most 0x10ffff.
inline void append_utf8(std::string& text, std::uint32_t point) {
  auto const put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  auto const put_rest = [&](int shift) { put(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6), put_rest(0);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12), put_rest(6), put_rest(0);
  } else {
    put(0xf0 | point >> 18), put_rest(12), put_rest(6), put_rest(0);
  }
}

}  // namespace wane::impl
