// The array of a .npy file (NumPy's own format, versions 1 to 3), as a tensor.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "checkpoint/tensor_numbers.hpp"
#include "shared/input.hpp"
#include "wane/files/mapped_file.hpp"
#include "wane/files/stored_tensor.hpp"

namespace wane::bench {

// The text after 'key': in the header, a Python dictionary such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (24, 16), }.
inline std::string_view npy_value(std::string_view header, std::string_view key) {
  auto const at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size() + 2);
  auto const value = header.find_first_not_of(" :");
  return value == std::string_view::npos ? std::string_view{} : header.substr(value);
}

// The extents in "(24, 16)", "(24,)" or "()".
inline std::optional<std::vector<std::int64_t>> npy_shape(std::string_view text) {
  auto const close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) return {};
  text = text.substr(1, close - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    std::int64_t extent = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (problem != std::errc() || extent < 0) return {};
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    auto const next = text.find_first_not_of(", ");
    text.remove_prefix(next == std::string_view::npos ? text.size() : next);
  }
  return shape;
}

// Magic number, version, the length of the header in 2 bytes (version 1) or 4, the header, the
// numbers.
inline stored_tensor npy_in(mapped_file const& file, std::string const& name) {
  auto const refuse = [&](std::string const& what) {
    throw input_error("--checkpoint " + in_quotes(file.path()) +
                      " is no .npy file to be read: " + what);
  };
  auto const bytes = file.bytes();
  auto const text = file.text();
  if (!text.starts_with("\x93NUMPY") || text.size() < 10) refuse("it does not begin as one");
  if (text[6] < 1 || text[6] > 3) {
    refuse("its version is " + std::to_string(text[6]) + ", not 1, 2 or 3");
  }
  std::size_t const digits = text[6] == 1 ? 2 : 4, begin = 8 + digits;
  std::size_t length = 0;
  for (std::size_t i = 0; i < digits && i + 8 < text.size(); ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(text[8 + i])) << (8 * i);
  }
  if (begin > text.size() || length > text.size() - begin) refuse("its header passes its end");
  auto const header = text.substr(begin, length);
  auto const descr = npy_value(header, "descr");
  auto const bytes_run = descr.starts_with("'>") ? std::endian::big : std::endian::little;
  std::string type;
  for (auto const& [numpy, ours] : {std::pair("f8'", "F64"), {"f4'", "F32"}, {"f2'", "F16"}}) {
    for (std::string const order : {"'<", "'>"}) {
      if (descr.starts_with(order + numpy)) type = ours;
    }
  }
  if (type.empty()) refuse("its numbers are not f2, f4 or f8");
  auto const shape = npy_shape(npy_value(header, "shape"));
  auto const count = shape ? numbers_in(*shape) : std::nullopt;
  if (!count) refuse("its shape is not a tuple of whole numbers");
  auto const order = npy_value(header, "fortran_order");
  bool const by_column = order.starts_with("True");
  if (!by_column && !order.starts_with("False")) {
    refuse("its fortran_order is neither True nor False");
  }
  if (by_column && shape->size() > 1) refuse("it runs by columns; save np.ascontiguousarray of it");
  auto const data = bytes.subspan(begin + length);
  if (*count > std::ssize(data) || *count * *bytes_of_type(type) != std::ssize(data)) {
    refuse("shape " + shape_text(*shape) + " of " + type + " has " + std::to_string(data.size()) +
           " bytes");
  }
  return {.name = name, .type = type, .shape = *shape, .bytes = data, .order = bytes_run};
}

}  // namespace wane::bench
