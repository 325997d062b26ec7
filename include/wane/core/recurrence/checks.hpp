// Checks that tensors fit a recurrence. The error names the tensor, its extent and the right one.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/error.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane {

//   check_extent("decay", "heads", decay.extent[2], shape.heads);
inline void check_extent(char const* name, char const* what, index is, index must_be) {
  require(is == must_be, name, " has ", what, " ", is, "; it must be ", must_be);
}

// The shape of tensors by row, [B, T, H, rows]: check(name, tensor, shape_of_rows(shape)).
struct shape_of_rows : recurrence_shape {
  explicit shape_of_rows(recurrence_shape const& shape) : recurrence_shape(shape) {}
};

}  // namespace wane

namespace wane::impl {

// Throws wane::error for a default view: a tensor that was left out.
template <class T, int Rank>
void check_given(char const* name, view<T, Rank> const& x) {
  bool given = x.data != nullptr;
  for (index n : x.extent) given = given || n != 0;
  require(given, name, " is not given; the operator needs it");
}

// Checks a tensor [B, T, H, C], C = channels, which a message calls `what`. Only an empty tensor
// may have no data.
template <class T>
void check_channels(char const* name, sequence_view<T> const& values, recurrence_shape const& shape,
                    char const* what, index channels) {
  if (shape.batch * shape.time > 0) check_given(name, values);
  check_extent(name, "batch", values.extent[0], shape.batch);
  check_extent(name, "time", values.extent[1], shape.time);
  check_extent(name, "heads", values.extent[2], shape.heads);
  check_extent(name, what, values.extent[3], channels);
  bool const empty = shape.batch * shape.time * shape.heads * channels == 0;
  require(values.data || empty, name, " has no data; it must point to its values");
}

}  // namespace wane::impl

namespace wane {

//   check("value", value, shape);                 // [B, T, H, columns]
//   check("key", key, shape_of_rows(shape));      // [B, T, H, rows]
//
// Throws wane::error where an extent differs from the shape, or data is missing.
template <class T>
void check(char const* name, sequence_view<T> const& values, recurrence_shape const& shape) {
  impl::check_channels(name, values, shape, "columns", shape.columns);
}
template <class T>
void check(char const* name, sequence_view<T> const& values, shape_of_rows const& shape) {
  impl::check_channels(name, values, shape, "rows", shape.rows);
}

// The same for [B, T, H], one number for each token and head.
template <class T>
void check(char const* name, token_view<T> const& values, recurrence_shape const& shape) {
  if (shape.batch * shape.time > 0) impl::check_given(name, values);
  check_extent(name, "batch", values.extent[0], shape.batch);
  check_extent(name, "time", values.extent[1], shape.time);
  check_extent(name, "heads", values.extent[2], shape.heads);
  require(values.data || shape.batch * shape.time * shape.heads == 0, name,
          " has no data; it must point to its values");
}

// The same for a tensor that may be absent: without data it is not checked.
template <class T, class Shape>
void check_if_present(char const* name, sequence_view<T> const& values, Shape const& shape) {
  if (values.data) check(name, values, shape);
}
template <class T>
void check_if_present(char const* name, token_view<T> const& values,
                      recurrence_shape const& shape) {
  if (values.data) check(name, values, shape);
}

}  // namespace wane
