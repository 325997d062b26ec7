// for_each_place: a loop over the tokens of every sequence and head, shared by threads.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/threads.hpp"
#include "wane/core/state/walk.hpp"

namespace wane::impl {

// Calls body(place) for the tokens of every sequence and head of a call.
template <class Options, class Body>
void for_each_place(recurrence_shape const& shape, Options const& options, Body const& body) {
  for_each_task(walks_of(shape, options), threads_to_use(options.threads), [&](index task) {
    walk const w = walk_of(task, shape, options, nullptr);
    for (index k = 0; k < w.count; ++k) body(w.token(k));
  });
}

}  // namespace wane::impl
