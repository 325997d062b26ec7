// Strided views of tensors: [B, T, H, channels], [B, T, H] and [N, H, rows, columns].
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/error.hpp"
#include "wane/core/place.hpp"
#include "wane/core/simd.hpp"

namespace wane {

// A pointer with `Rank` extents and strides, counted in elements, all 64-bit. Strides may be zero
// (the same element everywhere) or negative. A view with no data is absent: writes to it vanish.
template <class T, int Rank>
struct view {
  using value_type = std::remove_const_t<T>;
  using wide = widened<value_type>;

  T* data = nullptr;
  index extent[Rank] = {};
  index stride[Rank] = {};

  view() = default;

  // Row-major and without gaps, the last extent fastest.
  template <class... Extents>
  requires(sizeof...(Extents) == Rank) WANE_HOST_DEVICE view(T* values, Extents... extents)
      : data(values), extent{static_cast<index>(extents)...} {
    index step = 1;
    for (int i = Rank - 1; i >= 0; --i) {
      stride[i] = step;
      step *= extent[i];
    }
  }
  WANE_HOST_DEVICE view(T* values, index const (&extents)[Rank], index const (&strides)[Rank])
      : data(values) {
    for (int i = 0; i < Rank; ++i) extent[i] = extents[i], stride[i] = strides[i];
  }
  // A view of values to read from a view of values to write.
  WANE_HOST_DEVICE view(view<value_type, Rank> const& other) requires std::is_const_v<T>
      : view(other.data, other.extent, other.stride) {}

  template <class... Indices>
  requires(sizeof...(Indices) == Rank) WANE_HOST_DEVICE T& operator()(Indices... at) const {
    index const indices[] = {static_cast<index>(at)...};
    index offset = 0;
    for (int i = 0; i < Rank; ++i) offset += indices[i] * stride[i];
    return data[offset];
  }

  // The element or elements at a place, widened: a number, or a simd of them for lanes.
  WANE_INLINE wide read(place<index> at, index column) const requires(Rank == 4) {
    return static_cast<wide>(*element(at, column));
  }
  WANE_INLINE wide read(place<index> at) const requires(Rank == 3) {
    return static_cast<wide>(*element(at));
  }
  template <int W>
  requires(Rank == 4) WANE_HOST_INLINE simd<wide, W> read(place<index> at, lanes<W> columns)
  const {
    T const* from = element(at, columns.first);
    if constexpr (std::is_same_v<wide, value_type>)
      if (stride[3] == 1) [[likely]]
        return simd<wide, W>::load(from);
    return gather<W>(from, W, [s = stride[3]](int l) { return l * s; });
  }
  template <int W>
  requires(Rank == 4) WANE_HOST_INLINE simd<wide, W> read(place<index> at, partial_lanes<W> columns)
  const {
    T const* from = element(at, columns.first);
    if constexpr (std::is_same_v<wide, value_type>)
      if (stride[3] == 1) [[likely]]
        return load_first<wide, W>(from, columns.count);
    return gather<W>(from, columns.count, [s = stride[3]](int l) { return l * s; });
  }
  template <int W, int C>
  requires(Rank == 4) WANE_HOST_INLINE simd<wide, W> read(place<time_lanes<W, C>> at, every_column)
  const {
    T const* from = element({at.batch, at.time.first, at.head}, 0);
    index const step = at.time.direction * stride[1];
    if constexpr (std::is_same_v<wide, value_type>)
      if (stride[3] == 1) {
        if (step == C) [[likely]]
          return simd<wide, W>::load(from);
        if (step == -C) return reverse_groups<C>(simd<wide, W>::load(from + C - W));
      }
    return gather<W>(from, W, [step, s = stride[3]](int l) { return l / C * step + l % C * s; });
  }
  template <int W, int C>
  requires(Rank == 3) WANE_HOST_INLINE simd<wide, W> read(place<time_lanes<W, C>> at)
  const {
    T const* from = element({at.batch, at.time.first, at.head});
    index const step = at.time.direction * stride[1];
    return gather<W>(from, W, [step](int l) { return l / C * step; });
  }

  // Stores a value or a simd of them, rounded to the stored type.
  template <class V>
  WANE_INLINE void write(place<index> at, index column, V const& value) const {
    if (data) *element(at, column) = static_cast<T>(value);
  }
  template <class V, int W>
  WANE_HOST_INLINE void write(place<index> at, lanes<W> columns, simd<V, W> value) const {
    if (!data) return;
    T* to = element(at, columns.first);
    if constexpr (std::is_same_v<wide, value_type>)
      if (stride[3] == 1) [[likely]]
        return convert<wide>(value).store(to);
    for (int l = 0; l < W; ++l) to[l * stride[3]] = static_cast<T>(value[l]);
  }
  template <class V, int W>
  WANE_HOST_INLINE void write(place<index> at, partial_lanes<W> columns, simd<V, W> value) const {
    if (!data) return;
    T* to = element(at, columns.first);
    if constexpr (std::is_same_v<wide, value_type>)
      if (stride[3] == 1) [[likely]]
        return store_first(to, columns.count, convert<wide>(value));
    for (int l = 0; l < columns.count; ++l) to[l * stride[3]] = static_cast<T>(value[l]);
  }
  template <class V, int W, int C>
  WANE_HOST_INLINE void write(place<time_lanes<W, C>> at, every_column, simd<V, W> value) const {
    if (!data) return;
    T* to = element({at.batch, at.time.first, at.head}, 0);
    index const step = at.time.direction * stride[1];
    if constexpr (std::is_same_v<wide, value_type>)
      if (stride[3] == 1) {
        if (step == C) [[likely]]
          return convert<wide>(value).store(to);
        if (step == -C) return reverse_groups<C>(convert<wide>(value)).store(to + C - W);
      }
    for (int l = 0; l < W; ++l) to[l / C * step + l % C * stride[3]] = static_cast<T>(value[l]);
  }

  WANE_INLINE T* element(place<index> at, index column) const requires(Rank == 4) {
    return data + at.batch * stride[0] + at.time * stride[1] + at.head * stride[2] +
           column * stride[3];
  }
  WANE_INLINE T* element(place<index> at) const requires(Rank == 3) {
    return data + at.batch * stride[0] + at.time * stride[1] + at.head * stride[2];
  }

 private:
  template <int W, class Offset>
  WANE_HOST_INLINE static simd<wide, W> gather(T const* from, int count, Offset offset) {
    simd<wide, W> x{wide(0)};
    for (int l = 0; l < count; ++l) x.v[l] = static_cast<wide>(from[offset(l)]);
    return x;
  }
};

// Channels of every token, [B, T, H, C].
template <class T>
using sequence_view = view<T, 4>;
// One number for every token and head, [B, T, H].
template <class T>
using token_view = view<T, 3>;

}  // namespace wane
