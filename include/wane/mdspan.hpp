// Views of mdspans, and mdspans of views. Takes those of the standard library and of Kokkos.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <type_traits>

#include "wane/core/recurrence/view.hpp"

namespace wane::impl {

template <class Span>
concept is_mdspan = requires(Span const& x) {
  typename Span::element_type;
  typename Span::mapping_type;
  typename Span::extents_type;
  x.data_handle(), x.mapping(), x.extent(0);
  Span::rank();
};

}  // namespace wane::impl

namespace wane {

//   wane::gla const memory({.query = wane::view_of(q), ...}, wane::view_of(g));
//
// The view of an mdspan of any layout with strides, with as many dimensions. The values must
// outlive it. Throws wane::error where a layout that may have no strides has none.
template <impl::is_mdspan Span>
auto view_of(Span const& x) {
  static_assert(std::is_pointer_v<typename Span::data_handle_type>,
                "wane::view_of: the accessor of this mdspan does not point to its elements");
  constexpr int rank = static_cast<int>(Span::rank());
  require(x.is_strided(), "the mdspan has no strides; it must have a layout with strides");
  view<typename Span::element_type, rank> to;
  to.data = x.data_handle();
  for (int i = 0; i < rank; ++i) {
    auto const n = static_cast<typename Span::rank_type>(i);
    to.extent[i] = static_cast<index>(x.extent(n));
    to.stride[i] = static_cast<index>(x.stride(n));
  }
  return to;
}

//   using span = std::mdspan<float, std::dextents<std::int64_t, 4>, std::layout_stride>;
//   span const y = wane::mdspan_of<span>(output);
//
// The mdspan, of layout_stride, of a view. Throws wane::error where a stride is negative, which
// layout_stride does not allow, or an extent is not that of the type.
template <impl::is_mdspan Span, class T, int Rank>
Span mdspan_of(view<T, Rank> const& x) {
  static_assert(static_cast<int>(Span::rank()) == Rank,
                "wane::mdspan_of: the mdspan has another number of dimensions than the view");
  using number = typename Span::index_type;
  std::array<number, Rank> extents{}, strides{};
  for (std::size_t i = 0; i < Rank; ++i) {
    auto const fixed = Span::static_extent(i);
    require(fixed == static_cast<std::size_t>(-1) || static_cast<index>(fixed) == x.extent[i],
            "dimension ", i, " has extent ", x.extent[i], "; the mdspan has ", fixed);
    require(x.stride[i] > 0 || x.extent[i] <= 1, "dimension ", i, " has stride ", x.stride[i],
            "; that of an mdspan must be positive");
    extents[i] = static_cast<number>(x.extent[i]);
    strides[i] = static_cast<number>(x.extent[i] <= 1 && x.stride[i] <= 0 ? 1 : x.stride[i]);
  }
  return Span(x.data, typename Span::mapping_type(typename Span::extents_type(extents), strides));
}

}  // namespace wane
