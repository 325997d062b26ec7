// Scans of the tokens within one vector: the effects of the tokens up to each lane.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/place.hpp"

namespace wane::impl {

// Blocks with larger factors are run token by token, because their product may overflow although no
// state does. With factors up to this, a product that underflows loses at most 2^-94 of a state.
template <class T>
inline constexpr T most_growth = T(4);

// If all logs of a block are nearer to 0 than this, a series turns them into e^log - 1, and they
// are scanned in the form less_one. A vector of tokens leaves a sixteenth of the state or more, so
// that 1 + (e^log - 1) keeps its digits.
template <class T>
inline constexpr T small_log = T(0.17);

// The effect of a window of tokens on a state, S -> factor S + drive. Each lane holds the window
// that ends there.
template <class V>
struct token_window {
  V factor, drive;
};

// How products of factors are held. Products near 1 are held as the product - 1. With equal decays
// at every token, the rounding errors of the product itself would add up to a wrong decay.
enum class held { whole, less_one, by_channel };

// The form of a block of factors, and what is subtracted from the factors of each lane: 0 or 1.
template <class V>
struct held_form {
  held kind = held::whole;
  V taken = V(0);
};

template <class V>
WANE_HOST_INLINE bool is_same_form(held_form<V> const& a, held_form<V> const& b) {
  return a.kind == b.kind && all_below(a.taken - b.taken, V(0.5)) &&
         all_below(b.taken - a.taken, V(0.5));
}

// The form of factors of which `smallest` is the least in each lane. A channel is near 1 if
// `smallest` exceeds near_one in all of its lanes.
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

// The window of `first` followed by `second`.
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

// The sum in each lane over the tokens of its channel, up to its own token.
template <int C, class T, int W>
WANE_HOST_INLINE simd<T, W> sum_vector(simd<T, W> x) {
  unroll<W>([&](auto n) WANE_INLINE_LAMBDA {
    if constexpr (constexpr int shift = n * C; shift > 0 && shift < W && (n & (n - 1)) == 0)
      x += shift_up<shift>(x, simd<T, W>(T(0)));
  });
  return x;
}

}  // namespace wane::impl
