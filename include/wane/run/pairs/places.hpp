// for_each_walk and for_each_place: loops over sequences and heads, or their tokens, on threads.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/threads.hpp"
#include "wane/core/state/walk.hpp"

namespace wane::impl {

// Calls body(walk) for every sequence and head of a call, body(place) for each of their tokens.
template <class Options, class Body>
void for_each_walk(recurrence_shape const& shape, Options const& options, Body const& body) {
  for_each_task(walks_of(shape, options), threads_to_use(options.threads),
                [&](index task) { body(walk_of(task, shape, options, nullptr)); });
}
template <class Options, class Body>
void for_each_place(recurrence_shape const& shape, Options const& options, Body const& body) {
  for_each_walk(shape, options, [&](walk const& w) {
    for (index k = 0; k < w.count; ++k) body(w.token(k));
  });
}

}  // namespace wane::impl
