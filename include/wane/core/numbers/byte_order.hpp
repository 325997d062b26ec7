// reverse_bytes: numbers of a machine that puts the bytes of its numbers in the other order.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big,
              "wane: the bytes of numbers in files are in ascending or descending order");

// Reverses the bytes of each of `count` numbers, which have `size` bytes.
inline void reverse_bytes(void* numbers, std::size_t count, std::size_t size) {
  auto* at = static_cast<std::byte*>(numbers);
  for (std::size_t i = 0; i < count; ++i, at += size) std::reverse(at, at + size);
}

// A complex number is two numbers.
template <class T, std::size_t n>
void reverse_bytes(std::span<T, n> numbers) {
  constexpr std::size_t size = sizeof(real_type<T>);
  reverse_bytes(numbers.data(), numbers.size_bytes() / size, size);
}

// A number as it lies in a little-endian file, from this machine's own number, and the other way.
template <class T>
T little_endian(T number) {
  if constexpr (std::endian::native == std::endian::big) reverse_bytes(&number, 1, sizeof number);
  return number;
}

}  // namespace wane::impl
