// stored_tensor: a tensor of a file: name, type, shape and the bytes of its numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/core/numbers/byte_order.hpp"
#include "wane/core/numbers/storage.hpp"
#include "wane/files/quoted.hpp"

namespace wane::impl {

// The product of the extents; nothing if an extent is negative or the product does not fit.
inline std::optional<index> numbers_in(std::vector<index> const& shape) {
  index count = 1;
  for (index const extent : shape) {
    if (extent < 0) return {};
    if (extent > 0 && count > std::numeric_limits<index>::max() / extent) return {};
    count *= extent;
  }
  return count;
}

// "[24, 16]"
inline std::string shape_text(std::vector<index> const& shape) {
  std::string text = "[";
  for (index const extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "]";
}

// Bytes of one number; nothing for a type that wane does not know.
inline std::optional<index> bytes_of_type(std::string_view type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  if (type == "I8" || type == "U8" || type == "BOOL") return 1;
  return {};
}

// The name in a file of the type of a number; empty where wane does not write it.
template <class T>
inline constexpr std::string_view stored_type = {};
template <>
inline constexpr std::string_view stored_type<double> = "F64";
template <>
inline constexpr std::string_view stored_type<float> = "F32";
template <>
inline constexpr std::string_view stored_type<float16> = "F16";
template <>
inline constexpr std::string_view stored_type<bfloat16> = "BF16";

// Copies numbers of another type; bytes need no alignment. 16-bit numbers are made from floats.
template <class Stored, class T, std::size_t n>
void copy_numbers(std::span<std::byte const> bytes, std::endian order, std::span<T, n> to) {
  bool const reversed = order != std::endian::native;
  if constexpr (std::same_as<Stored, T>) {
    if (!to.empty()) std::memcpy(static_cast<void*>(to.data()), bytes.data(), to.size_bytes());
    if (reversed) reverse_bytes(to.data(), to.size(), sizeof(T));
  } else {
    for (std::size_t i = 0; i < to.size(); ++i) {
      Stored stored;
      std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
      if (reversed) reverse_bytes(&stored, 1, sizeof stored);
      to[i] = static_cast<T>(static_cast<widened<T>>(stored));
    }
  }
}

}  // namespace wane::impl

namespace wane {

//   std::vector<float> const rates = tensor.values<float>();
//   tensor.copy_to(memory);
//
// A tensor whose numbers lie in a file or in other memory, the last extent running fastest. It does
// not own them.
struct stored_tensor {
  std::string name;
  std::string type;  // "F64", "F32", "F16", "BF16", which can be read, or another name
  std::vector<index> shape;
  std::span<std::byte const> bytes;
  std::endian order = std::endian::little;  // of the bytes of a number; that of .safetensors files

  //   stored_tensor::of("A_log", {8}, numbers)
  //
  // The tensor of a vector, span or array of double, float, float16 or bfloat16, which is not
  // copied. Throws wane::error unless the shape has as many numbers.
  template <class Numbers>
  static stored_tensor of(std::string name, std::vector<index> shape, Numbers&& numbers) {
    static_assert(
        std::ranges::borrowed_range<Numbers>,
        "wane::stored_tensor: the tensor is a view of the caller's memory, and a temporary "
        "is gone before it is read; give it a name");
    std::span const all(numbers);
    constexpr std::string_view type =
        impl::stored_type<std::remove_cv_t<typename decltype(all)::element_type>>;
    static_assert(!type.empty(),
                  "wane::stored_tensor: stored numbers are double, float, float16 or bfloat16");
    auto const count = impl::numbers_in(shape);
    require(count == std::ssize(all), "tensor ", impl::in_quotes(name), " has ", all.size(),
            " numbers, which are not of shape ", impl::shape_text(shape));
    return {std::move(name), std::string(type), std::move(shape), std::as_bytes(all),
            std::endian::native};
  }

  // Whether its numbers can be read.
  bool has_reals() const {
    return type == "F64" || type == "F32" || type == "F16" || type == "BF16";
  }

  // Its numbers as T: float, double, bfloat16, float16 or another type that a double converts to.
  // Throws wane::error where the type is not F64, F32, F16 or BF16.
  template <class T>
  std::vector<T> values() const {
    require_reals();
    std::vector<T> all(bytes.size() / static_cast<std::size_t>(*impl::bytes_of_type(type)));
    copy_to(all);
    return all;
  }

  // The same into a vector, an array or a span. Throws wane::error also where it has another size.
  template <class Memory>
  void copy_to(Memory&& memory) const {
    require_reals();
    std::span to(memory);
    std::size_t const count = bytes.size() / static_cast<std::size_t>(*impl::bytes_of_type(type));
    require(to.size() == count, "the memory for tensor ", impl::in_quotes(name), " has ", to.size(),
            " numbers; it must have ", count);
    if (type == "F64") impl::copy_numbers<double>(bytes, order, to);
    if (type == "F32") impl::copy_numbers<float>(bytes, order, to);
    if (type == "F16") impl::copy_numbers<float16>(bytes, order, to);
    if (type == "BF16") impl::copy_numbers<bfloat16>(bytes, order, to);
  }

 private:
  void require_reals() const {
    require(has_reals(), "tensor ", impl::in_quotes(name), " is of type ",
            impl::in_quotes(type.substr(0, 40)), "; numbers are read from F64, F32, F16 and BF16");
  }
};

}  // namespace wane
