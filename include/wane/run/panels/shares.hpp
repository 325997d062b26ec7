// panel_shares: how the heads and columns of a sequence are divided among threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>

#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// The work of a task: some heads of a sequence, and the columns [first, last) of their states.
struct panel_share {
  index head, heads, first, last;
};
// The shares of a sequence, one or more for each of its threads. Heads form groups, so that a block
// of time is read while the translations of its pages are cached. Heads that are left over are cut
// into pieces of columns.
struct panel_shares {
  index groups, heads, rest, columns;  // heads of a group, heads left over
  index first_head, first_column;
  index piece, piece_of_rest;  // columns of a share

  panel_shares(state_box const& box, int threads, index strip)
      : groups(std::clamp<index>((threads + box.sequences - 1) / std::max<index>(box.sequences, 1),
                                 1, std::max<index>(box.heads, 1))),
        heads(box.heads / groups),
        rest(box.heads % groups),
        columns(box.columns),
        first_head(box.first_head),
        first_column(box.first_column),
        piece(
            std::max<index>(1, columns_per_task(columns, box.sequences * groups, threads, strip))),
        // The heads left over give a multiple of `groups` pieces, as far as `strip` allows.
        piece_of_rest(std::max<index>(1, columns_per_task(columns, std::gcd(rest, groups),
                                                          static_cast<int>(groups), strip))) {}

  index count() const { return groups * pieces(piece) + rest * pieces(piece_of_rest); }
  panel_share operator[](index n) const {
    if (index const grouped = groups * pieces(piece); n >= grouped)
      return share(n - grouped, groups * heads, 1, piece_of_rest);
    return share(n, 0, heads, piece);
  }

 private:
  index pieces(index of) const { return (columns + of - 1) / of; }
  panel_share share(index n, index head, index count, index of) const {
    index const first = n % pieces(of) * of, last = std::min(first + of, columns);
    return {first_head + head + n / pieces(of) * count, count, first_column + first,
            first_column + last};
  }
};

}  // namespace wane::impl
