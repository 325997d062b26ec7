// Scans of the tokens within one vector: the effects of the tokens up to each lane.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/place.hpp"

namespace wane::impl {

// Factors beyond this are taken token by token: their product may leave the range where no state
// does. Up to it a product that underflows takes at most 2^-94 of a state with it.
template <class T>
inline constexpr T most_growth = T(4);

// Logs nearer to 0 are taken as e^log - 1, a series, and scanned in that form. A vector of tokens
// leaves a sixteenth of the state or more, so that 1 + (e^log - 1) keeps its digits.
template <class T>
inline constexpr T small_log = T(0.17);

// What tokens do to a state, S -> factor S + drive, in each lane for the tokens of a window that
// ends there.
template <class V>
struct token_window {
  V factor, drive;
};

// Products of factors near 1 are held less 1: rounding them would take away, with equal decays at
// every token, what the state should forget.
enum class held { whole, less_one, by_channel };

// The form for a block of factors of C channels, and what is taken from those of each lane: 0 or 1.
template <class V>
struct held_form {
  held kind = held::whole;
  V taken = V(0);
};

template <class V>
WANE_HOST_INLINE bool is_same(held_form<V> const& a, held_form<V> const& b) {
  return a.kind == b.kind && all_below(a.taken - b.taken, V(0.5)) &&
         all_below(b.taken - a.taken, V(0.5));
}

// A channel is near 1 when `smallest`, the least factor in each lane, is in all of its lanes.
template <int C, class V>
WANE_HOST_INLINE held_form<V> form_of(V smallest) {
  constexpr int width = V::width;
  V const limit = V(near_one<typename V::scalar>);
  unsigned near = lanes_below(limit, smallest);
  if (near == (1u << width) - 1u) return {held::less_one, V(1)};
  if (C == 1 || near == 0) return {};
  for (int turn = C; turn < width; turn *= 2) near &= near >> turn | near << (width - turn);
  if (near == 0) return {};
  unroll<width>([&](auto n) WANE_INLINE_LAMBDA {
    if constexpr (constexpr int turn = n * C; turn > 0 && turn < width && (n & (n - 1)) == 0)
      smallest = at_most(smallest, shift_up<turn>(smallest, smallest));
  });
  return {held::by_channel, where_below(limit, smallest, V(1), V(0))};
}

// `first`, and after it `second`.
template <held Form, class V>
WANE_HOST_INLINE token_window<V> after(token_window<V> const& first, token_window<V> const& second,
                                       [[maybe_unused]] V taken) {
  V const drive = multiply_add(second.factor, first.drive, second.drive);
  if constexpr (Form == held::whole)
    return {second.factor * first.factor, drive};
  else if constexpr (Form == held::less_one)
    return {multiply_add(second.factor, first.factor, second.factor + first.factor),
            first.drive + drive};
  else
    return {multiply_add(taken, second.factor + first.factor, second.factor * first.factor),
            multiply_add(taken, first.drive, drive)};
}

// Inclusive scan of W / C tokens of C channels: lane l ends with the window of all tokens up to its
// own. (Kogge and Stone 1973)
template <int C, held Form, class V>
WANE_HOST_INLINE void scan_vector(token_window<V>& x, V taken = V(0)) {
  constexpr int width = V::width;
  unroll<width>([&](auto n) WANE_INLINE_LAMBDA {
    if constexpr (constexpr int shift = n * C; shift > 0 && shift < width && (n & (n - 1)) == 0) {
      token_window<V> const earlier{shift_up<shift>(x.factor, V(1) - taken),
                                    shift_up<shift>(x.drive, V(0))};
      x = after<Form>(earlier, x, taken);
    }
  });
}

// Sums of the tokens up to each lane's, of the same channel.
template <int C, class T, int W>
WANE_HOST_INLINE simd<T, W> sum_vector(simd<T, W> x) {
  unroll<W>([&](auto n) WANE_INLINE_LAMBDA {
    if constexpr (constexpr int shift = n * C; shift > 0 && shift < W && (n & (n - 1)) == 0)
      x += shift_up<shift>(x, simd<T, W>(T(0)));
  });
  return x;
}

}  // namespace wane::impl
