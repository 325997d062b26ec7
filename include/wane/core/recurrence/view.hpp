// Strided views of tensors: [B, T, H, channels], [B, T, H] and [N, H, rows, columns].
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "wane/core/error.hpp"
#include "wane/core/numbers/simd.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/storage.hpp"
#include "wane/core/recurrence/place.hpp"

namespace wane {

//   view<float, 4> const x(data, B, T, H, C);  // row-major, without gaps
//   view<float, 4> const y(data, {B, T, H, C}, {H * T * C, C, T * C, 1});  // heads first
//
// A pointer with `Rank` extents and strides, 64-bit, counted in elements. A stride may be zero, for
// one element at all indices, or negative. A view without data is absent; write() to it does
// nothing.
template <class T, int Rank>
struct view {
  using value_type = std::remove_const_t<T>;
  using wide = widened<value_type>;

  T* data = nullptr;
  index extent[Rank] = {};
  index stride[Rank] = {};

  view() noexcept = default;

  // Row-major and without gaps: the last index has stride 1.
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
  // A view of constants from a view that can be written.
  template <std::same_as<T const> Const>
  requires(!std::is_const_v<T>) WANE_HOST_DEVICE operator view<Const, Rank>() const {
    return {data, extent, stride};
  }

  template <class... Indices>
  requires(sizeof...(Indices) == Rank) WANE_HOST_DEVICE T& operator()(Indices... at) const {
    index offset = 0;
    int i = 0;
    ((offset += static_cast<index>(at) * stride[i++]), ...);
    return data[offset];
  }

  // The part [B, begin <= t < end, H, ...] of a view [B, T, H, ...].
  WANE_HOST_DEVICE view tokens(index begin, index end) const {
    view part = *this;
    if (data) part.data = data + begin * stride[1];
    part.extent[1] = end - begin;
    return part;
  }

  // The element at a place, or a simd of elements for lanes, as type `wide`.
  WANE_INLINE wide read(place<index> at, index column) const requires(Rank == 4) {
    return static_cast<wide>(*element(at, column));
  }
  WANE_INLINE wide read(place<index> at) const requires(Rank == 3) {
    return static_cast<wide>(*element(at));
  }
  // Lanes must be neighbours in memory (see `layout`): columns with stride 1, or tokens of C
  // channels without gaps.
  template <int W>
  requires(Rank == 4) WANE_HOST_INLINE simd<wide, W> read(place<index> at, lanes<W> columns)
  const { return load<W>(element(at, 0) + columns.first); }
  template <int W>
  requires(Rank == 4) WANE_HOST_INLINE simd<wide, W> read(place<index> at, partial_lanes<W> columns)
  const {
    T const* from = element(at, 0) + columns.first;
    if constexpr (std::is_same_v<wide, value_type>)
      return impl::load_first<wide, W>(from, columns.count);
    else
      return gather<W>(from, columns.count, [](int l) { return l; });
  }
  template <int W, int C>
  requires(Rank == 4) WANE_HOST_INLINE simd<wide, W> read(place<time_lanes<W, C>> at,
                                                          time_columns<C> columns)
  const {
    T const* from = element({at.batch, at.time.first, at.head}, columns.first);
    if (at.time.direction > 0) return load<W>(from);
    return impl::reverse_groups<C>(load<W>(from + C - W));
  }
  template <int W, int C>
  requires(Rank == 3) WANE_HOST_INLINE simd<wide, W> read(place<time_lanes<W, C>> at)
  const {
    index const step = at.time.direction * stride[1];
    return gather<W>(element({at.batch, at.time.first, at.head}), W,
                     [step](int l) { return l / C * step; });
  }

  // Stores a number, or a simd of numbers, rounded to the stored type. A real view stores the real
  // part of a complex number.
  template <class V>
  WANE_INLINE void write(place<index> at, index column, V const& value) const {
    if (data) *element(at, column) = static_cast<T>(convert<wide>(value));
  }
  template <class V>
  WANE_INLINE void write(place<index> at, V const& value) const requires(Rank == 3) {
    if (data) *element(at) = static_cast<T>(convert<wide>(value));
  }
  template <class V, int W>
  WANE_HOST_INLINE void write(place<index> at, lanes<W> columns, simd<V, W> value) const {
    if (data) save(element(at, 0) + columns.first, value);
  }
  template <class V, int W>
  WANE_HOST_INLINE void write(place<index> at, partial_lanes<W> columns, simd<V, W> value) const {
    if (!data) return;
    T* to = element(at, 0) + columns.first;
    if constexpr (std::is_same_v<wide, value_type>)
      impl::store_first(to, columns.count, convert<wide>(value));
    else
      for (int l = 0; l < columns.count; ++l) to[l] = static_cast<T>(static_cast<wide>(value[l]));
  }
  template <class V, int W, int C>
  WANE_HOST_INLINE void write(place<time_lanes<W, C>> at, time_columns<C> columns,
                              simd<V, W> value) const {
    if (!data) return;
    T* to = element({at.batch, at.time.first, at.head}, columns.first);
    if (at.time.direction > 0) return save(to, value);
    save(to + C - W, impl::reverse_groups<C>(value));
  }

