// for_each_place: a loop over the tokens of every sequence and head, shared by threads.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/threads.hpp"
#include "wane/core/state/walk.hpp"

namespace wane::impl {

// Calls body(place) for the tokens that are present, of every sequence and head.
template <class Options, class Body>
void for_each_place(recurrence_shape const& shape, Options const& options, Body const& body) {
  for_each_task(shape.batch * shape.heads, threads_to_use(options.threads), [&](index task) {
    index const batch = task / shape.heads;
    index const end = tokens_of(batch, shape.time, {}, options.lengths).end;
    for (index t = 0; t < end; ++t) body(place<>{batch, t, task % shape.heads});
  });
}

}  // namespace wane::impl
