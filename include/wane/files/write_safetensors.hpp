// write_safetensors: tensors as a .safetensors file.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/core/state/file_replacement.hpp"
#include "wane/files/json.hpp"
#include "wane/files/quoted.hpp"
#include "wane/files/safetensors_header.hpp"
#include "wane/files/stored_tensor.hpp"

namespace wane::impl {

// The header of these tensors, one behind the other, with spaces up to a multiple of 8 bytes. What
// the reader refuses throws wane::error, which begins with `file`.
inline std::string safetensors_header_of(std::vector<stored_tensor> const& tensors,
                                         std::map<std::string, std::string> const& metadata,
                                         std::string const& file) {
  std::string text = "{", comma;
  if (!metadata.empty()) {
    for (auto const& [name, value] : metadata) {
      text += (comma.empty() ? "\"__metadata__\":{" : comma) + json_string(name) + ':' +
              json_string(value);
      comma = ",";
    }
    text += '}';
  }
  std::size_t end = 0;
  for (auto const& one : tensors) {
    require(one.order == std::endian::little || bytes_of_type(one.type), "tensor ",
            in_quotes(one.name), " is of type ", in_quotes(one.type.substr(0, 40)),
            ", of which wane does not know how to reverse the bytes; give little-endian bytes");
    std::size_t const begin = end;
    end += one.bytes.size();
    text += comma + json_string(one.name) + ":{\"dtype\":" + json_string(one.type) +
            ",\"shape\":" + shape_text(one.shape) + ",\"data_offsets\":[" + std::to_string(begin) +
            ',' + std::to_string(end) + "]}";
    comma = ",";
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string const refused = file + " would be no sound safetensors file: ";
  require(text.size() <= longest_safetensors_header, refused, "its header would have ", text.size(),
          " bytes, where ", longest_safetensors_header, " can be");
  safetensors_header(text, static_cast<index>(end), refused);
  return text;
}

inline void write_safetensors(std::ostream& to, std::string const& header,
                              std::vector<stored_tensor> const& tensors, std::string const& file) {
  auto const put = [&](void const* bytes, std::size_t count) {
    to.write(static_cast<char const*>(bytes), static_cast<std::streamsize>(count));
  };
  std::uint64_t const length = little_endian(std::uint64_t{header.size()});
  put(&length, sizeof length);
  put(header.data(), header.size());
  for (auto const& one : tensors) {
    if (one.order == std::endian::little) {
      put(one.bytes.data(), one.bytes.size());
    } else {
      std::vector<std::byte> bytes(one.bytes.begin(), one.bytes.end());
      auto const size = static_cast<std::size_t>(*bytes_of_type(one.type));
      reverse_bytes(bytes.data(), bytes.size() / size, size);
      put(bytes.data(), bytes.size());
    }
  }
  to.flush();
  require(to.good(), file, " could not be written; the disk may be full");
}

}  // namespace wane::impl

namespace wane {

//   wane::write_safetensors("model.safetensors",
//                           {wane::stored_tensor::of("A_log", {8}, A_log),
//                            wane::stored_tensor::of("norm.weight", {512}, norm)},
//                           {{"format", "pt"}});
//
// Writes tensors in this order, and strings beside them ("__metadata__"). PATH.part is written and
// then renamed, as save_state does it. Throws wane::error, before anything is written, where the
// safetensors class would refuse the file (a name twice or not in UTF-8, bytes that are not of the
// shape), and where the file cannot be written.
inline void write_safetensors(std::string const& path, std::vector<stored_tensor> const& tensors,
                              std::map<std::string, std::string> const& metadata = {}) {
  std::string const header = impl::safetensors_header_of(tensors, metadata, impl::in_quotes(path));
  impl::file_replacement file(path);
  impl::write_safetensors(file.stream(), header, tensors, impl::in_quotes(file.part()));
  file.take_place();
}

// The same into a stream.
inline void write_safetensors(std::ostream& to, std::vector<stored_tensor> const& tensors,
                              std::map<std::string, std::string> const& metadata = {}) {
  std::string const header = impl::safetensors_header_of(tensors, metadata, "the stream");
  impl::write_safetensors(to, header, tensors, "the stream");
}

}  // namespace wane
