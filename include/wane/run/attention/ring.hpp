// The tokens of a sequence and those before it, which lie in a ring: rows to read and to write.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "wane/core/state/walk.hpp"
#include "wane/run/attention/tiles.hpp"

namespace wane::impl {

// Token k of a walk, 0 <= k < count, or a token before it, k < 0. The ring holds the last `window`
// tokens: the one at position p in row (p - 1) mod window.
struct ring_walk : walk {
  index window;

  // The number of tokens before the walk that its first query sees.
  index held() const { return std::clamp<index>(position - 1, 0, window - 1); }
  // The row of token k, -window <= k <= 0.
  index row(index k) const {
    auto const seen = static_cast<std::uint64_t>(position) - 1;
    index const own = static_cast<index>(seen % static_cast<std::uint64_t>(window)) + k;
    return own < 0 ? own + window : own;
  }
  // The last token of the walk in row r, or -1 where there is none.
  index last_in(index r) const {
    index const own = r - row(0), k = own < 0 ? own + window : own;
    return k < count ? k + (count - 1 - k) / window * window : -1;
  }
};

// Queries, keys, values or output gradients, in the order of the run: row begin + k is token k.
// Rows before `begin` are those of a ring, in its columns from `column` on. A ring without data
// holds zeros.
template <class Io, class State>
struct rows_after_ring {
  ring_walk w;
  index begin, column;
  view<Io, 2> tokens;
  view<State const, 4> ring;
  index extent[2] = {tokens.extent[0], tokens.extent[1]};

  template <class Body>
  void with_row(index t, Body const& body) const {
    index const k = t - begin;
    State const zero(0);
    if (k >= 0)
      body(&tokens(w.first + w.stride * k, 0), tokens.stride[1]);
    else if (ring.data)
      body(&ring(w.sequence, w.head, w.row(k), column), ring.stride[3]);
    else
      body(&zero, index(0));
  }
};

// Receives the gradients of such rows. They are added to what the ring has, and to what the tokens
// from `added_from` on have.
template <class To, class State>
struct gradients_after_ring {
  ring_walk w;
  index begin, column;
  To const& tokens;
  view<State, 4> const& ring;
  index added_from;

  // number(j) for 0 <= j < columns.
  template <class Number>
  void write_row(place<> at, index columns, Number const& number) const {
    index const k = at.time - begin;
    if (k < 0) {
      if (!ring.data) return;
      using wide = widened<State>;
      State* const to = &ring(w.sequence, w.head, w.row(k), column);
      for (index j = 0, step = ring.stride[3]; j < columns; ++j)
        to[j * step] =
            static_cast<State>(static_cast<wide>(to[j * step]) + static_cast<wide>(number(j)));
    } else if (tokens.data) {
      place<> const token = w.token(k);
      if (k < added_from) return impl::write_row(tokens, token, columns, number);
      for (index j = 0; j < columns; ++j) {
        auto const g = number(j);
        tokens.write(token, j, static_cast<decltype(g)>(tokens.read(token, j)) + g);
      }
    }
  }
};

}  // namespace wane::impl
