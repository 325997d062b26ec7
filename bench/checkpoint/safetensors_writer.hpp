// Writes tensors of float as a safetensors file; in tests also files whose header says anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace wane::bench {

// The header's length, the header, the data.
inline std::string safetensors_of(std::string const& header, std::string const& data,
                                  std::uint64_t length) {
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + data;
}
inline std::string safetensors_of(std::string const& header, std::string const& data = "") {
  return safetensors_of(header, data, header.size());
}

struct named_numbers {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;
};

inline std::string safetensors_of(std::vector<named_numbers> const& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::string data;
  for (auto const& one : tensors) {
    std::size_t const begin = data.size();
    data.append(reinterpret_cast<char const*>(one.numbers.data()),
                one.numbers.size() * sizeof(float));
    header[one.name] = {
        {"dtype", "F32"}, {"shape", one.shape}, {"data_offsets", {begin, data.size()}}};
  }
  return safetensors_of(header.dump(), data);
}

}  // namespace wane::bench