  WANE_INLINE T* element(place<index> at, index column) const requires(Rank == 4) {
    return data + at.batch * stride[0] + at.time * stride[1] + at.head * stride[2] +
           column * stride[3];
  }
  WANE_INLINE T* element(place<index> at) const requires(Rank == 3) {
    return data + at.batch * stride[0] + at.time * stride[1] + at.head * stride[2];
  }

 private:
  template <int W>
  WANE_HOST_INLINE static simd<wide, W> load(T const* from) {
    if constexpr (std::is_same_v<wide, value_type>)
      return simd<wide, W>::load(from);
    else if constexpr (requires { impl::load_lanes<W>(from); })
      return impl::load_lanes<W>(from);
    else
      return gather<W>(from, W, [](int l) { return l; });
  }
  template <class V, int W>
  WANE_HOST_INLINE static void save(T* to, simd<V, W> value) {
    if constexpr (std::is_same_v<wide, value_type>)
      convert<wide>(value).store(to);
    else if constexpr (requires { impl::store_lanes(to, convert<wide>(value)); })
      impl::store_lanes(to, convert<wide>(value));
    else
      for (int l = 0; l < W; ++l) to[l] = static_cast<T>(static_cast<wide>(value[l]));
  }
  template <int W, class Offset>
  WANE_HOST_INLINE static simd<wide, W> gather(T const* from, int count, Offset offset) {
    simd<wide, W> x{wide(0)};
    for (int l = 0; l < count; ++l) x.v[l] = static_cast<wide>(from[offset(l)]);
    return x;
  }
};

}  // namespace wane

namespace wane::impl {

// The type of outputs that nobody reads.
struct unread {};

}  // namespace wane::impl

namespace wane {

// A view of them has no data and stores nothing, so that a compiler can leave out what is only
// found to be stored.
template <int Rank>
struct view<impl::unread, Rank> {
  using value_type = impl::unread;
  using wide = impl::unread;

  impl::unread* data = nullptr;
  index extent[Rank] = {};
  index stride[Rank] = {};

  view() noexcept = default;
  WANE_INLINE view(impl::unread*, auto const&...) {}

  WANE_INLINE void write(auto const&...) const {}
  WANE_INLINE impl::unread* element(auto const&...) const { return nullptr; }
};

// [B, T, H, C]: C channels for every token and head.
template <class T>
using sequence_view = view<T, 4>;
// [B, T, H]: one number for every token and head.
template <class T>
using token_view = view<T, 3>;

// Which elements are neighbours in memory in all tensors of an operator, and so which lanes can be
// read. An operator returns it from layout(); without that member it is read number by number.
struct layout {
  bool columns;  // the channels of a token are neighbours
  bool tokens;   // also, the first channel of a token follows the last channel of the token before
  bool series;   // the tokens of a channel are neighbours
};

// The layout that all tensors have in common. Absent tensors are ignored.
template <class... T>
layout layout_of(view<T, 4> const&... tensors) {
  return {((!tensors.data || tensors.stride[3] == 1) && ...),
          ((!tensors.data || (tensors.stride[3] == 1 && tensors.stride[1] == tensors.extent[3])) &&
           ...),
          ((!tensors.data || tensors.stride[1] == 1) && ...)};
}
inline layout operator&(layout a, layout b) {
  return {a.columns && b.columns, a.tokens && b.tokens, a.series && b.series};
}

}  // namespace wane

namespace wane::impl {

// Whether all whole vectors of the tokens lie aligned, so that they may be stored past the caches.
// An absent tensor has none.
template <class T>
bool has_aligned_vectors(sequence_view<T> const& x) {
  if (!x.data) return true;
  bool aligned = reinterpret_cast<std::uintptr_t>(x.data) % simd_bytes == 0 && x.stride[3] == 1;
  for (int i = 0; i < 3; ++i) aligned = aligned && x.stride[i] * index(sizeof(T)) % simd_bytes == 0;
  return aligned;
}

}  // namespace wane::impl
