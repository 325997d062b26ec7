// The tensors of a .safetensors file, every number of its header checked before it is used.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/mapped_file.hpp"
#include "checkpoint/tensor.hpp"
#include "shared/input.hpp"
#include "shared/json_document.hpp"

namespace wane::bench {

// 8 bytes n, little-endian; n bytes of JSON, {"name": {"dtype", "shape", "data_offsets": [begin,
// end)}, ..., "__metadata__": {...}}; then the data, which the offsets count from, tensor after
// tensor without gaps.
class safetensors_header {
 public:
  explicit safetensors_header(mapped_file const& file)
      : file_("--checkpoint " + in_quotes(file.path())), bytes_(file.bytes()) {}

  std::vector<tensor> tensors() {
    json const header = parsed(header_text());
    for (auto const& [name, entry] : header.items()) {
      if (name != "__metadata__") add(name, entry);
    }
    require_no_gaps();
    std::vector<tensor> found;
    for (auto& [begin, one] : tensors_) found.push_back(std::move(one));
    return found;
  }

 private:
  using json = nlohmann::json;
  static constexpr std::size_t longest_header = 100'000'000;  // as the format has it
  static constexpr std::size_t longest_name = 1024, most_extents = 16;

  [[noreturn]] void refuse(std::string const& what) const {
    throw input_error(file_ + " is no sound safetensors file: " + what);
  }

  std::string_view header_text() {
    std::uint64_t length = 0;
    if (bytes_.size() < sizeof length) refuse("it has fewer than 8 bytes");
    std::memcpy(&length, bytes_.data(), sizeof length);
    auto const rest = bytes_.subspan(sizeof length);
    if (length > longest_header || length > rest.size()) {
      refuse("its header is said to have " + std::to_string(length) + " bytes, where " +
             std::to_string(std::min(rest.size(), longest_header)) + " can be");
    }
    data_ = rest.subspan(static_cast<std::size_t>(length));
    return {reinterpret_cast<char const*>(rest.data()), static_cast<std::size_t>(length)};
  }

  json parsed(std::string_view text) const {
    json const header = json_document(
        text, 4, [this](std::string const& problem) { refuse("its header " + problem); });
    if (!header.is_object()) refuse("its header is no JSON object");
    return header;
  }

  // A whole number of the header, below 2^63.
  std::int64_t whole(json const& value, std::string const& name) const {
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
      refuse("a shape or offset of " + name + " is no whole number from 0 to 2^63 - 1");
    }
    return value.get<std::int64_t>();
  }

  void add(std::string const& name, json const& entry) {
    std::string const quoted = "tensor " + in_quotes(name.substr(0, longest_name));
    if (name.size() > longest_name) refuse(quoted + "... has a name of more than 1024 bytes");
    if (name.find('\0') != std::string::npos) refuse(quoted + " has a zero byte in its name");
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
        !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
        !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2) {
      refuse(quoted + " lacks a dtype, a shape, or data_offsets of two numbers");
    }
    if (entry["shape"].size() > most_extents) refuse(quoted + " has more than 16 extents");
    tensor one{.name = name, .type = entry["dtype"].get<std::string>(), .shape = {}, .bytes = {}};
    for (auto const& extent : entry["shape"]) one.shape.push_back(whole(extent, quoted));
    std::int64_t const begin = whole(entry["data_offsets"][0], quoted);
    std::int64_t const end = whole(entry["data_offsets"][1], quoted);
    if (begin > end || end > std::ssize(data_)) {
      refuse(quoted + " lies at bytes " + std::to_string(begin) + " to " + std::to_string(end) +
             " of " + std::to_string(data_.size()));
    }
    one.bytes =
        data_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    require_size(one, quoted);
    tensors_.emplace_back(begin, std::move(one));
  }

  void require_size(tensor const& one, std::string const& quoted) const {
    auto const count = numbers_in(one.shape);
    if (!count) refuse(quoted + " has more numbers than can be counted");
    auto const size = bytes_of_type(one.type);
    if (size && (*count > std::ssize(one.bytes) || *count * *size != std::ssize(one.bytes))) {
      refuse(quoted + " of type " + one.type + " and shape " + shape_text(one.shape) + " has " +
             std::to_string(one.bytes.size()) + " bytes");
    }
  }

  void require_no_gaps() {
    std::sort(tensors_.begin(), tensors_.end(), [](auto const& a, auto const& b) {
      return std::pair(a.first, a.second.bytes.size()) < std::pair(b.first, b.second.bytes.size());
    });
    std::int64_t next = 0;
    for (auto const& [begin, one] : tensors_) {
      if (begin != next) {
        refuse("tensor " + in_quotes(one.name) + " begins at byte " + std::to_string(begin) +
               " where the one before ends at " + std::to_string(next));
      }
      next += std::ssize(one.bytes);
    }
    if (next != std::ssize(data_)) {
      refuse("its tensors end at byte " + std::to_string(next) + " of " +
             std::to_string(data_.size()));
    }
  }

  std::string file_;
  std::span<std::byte const> bytes_, data_;
  std::vector<std::pair<std::int64_t, tensor>> tensors_;  // with where each begins
};

inline std::vector<tensor> safetensors_in(mapped_file const& file) {
  return safetensors_header(file).tensors();
}

}  // namespace wane::bench
