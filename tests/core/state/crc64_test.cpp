// CRC-64/XZ: its published values, its polynomial by long division, pieces, and damage.
// SPDX-License-Identifier: MIT
#include "wane/core/state/crc64.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace {

std::uint64_t crc_of(std::string const& bytes) {
  wane::impl::crc64 sum;
  sum.add(bytes.data(), bytes.size());
  return sum.value();
}
std::string random_bytes(std::size_t count, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(bits() & 0xff);
  return bytes;
}
std::uint64_t reversed(std::uint64_t x) {
  std::uint64_t y = 0;
  for (int bit = 0; bit < 64; ++bit) y |= (x >> bit & 1) << (63 - bit);
  return y;
}

// Of the catalogue of parametrised CRC algorithms: check and residue (here behind the final xor).
TEST(Crc64, HasThePublishedValues) {
  std::uint64_t const check = 0x995dc9bbdf1939fa;
  EXPECT_EQ(crc_of("123456789"), check);
  EXPECT_EQ(crc_of(""), 0u);
  std::string with_its_own = "123456789";
  for (int byte = 0; byte < 8; ++byte)
    with_its_own.push_back(static_cast<char>(check >> (8 * byte) & 0xff));
  EXPECT_EQ(crc_of(with_its_own), ~std::uint64_t{0x49958c9abd7d353f});
}

// The polynomial as ECMA-182 prints it, x^64 + x^62 + ... + 1: the remainder of the message, low
// bits first, behind 64 ones that are added to its beginning, bit by bit.
TEST(Crc64, IsTheRemainderOfADivision) {
  for (std::size_t count : {1u, 2u, 7u, 8u, 9u, 300u}) {
    std::string const bytes = random_bytes(count, 1);
    std::uint64_t remainder = ~std::uint64_t{0};
    for (char const byte : bytes)
      for (int bit = 0; bit < 8; ++bit) {
        std::uint64_t const next = static_cast<unsigned char>(byte) >> bit & 1;
        bool const divides = (remainder >> 63 ^ next) != 0;
        remainder = remainder << 1 ^ (divides ? 0x42f0e1eba9ea3693 : 0);
      }
    EXPECT_EQ(crc_of(bytes), reversed(~remainder)) << count;
  }
}

TEST(Crc64, DoesNotSeeWhereBytesAreCut) {
  std::string const bytes = random_bytes(100, 2);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    wane::impl::crc64 sum;
    sum.add(bytes.data(), cut);
    sum.add(bytes.data() + cut, bytes.size() - cut);
    EXPECT_EQ(sum.value(), crc_of(bytes)) << cut;
  }
}

// Any of up to 64 neighbouring bits, wherever they begin.
TEST(Crc64, FindsDamage) {
  std::string const bytes = random_bytes(40, 3);
  std::mt19937_64 bits(4);
  for (std::size_t first = 0; first + 64 <= 8 * bytes.size(); ++first)
    for (int length = 1; length <= 64; ++length) {
      std::uint64_t const wrong = (bits() | 1) & (~std::uint64_t{0} >> (64 - length));
      std::string damaged = bytes;
      for (std::size_t bit = 0; bit < 64; ++bit)
        if (wrong >> bit & 1)
          damaged[(first + bit) / 8] =
              static_cast<char>(damaged[(first + bit) / 8] ^ (1 << ((first + bit) % 8)));
      ASSERT_NE(crc_of(damaged), crc_of(bytes)) << first << ", " << length << " bits";
    }
}

}  // namespace
