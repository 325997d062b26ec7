// fnv_1a: a hash that is the same everywhere.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

namespace wane::bench {

// FNV-1a, 64 bits, of a range of numbers, each taken whole and without its sign.
template <class Range>
std::uint64_t fnv_1a(Range const& numbers, std::uint64_t seed = 0) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (auto x : numbers) hash = (hash ^ std::make_unsigned_t<decltype(x)>(x)) * 0x100000001b3;
  return hash;
}

}  // namespace wane::bench
