// reverse_bytes turns each number round by itself; a complex number is two.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/byte_order.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

namespace {

TEST(ByteOrder, IsReversedWithinEachNumber) {
  std::vector<std::uint32_t> numbers{0x01020304, 0xa0b0c0d0};
  wane::impl::reverse_bytes(std::span(numbers));
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0x04030201, 0xd0c0b0a0}));
}

TEST(ByteOrder, OfAComplexNumberIsThatOfItsParts) {
  std::vector<std::complex<float>> numbers{{1, 2}};
  std::vector<float> parts{1, 2};
  wane::impl::reverse_bytes(std::span(numbers));
  wane::impl::reverse_bytes(std::span(parts));
  EXPECT_EQ(numbers[0].real(), parts[0]);
  EXPECT_EQ(numbers[0].imag(), parts[1]);
}

TEST(ByteOrder, OfFilesIsLittleEndianOnEveryMachine) {
  std::uint32_t const stored = wane::impl::little_endian(std::uint32_t{0x01020304});
  EXPECT_EQ(*reinterpret_cast<unsigned char const*>(&stored), 4);
}

}  // namespace
