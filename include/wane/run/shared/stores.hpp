// store_by: how a run writes its outputs, number by number, in vectors, or past the caches.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// How a runner may touch the tensors: number by number, in vectors, or in vectors whose stores go
// past the caches.
enum class store_by { number, vector, stream };

// Whether streaming stores are possible; where they are not, their code is not instantiated.
template <class T, class Out>
concept streamable = std::same_as<T, Out> && fits_simd<T>;

// Whether whole vectors of this output lie aligned, so that they may be streamed past the caches.
template <class T, class Out>
bool can_stream(sequence_view<Out> const& output) {
  if constexpr (streamable<T, Out>)
    return has_aligned_vectors(output);
  else
    return false;
}

// Bytes beyond which stores go past the caches: several times a second-level cache.
inline constexpr index streaming_bytes = index{8} << 20;

template <class Out>
bool is_large(recurrence_shape const& shape) {
  index const numbers = shape.batch * shape.time * shape.heads * shape.columns;
  return numbers * static_cast<index>(3 * sizeof(Out)) >= streaming_bytes;
}

template <class Op, class Out>
store_by choose_stores(Op const& op, sequence_view<Out> const& output) {
  if (!(layout_of(op) & layout_of(output)).columns) return store_by::number;
  bool const streams = is_large<Out>(op.shape()) && can_stream<accumulate_type<Op>>(output);
  return streams ? store_by::stream : store_by::vector;
}

}  // namespace wane::impl
