// Bytes of safetensors files: of tensors of float, and of any header, sound or not.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "wane/files/write_safetensors.hpp"

namespace support {

// The header's length, the header, the data.
inline std::string safetensors_of(std::string const& header, std::string const& data,
                                  std::uint64_t length) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i));
  return file + header + data;
}
inline std::string safetensors_of(std::string const& header, std::string const& data = "") {
  return safetensors_of(header, data, header.size());
}

struct named_numbers {
  std::string name;
  std::vector<wane::index> shape;
  std::vector<float> numbers;
};

inline std::string safetensors_of(std::vector<named_numbers> const& tensors) {
  std::vector<wane::stored_tensor> all;
  for (auto const& one : tensors) {
    all.push_back(wane::stored_tensor::of(one.name, one.shape, one.numbers));
  }
  std::ostringstream file;
  wane::write_safetensors(file, all);
  return file.str();
}

}  // namespace support
