// unread_outputs: the outputs of a run whose states alone are wanted.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

inline sequence_view<unread> unread_outputs(recurrence_shape const& shape) {
  sequence_view<unread> none;
  index const extent[] = {shape.batch, shape.time, shape.heads, shape.columns};
  std::copy_n(extent, 4, none.extent);
  return none;
}

}  // namespace wane::impl
