// lane_sums: sums over the rows of a token, found by the threads that share it.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/cuda/machine/machine.hpp"

namespace wane::cuda::impl {

// How many of the `each` rows of a thread are read before the first of them is used.
constexpr int rows_at_once(int each) { return each % 8 == 0 ? 8 : each % 4 == 0 ? 4 : 1; }

// The sum of x over every `count` neighbours of a warp; it is the same bits in all of them.
template <int count, machine M, class T>
WANE_INLINE T sum_of_neighbours(M& machine, T x) {
  int const own = machine.thread() % warp_size;
  for (int by = 1; by < count; by *= 2) x += machine.shuffle(x, own ^ by);
  return x;
}

// Replaces own_sums where `lanes` neighbours of a warp share a token of up to `most_rows` rows. All
// threads of the warp must call it together. The threads of a token get the same bits.
template <machine M, int lanes, int most_rows>
struct lane_sums {
  static_assert(warp_size % lanes == 0);
  M& machine;

  template <class T>
  WANE_INLINE T dot(auto, index rows, auto const& left, auto const& right) const {
    constexpr bool fits = most_rows % lanes == 0;
    T sum = fits && rows == most_rows ? part<T, fits>(rows, left, right)
                                      : part<T, false>(rows, left, right);
    return sum_of_neighbours<lanes>(machine, sum);
  }

 private:
  // The sum over this thread's rows. `whole`: all most_rows rows exist.
  template <class T, bool whole>
  WANE_INLINE T part(index rows, auto const& left, auto const& right) const {
    constexpr int each = (most_rows + lanes - 1) / lanes, together = rows_at_once(each);
    int const lane = machine.thread() % lanes, there = static_cast<int>(rows);
    T sum[2] = {};
    unroll_if<whole, each / together>([&](auto turn) WANE_INLINE_LAMBDA {
      int const first = turn * together * lanes + lane;
      unroll<together>([&](auto n) WANE_INLINE_LAMBDA {
        // An absent row is replaced by the last one and is not added.
        int const i = first + n * lanes;
        index const at = whole ? i : at_most(i, there - 1);
        T const more = multiply_add(left(at), right(at), sum[n % 2]);
        sum[n % 2] = whole || i < there ? more : sum[n % 2];
      });
    });
    return sum[0] + sum[1];
  }
};

// lane_sums, or own_sums where the lanes of a token lie in several warps (only in tests).
template <machine M, int lanes, int most_rows>
WANE_INLINE auto sums_of_lanes(M& machine) {
  if constexpr (warp_size % lanes == 0)
    return lane_sums<M, lanes, most_rows>{machine};
  else
    return own_sums{};
}

}  // namespace wane::cuda::impl
