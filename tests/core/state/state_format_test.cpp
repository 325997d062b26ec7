// Version 1 of state files, as bytes: wane 0.1 and 0.2 wrote this file, and later versions read it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <bit>
#include <sstream>
#include <string>
#include <vector>

#include "wane/core/state/state_file.hpp"

namespace {

// One sequence, one head, one row and two columns of a state of "gla", after 258 tokens.
std::string version_1() {
  using namespace std::string_literals;
  return "\x89wane\r\n\x1a"s + "\x04\x03\x02\x01"s + "\x01\0\0\0"s +  // byte order, version
         "float32"s + std::string(9, '\0') + "gla"s + std::string(61, '\0') +
         "\x01\0\0\0\0\0\0\0"s + "\x01\0\0\0\0\0\0\0"s + "\x01\0\0\0\0\0\0\0"s +    // extents
         "\x02\0\0\0\0\0\0\0"s + "\x01\0\0\0\0\0\0\0"s + "\x02\x01\0\0\0\0\0\0"s +  // positions
         "\0\0\xc0\x3f"s + "\0\0\x80\xbe"s + "\xb1\x7d\x58\xde\xfd\x77\x21\xf8"s;   // values, CRC
}

constexpr bool is_little = std::endian::native == std::endian::little;

TEST(StateFormat, OfVersionOneIsRead) {
  if (!is_little) GTEST_SKIP() << "the bytes are those of a little-endian machine";
  wane::recurrent_state<float> state(1, 1, 1, 2);
  std::istringstream from(version_1());
  wane::load_state(from, "gla", state);
  EXPECT_EQ(state.values()[0], 1.5f);
  EXPECT_EQ(state.values()[1], -0.25f);
  EXPECT_EQ(state.positions(), std::vector<wane::index>{258});
}

TEST(StateFormat, IsWrittenAsVersionOne) {
  if (!is_little) GTEST_SKIP() << "the bytes are those of a little-endian machine";
  wane::recurrent_state<float> state(1, 1, 1, 2);
  state.values() = {1.5f, -0.25f};
  state.positions() = {258};
  std::ostringstream to;
  wane::save_state(to, "gla", state);
  EXPECT_EQ(to.str(), version_1());
}

}  // namespace
