// lines_ahead: a list of cache lines that are prefetched a few at a time between computations.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/state/walk.hpp"

namespace wane::impl {

class lines_ahead {
 public:
  void clear() { lines_.clear(); }

  // `count` neighbours from x on.
  template <class T>
  void add(T const* x, index count) {
    add_bytes(reinterpret_cast<char const*>(x), count * static_cast<index>(sizeof *x));
  }
  // What the operator reads for the tokens of a walk.
  template <class Op>
  void add(Op const& op, walk const& w) {
    if constexpr (knows_rows<Op>)
      for (index k = 0; k < w.count; ++k)
        op.each_row(w.token(k), [&](auto const* row, index count) { add(row, count); });
  }

  // Shares the lines among so many turns of equal size, which it returns.
  int spread(index turns) {
    if (lines_.empty() || turns == 0) return 0;
    auto const count = static_cast<std::size_t>(turns), each = (lines_.size() + count - 1) / count;
    void const* const last = lines_.back();
    while (lines_.size() < each * count) lines_.push_back(last);
    return static_cast<int>(each);
  }
  void const* const* begin() const { return lines_.data(); }

 private:
  [[gnu::noinline]] void add_bytes(char const* x, index bytes) {
    for (index i = 0; i < bytes; i += 64) lines_.push_back(x + i);
  }

  std::vector<void const*> lines_;
};

}  // namespace wane::impl
