// crc64: the checksum of stored states, CRC-64/XZ (the reflected polynomial of ECMA-182).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wane::impl {

// The bytes may be added in pieces of any length. The checksum detects all errors within 64
// neighbouring bits, and misses other errors with probability 2^-64. Source: ECMA-182, annex B. The
// checksum of "123456789" is 995dc9bbdf1939fa.
class crc64 {
 public:
  void add(void const* bytes, std::size_t count) {
    auto const* const p = static_cast<unsigned char const*>(bytes);
    for (std::size_t i = 0; i < count; ++i)
      remainder_ = of_byte[(remainder_ ^ p[i]) & 0xff] ^ (remainder_ >> 8);
  }
  std::uint64_t value() const { return ~remainder_; }

 private:
  static constexpr std::array<std::uint64_t, 256> of_byte = [] {
    std::array<std::uint64_t, 256> table{};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
      std::uint64_t r = byte;
      for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ (r & 1 ? 0xc96c5795d7870f42u : 0);
      table[byte] = r;
    }
    return table;
  }();

  std::uint64_t remainder_ = ~std::uint64_t{0};
};

}  // namespace wane::impl
