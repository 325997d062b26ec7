// Inputs of the Mambas: x, B and C as values, keys and queries.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/parts/keyed.hpp"

namespace wane::impl {

// Throws wane::error unless B and C are [B, T, G, N] with G dividing the heads of x.
template <class Io>
keyed_tensors<Io> mamba_keys(sequence_view<Io const> const& x, sequence_view<Io const> const& B,
                             sequence_view<Io const> const& C) {
  check_given("x", x), check_given("B", B), check_given("C", C);
  index const groups = B.extent[2];
  require(groups > 0 && x.extent[2] % groups == 0, "B has groups ", groups,
          "; their number must divide the heads of x, ", x.extent[2]);
  check_extent("B", "batch", B.extent[0], x.extent[0]);
  check_extent("B", "time", B.extent[1], x.extent[1]);
  check_extent("C", "batch", C.extent[0], x.extent[0]);
  check_extent("C", "time", C.extent[1], x.extent[1]);
  check_extent("C", "groups", C.extent[2], groups);
  check_extent("C", "rows", C.extent[3], B.extent[3]);
  return {C, B, x};
}

// Throws wane::error for a tensor without data, unless there is no token.
template <class Io>
void check_mamba_data(sequence_view<Io const> const& x, sequence_view<Io const> const& B,
                      sequence_view<Io const> const& C) {
  bool const empty = x.extent[1] == 0;
  require(x.data || empty, "x has no data; it must point to its values");
  require(B.data || empty, "B has no data; it must point to its values");
  require(C.data || empty, "C has no data; it must point to its values");
}

// Throws wane::error when a gradient that is present does not fit.
template <class Io>
void check_mamba_gradients(sequence_view<Io> const& x, sequence_view<Io> const& B,
                           sequence_view<Io> const& C, recurrence_shape const& shape) {
  check_if_present("the gradient of x", x, shape);
  check_if_present("the gradient of B", B, shape_of_rows(shape));
  check_if_present("the gradient of C", C, shape_of_rows(shape));
}

}  // namespace wane::impl
