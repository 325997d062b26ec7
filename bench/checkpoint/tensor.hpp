// A tensor of a checkpoint: the place of its numbers in a mapped file, and their type.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/input.hpp"
#include "wane/core/numbers/storage.hpp"

namespace wane::bench {

struct tensor {
  std::string name;
  std::string type;  // F64, F32, F16, BF16 can be read; others are only listed
  std::vector<std::int64_t> shape;
  std::span<std::byte const> bytes;  // little-endian, the last extent running fastest
};

// The product of the extents; nothing if it does not fit.
inline std::optional<std::int64_t> numbers_in(std::vector<std::int64_t> const& shape) {
  std::int64_t count = 1;
  for (std::int64_t const extent : shape) {
    if (extent < 0) return {};
    if (extent > 0 && count > std::numeric_limits<std::int64_t>::max() / extent) return {};
    count *= extent;
  }
  return count;
}

// "[24, 16]"
inline std::string shape_text(std::vector<std::int64_t> const& shape) {
  std::string text = "[";
  for (std::int64_t const extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "]";
}

// Bytes of one number; nothing for a type that wane does not know.
inline std::optional<std::int64_t> bytes_of_type(std::string_view type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  if (type == "I8" || type == "U8" || type == "BOOL") return 1;
  return {};
}

template <class Stored>
std::vector<double> numbers_stored_as(std::span<std::byte const> bytes) {
  static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");
  std::vector<double> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    values[i] = static_cast<double>(stored);
  }
  return values;
}

inline bool has_reals(tensor const& t) {
  return t.type == "F64" || t.type == "F32" || t.type == "F16" || t.type == "BF16";
}

inline std::vector<double> numbers_of(tensor const& t) {
  if (t.type == "F64") return numbers_stored_as<double>(t.bytes);
  if (t.type == "F32") return numbers_stored_as<float>(t.bytes);
  if (t.type == "F16") return numbers_stored_as<float16>(t.bytes);
  if (t.type == "BF16") return numbers_stored_as<bfloat16>(t.bytes);
  throw input_error("tensor " + in_quotes(t.name) + " is of type " +
                    in_quotes(t.type.substr(0, 40)) +
                    "; decays are read from F64, F32, F16 and BF16");
}

}  // namespace wane::bench
