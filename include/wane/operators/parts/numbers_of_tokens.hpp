// numbers_of_tokens: memory for what the adjoint of a led memory passes between its parts.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// `channels` numbers for each token and head of a shape, zero at first, which views share out.
template <class T>
class numbers_of_tokens {
 public:
  numbers_of_tokens(recurrence_shape const& shape, index channels)
      : shape_(shape),
        numbers_(static_cast<std::size_t>(shape.batch * shape.time * shape.heads * channels)),
        next_(numbers_.data()) {}
  numbers_of_tokens(numbers_of_tokens const&) = delete;
  numbers_of_tokens& operator=(numbers_of_tokens const&) = delete;

  // [B, T, H, channels] and [B, T, H], of numbers that no other view has.
  sequence_view<T> take(index channels) {
    return {take_next(channels), shape_.batch, shape_.time, shape_.heads, channels};
  }
  token_view<T> take() { return {take_next(1), shape_.batch, shape_.time, shape_.heads}; }

 private:
  T* take_next(index channels) {
    T* const data = next_;
    next_ += shape_.batch * shape_.time * shape_.heads * channels;
    return data;
  }

  recurrence_shape shape_;
  std::vector<T> numbers_;
  T* next_;
};

}  // namespace wane::impl
