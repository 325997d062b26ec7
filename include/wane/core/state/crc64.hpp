// CRC-64/XZ, the checksum of stored states: reflected polynomial of ECMA-182.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wane::impl {

// The checksum of bytes that come in any pieces. Finds every damage to 64 neighbouring bits, and
// any other but for one in 2^64. (ECMA-182, annex B; the check of "123456789" is 995dc9bbdf1939fa.)
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
