// A walk over tokens beside a ring of the tokens before it: which row is which token.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "wane/core/state/walk.hpp"

namespace wane::impl {

// The tokens k of a sequence and head in the order of a run; k < 0 for those before the first. The
// token at position p has slot (p - 1) mod window of the ring.
struct ring_walk : walk {
  index window;

  // How many tokens before the first one its query sees.
  index held() const { return std::clamp<index>(position - 1, 0, window - 1); }
  // The slot of token k, -window <= k <= 0.
  index slot(index k) const {
    auto const seen = static_cast<std::uint64_t>(position) - 1;
    index const own = static_cast<index>(seen % static_cast<std::uint64_t>(window)) + k;
    return own < 0 ? own + window : own;
  }
  // The last token in slot r, or -1 where no token comes there.
  index last_in(index r) const {
    index const own = r - slot(0), k = own < 0 ? own + window : own;
    return k < count ? k + (count - 1 - k) / window * window : -1;
  }
};

// Rows of a tensor by the time t of a block: row begin + k is token k. Rows before `begin` are in a
// ring, in the columns from `column` on. A ring without data holds zeros.
template <class T, class Io, class State>
struct rows_after_ring {
  ring_walk w;
  index begin, column;
  view<Io, 2> tokens;
  view<State const, 4> ring;
  index extent[2] = {tokens.extent[0], tokens.extent[1]};

  T operator()(index t, index j) const {
    index const k = t - begin;
    if (k >= 0) return static_cast<T>(tokens(w.first + w.stride * k, j));
    return ring.data ? static_cast<T>(ring(w.sequence, w.head, w.slot(k), column + j)) : T(0);
  }
};

// Receives the gradients of such rows. Adds to what is there in the ring, and at tokens from
// `added_from` on.
template <class To, class State>
struct gradients_after_ring {
  ring_walk w;
  index begin, column;
  To const& tokens;
  view<State, 4> const& ring;
  index added_from;

  template <class T>
  void write(place<> at, index j, T g) const {
    index const k = at.time - begin;
    if (k < 0) {
      if (ring.data) add(ring(w.sequence, w.head, w.slot(k), column + j), g);
    } else if (tokens.data) {
      place<> const token = w.token(k);
      tokens.write(token, j, k < added_from ? g : static_cast<T>(tokens.read(token, j)) + g);
    }
  }

 private:
  template <class T>
  static void add(State& to, T g) {
    using wide = widened<State>;
    to = static_cast<State>(static_cast<wide>(to) + static_cast<wide>(g));
  }
};

}  // namespace wane::impl
