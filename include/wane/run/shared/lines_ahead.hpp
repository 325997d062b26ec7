// lines_ahead: a list of cache lines that are prefetched a few at a time between computations.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/state/walk.hpp"

namespace wane::impl {

// Prefetches numbers [first, last) of a row, to be written if Write is 1. It is inlined, because a
// compiler may drop the call of a function that only prefetches.
template <int Write, class T>
WANE_HOST_INLINE void prefetch(T const* row, index first, index last) {
  for (index j = first; j < last; j += 64 / static_cast<index>(sizeof(T)))
    __builtin_prefetch(row + j, Write, 2);
}

// Prefetches columns [first, last) of what an operator reads for the tokens of a walk, or gradients
// receive if Write is 1, where it has all `columns`.
template <int Write, class Tensors>
WANE_HOST_INLINE void prefetch_rows(Tensors const& tensors, walk const& w, index columns,
                                    index first, index last) {
  if constexpr (knows_rows<Tensors>)
    for (index k = 0; k < w.count; ++k)
      tensors.each_row(w.token(k), [&](auto const* row, index count) WANE_INLINE_LAMBDA {
        if (count == columns) prefetch<Write>(row, first, last);
      });
}

class lines_ahead {
 public:
  void clear() { count_ = 0; }

  // `count` neighbours from x on.
  template <class T>
  void add(T const* x, index count) {
    constexpr index line = 64 / sizeof *x;
    make_room(count_ + (count + line - 1) / line);
    void const** to = lines_.data() + count_;
    for (index i = 0; i < count; i += line) *to++ = x + i;
    count_ = to - lines_.data();
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
    if (count_ == 0 || turns == 0) return 0;
    index const each = (count_ + turns - 1) / turns;
    make_room(each * turns);
    std::fill(lines_.data() + count_, lines_.data() + each * turns, lines_[size(count_ - 1)]);
    count_ = each * turns;
    return static_cast<int>(each);
  }
  void const* const* begin() const { return lines_.data(); }

 private:
  static std::size_t size(index n) { return static_cast<std::size_t>(n); }
  void make_room(index count) {
    if (std::ssize(lines_) < count) grow(2 * count);
  }
  [[gnu::noinline]] void grow(index count) { lines_.resize(size(count)); }

  std::vector<void const*> lines_;
  index count_ = 0;  // of the lines that are in use
};

}  // namespace wane::impl
