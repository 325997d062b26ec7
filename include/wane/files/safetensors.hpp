// safetensors: the tensors of a .safetensors file, by name.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/files/mapped_file.hpp"
#include "wane/files/safetensors_header.hpp"
#include "wane/files/stored_tensor.hpp"

namespace wane::impl {

// How many bytes two names share at their beginnings and, of the rest, at their ends.
inline std::size_t likeness(std::string_view a, std::string_view b) {
  auto const shared = [](auto x, auto x_end, auto y, auto y_end) {
    return static_cast<std::size_t>(std::mismatch(x, x_end, y, y_end).first - x);
  };
  std::size_t const start = shared(a.begin(), a.end(), b.begin(), b.end());
  a.remove_prefix(start), b.remove_prefix(start);
  return start + shared(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

}  // namespace wane::impl

namespace wane {

//   wane::safetensors const weights("model.safetensors");
//   auto A_log = weights.values<float>("backbone.layers.0.mixer.A_log", {24});
//
// The tensors of a file. The whole header is checked when the file is opened; numbers are read when
// they are asked for, from a map of the file (see mapped_file). Throws wane::error, with the file,
// the place and what is wrong there, where the file cannot be read or is not sound: more than 16
// extents, names of more than 1024 bytes, doubled names, gaps and overlaps are refused too.
class safetensors {
 public:
  explicit safetensors(std::string const& path) : file_(path) { read(); }

  std::string const& path() const { return file_.path(); }

  // In the order of their bytes. They point into this object, also after it was moved.
  std::vector<stored_tensor> const& tensors() const { return tensors_; }

  // The strings of "__metadata__", such as {"format", "pt"}.
  std::map<std::string, std::string> const& metadata() const { return metadata_; }

  // Null where there is none of this name.
  stored_tensor const* find(std::string_view name) const {
    auto const found = places_.find(name);
    return found == places_.end() ? nullptr : &tensors_[found->second];
  }

  // Throws wane::error, which says which name is nearest, where there is none of this name.
  stored_tensor const& at(std::string_view name) const {
    stored_tensor const* const found = find(name);
    if (found == nullptr) refuse_name(std::string(name));
    return *found;
  }

  // The numbers of a tensor as T, from F64, F32, F16 or BF16; {} is the shape of one number. Throws
  // wane::error where there is no such tensor, or it has another shape or type.
  template <class T>
  std::vector<T> values(std::string_view name, std::vector<index> const& shape) const {
    return of_shape(name, shape).template values<T>();
  }

  // The same into a vector, an array or a span, which has as many numbers as the shape.
  template <class Memory>
  void copy(std::string_view name, std::vector<index> const& shape, Memory&& to) const {
    of_shape(name, shape).copy_to(to);
  }

 private:
  void read() {
    std::string const file = impl::in_quotes(path()) + " is no sound safetensors file: ";
    auto const bytes = file_.bytes();
    std::uint64_t length = 0;
    require(bytes.size() >= sizeof length, file, "it has fewer than 8 bytes");
    std::memcpy(&length, bytes.data(), sizeof length);
    length = impl::little_endian(length);
    auto const rest = bytes.subspan(sizeof length);
    std::size_t const most = std::min(rest.size(), impl::longest_safetensors_header);
    require(length <= most, file, "its header is said to have ", length, " bytes, where ", most,
            " can be");
    auto const text = file_.text().substr(sizeof length, static_cast<std::size_t>(length));
    auto const data = rest.subspan(text.size());
    impl::safetensors_header const header(text, std::ssize(data), file);
    metadata_ = header.metadata();
    for (auto const& one : header.entries()) {
      tensors_.push_back({one.name, one.type, one.shape,
                          data.subspan(static_cast<std::size_t>(one.begin),
                                       static_cast<std::size_t>(one.end - one.begin))});
    }
    for (auto const& one : tensors_) places_.emplace(one.name, places_.size());
  }

  stored_tensor const& of_shape(std::string_view name, std::vector<index> const& shape) const {
    stored_tensor const& found = at(name);
    require(found.shape == shape, "tensor ", impl::in_quotes(found.name), " of ",
            impl::in_quotes(path()), " has shape ", impl::shape_text(found.shape), "; it must be ",
            impl::shape_text(shape));
    return found;
  }

  [[noreturn]] void refuse_name(std::string const& name) const {
    std::string const file = impl::in_quotes(path()) + " has no tensor " + impl::in_quotes(name);
    require(!tensors_.empty(), file, "; it has none at all");
    auto const nearest = std::ranges::max_element(
        tensors_, {}, [&](stored_tensor const& one) { return impl::likeness(one.name, name); });
    throw error(file + "; of its " + std::to_string(tensors_.size()) + " tensors the nearest is " +
                impl::in_quotes(nearest->name));
  }

  mapped_file file_;
  std::vector<stored_tensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string_view, std::size_t> places_;  // of tensors, by name
};

}  // namespace wane
