// State files of machines of either byte order load on both, to the bit.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "support/stored_states.hpp"

namespace {

using support::bytes_of, support::expect_refused, support::state_of;
using wane::index;
using wane::recurrent_state;

// The file of a machine that puts the bytes of its numbers the other way round, checksum and all.
// 60 values are of numbers of `size` bytes.
std::string in_other_byte_order(std::string bytes, std::size_t size) {
  auto const turn = [&](std::size_t at, std::size_t count) {
    std::reverse(bytes.begin() + static_cast<index>(at),
                 bytes.begin() + static_cast<index>(at + count));
  };
  turn(8, 4), turn(12, 4);
  for (std::size_t at = 96; at < 136 + 16; at += 8) turn(at, 8);
  for (std::size_t at = 152; at < bytes.size() - 8; at += size) turn(at, size);
  wane::impl::crc64 checksum;
  checksum.add(bytes.data(), bytes.size() - 8);
  auto const sum = checksum.value();
  std::memcpy(&bytes[bytes.size() - 8], &sum, 8);
  turn(bytes.size() - 8, 8);
  return bytes;
}

template <class T>
void expect_same_bits_from_other_byte_order() {
  recurrent_state<T> const state = state_of<T>(3);
  recurrent_state<T> found = state_of<T>(4);
  std::istringstream from(in_other_byte_order(bytes_of(state), sizeof(wane::real_type<T>)));
  wane::load_state(from, "gla", found);
  EXPECT_EQ(std::memcmp(found.values().data(), state.values().data(), 60 * sizeof(T)), 0);
  EXPECT_EQ(found.positions(), state.positions());
}

TEST(StateOfOtherByteOrder, ComesBackToTheBitInEveryType) {
  expect_same_bits_from_other_byte_order<float>();
  expect_same_bits_from_other_byte_order<double>();
  expect_same_bits_from_other_byte_order<wane::bfloat16>();
  expect_same_bits_from_other_byte_order<wane::float16>();
  expect_same_bits_from_other_byte_order<std::complex<float>>();
  expect_same_bits_from_other_byte_order<std::complex<double>>();
}

// The bytes of a file as s390x writes it: 1.5, -2 and 10^-3 at position 258.
TEST(StateOfOtherByteOrder, IsReadFromItsBytes) {
  std::string bytes("\x89wane\r\n\x1a\1\2\3\4\0\0\0\1", 16);
  auto const add = [&](std::string const& text, std::size_t size) {
    bytes += text + std::string(size - text.size(), '\0');
  };
  add("float32", 16), add("gla", 64);
  for (char const extent : {'\1', '\1', '\1', '\3', '\1'}) bytes += std::string(7, '\0') + extent;
  bytes += std::string("\0\0\0\0\0\0\1\2", 8);
  bytes += std::string("\x3f\xc0\0\0\xc0\0\0\0\x3a\x83\x12\x6f", 12);
  wane::impl::crc64 checksum;
  checksum.add(bytes.data(), bytes.size());
  for (int i = 7; i >= 0; --i) bytes += static_cast<char>(checksum.value() >> (8 * i));
  recurrent_state<float> found(1, 1, 1, 3);
  std::istringstream from(bytes);
  wane::load_state(from, "gla", found);
  EXPECT_EQ(std::vector<float>(found.values()), (std::vector<float>{1.5f, -2, 1e-3f}));
  EXPECT_EQ(found.positions(), std::vector<index>{258});
}

TEST(StateOfOtherByteOrder, IsRefusedWhereItIsDamagedOrOfAnotherKind) {
  std::string const whole = in_other_byte_order(bytes_of(state_of<float>(3)), 4);
  for (std::size_t at = 8; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    expect_refused(bytes, {"the stream"});
  }
  expect_refused(in_other_byte_order(bytes_of(state_of<double>(3)), 8), {"float64", "float32"});
  expect_refused(in_other_byte_order(bytes_of(recurrent_state<float>(2, 3, 5, 2)), 4),
                 {"rows 5", "2"});
}

}  // namespace
