// The header of a safetensors file, every number of it checked before it is used.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/files/json.hpp"
#include "wane/files/quoted.hpp"
#include "wane/files/stored_tensor.hpp"

namespace wane::impl {

// A file is the length n of its header in 8 bytes, little-endian; n bytes of JSON, {"name":
// {"dtype", "shape", "data_offsets": [begin, end]}, ..., "__metadata__": {"name": "text", ...}};
// then the data, from which the offsets count, tensor after tensor without gaps.
struct safetensors_entry {
  std::string name, type;
  std::vector<index> shape;
  index begin = 0, end = 0;
};

inline constexpr std::size_t longest_safetensors_header = 100'000'000;  // as the format has it

class safetensors_header {
 public:
  // The header of a file with `data` bytes behind it. Throws wane::error, which begins with `file`.
  safetensors_header(std::string_view text, index data, std::string file)
      : file_(std::move(file)), data_(data) {
    constexpr json_limits most{.depth = 4, .elements = 100};
    json_value const header = json_parser(text, most, file_ + "its header ").document();
    auto const* const members = header.as<json_object>();
    check(members != nullptr, "its header is no JSON object");
    for (auto const& [name, value] : *members) {
      name == "__metadata__" ? add_metadata(value) : add(name, value);
    }
    check_gaps();
  }

  // In the order of their bytes.
  std::vector<safetensors_entry> const& entries() const { return entries_; }
  std::map<std::string, std::string> const& metadata() const { return metadata_; }

 private:
  static constexpr std::size_t longest_name = 1024, most_extents = 16;

  template <class... Parts>
  void check(bool condition, Parts const&... parts) const {
    require(condition, file_, parts...);
  }

  void add_metadata(json_value const& given) {
    auto const* const members = given.as<json_object>();
    check(members != nullptr, "its __metadata__ is no JSON object");
    for (auto const& [name, value] : *members) {
      auto const* const text = value.as<std::string>();
      check(text != nullptr, "its __metadata__ ", in_quotes(name.substr(0, 100)), " is no string");
      metadata_.emplace(name, *text);
    }
  }

  // A whole number of the header.
  index whole(json_value const& value, std::string const& quoted) const {
    auto const* const number = value.as<json_number>();
    check(number != nullptr && number->whole.has_value(), "a shape or offset of ", quoted,
          " is no whole number from 0 to 2^63 - 1");
    return *number->whole;
  }

  // The member of an entry, or null where there is none of this kind.
  template <class Kind>
  static Kind const* part(json_object const* entry, std::string_view name) {
    json_value const* const found = entry == nullptr ? nullptr : member_of(*entry, name);
    return found == nullptr ? nullptr : found->as<Kind>();
  }

  void add(std::string const& name, json_value const& given) {
    std::string const quoted = "tensor " + in_quotes(name.substr(0, longest_name));
    check(name.size() <= longest_name, quoted, "... has a name of more than 1024 bytes");
    check(name.find('\0') == name.npos, quoted, " has a zero byte in its name");
    auto const* const members = given.as<json_object>();
    auto const* const type = part<std::string>(members, "dtype");
    auto const* const shape = part<json_array>(members, "shape");
    auto const* const offsets = part<json_array>(members, "data_offsets");
    check(type != nullptr && shape != nullptr && offsets != nullptr && offsets->size() == 2, quoted,
          " lacks a dtype, a shape, or data_offsets of two numbers");
    check(shape->size() <= most_extents, quoted, " has more than 16 extents");
    safetensors_entry one{.name = name, .type = *type, .shape = {}};
    for (auto const& extent : *shape) one.shape.push_back(whole(extent, quoted));
    one.begin = whole(offsets->front(), quoted), one.end = whole(offsets->back(), quoted);
    check(one.begin <= one.end && one.end <= data_, quoted, " lies at bytes ", one.begin, " to ",
          one.end, " of ", data_);
    check_size(one, quoted);
    entries_.push_back(std::move(one));
  }

  void check_size(safetensors_entry const& one, std::string const& quoted) const {
    auto const count = numbers_in(one.shape);
    check(count.has_value(), quoted, " has more numbers than can be counted");
    auto const size = bytes_of_type(one.type);
    index const bytes = one.end - one.begin;
    check(!size || (*count <= bytes && *count * *size == bytes), quoted, " of type ", one.type,
          " and shape ", shape_text(one.shape), " has ", bytes, " bytes");
  }

  void check_gaps() {
    std::ranges::sort(entries_, [](auto const& a, auto const& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    index next = 0;
    for (auto const& one : entries_) {
      check(one.begin == next, "tensor ", in_quotes(one.name), " begins at byte ", one.begin,
            " where the one before ends at ", next);
      next = one.end;
    }
    check(next == data_, "its tensors end at byte ", next, " of ", data_);
  }

  std::string file_;
  index data_;
  std::vector<safetensors_entry> entries_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace wane::impl
