// Scans of the tokens within one vector: the effects of the tokens up to each lane.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/decay.hpp"
#include "wane/core/place.hpp"
#include "wane/core/unroll.hpp"

namespace wane {

// Factors beyond this are taken token by token: their product may leave the range where no state
// does. Up to it a product that underflows takes at most 2^-94 of a state with it.
template <class T>
inline constexpr T most_growth = T(4);

// Inclusive scan of W / C tokens of C channels: on return lane l of `drive` holds the state of its
// token when the vector is entered with state zero, and `factor` the product of the decays up to
// it. (Kogge and Stone 1973)
template <int C, class T, int W>
WANE_HOST_INLINE void scan_vector(simd<T, W>& factor, simd<T, W>& drive) {
  unroll<W>([&](auto n) WANE_INLINE_LAMBDA {
    if constexpr (constexpr int shift = n * C; shift > 0 && shift < W && (n & (n - 1)) == 0) {
      drive = multiply_add(factor, shift_up<shift>(drive, simd<T, W>(T(0))), drive);
      factor = factor * shift_up<shift>(factor, simd<T, W>(T(1)));
    }
  });
}

// The same for factors 1 + excess: near 1 the excess of a product keeps what the product would
// round away, and with equal decays would round away every time.
template <int C, class T, int W>
WANE_HOST_INLINE void scan_excess(simd<T, W>& excess, simd<T, W>& drive) {
  unroll<W>([&](auto n) WANE_INLINE_LAMBDA {
    if constexpr (constexpr int shift = n * C; shift > 0 && shift < W && (n & (n - 1)) == 0) {
      auto const earlier = shift_up<shift>(drive, simd<T, W>(T(0)));
      auto const before = shift_up<shift>(excess, simd<T, W>(T(0)));
      drive = earlier + multiply_add(excess, earlier, drive);
      excess = multiply_add(excess, before, excess + before);
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

// The effect of the tokens of a vector up to each lane: state -> (whole + rest) state + drive,
// where rest is only looked at when `split`.
template <class V>
struct scanned_vector {
  V whole, rest, drive;
  bool split;

  WANE_HOST_INLINE V apply(V state) const {
    return split ? multiply_add(whole, state, multiply_add(rest, state, drive))
                 : multiply_add(whole, state, drive);
  }
};

template <int C, bool Logs, class V, class Token>
WANE_HOST_INLINE scanned_vector<V> scan(Token const& x, time_columns<C> columns) {
  using T = typename V::scalar;
  V drive = x.value(columns);
  if constexpr (Logs) {
    // Factors rounded within one vector cost nothing; what is carried on goes by sums of logs.
    V const log = x.log_decay(0, columns);
    V factor = factor_of(decay_from_log(log));
    scan_vector<C>(factor, drive);
    auto const whole = decay_from_log(sum_vector<C>(log));
    return {whole.whole, whole.rest, drive, true};
  } else {
    V factor = x.decay(0, columns);
    if (all_below(V(near_one<T>), factor)) {
      V excess = factor - V(T(1));
      scan_excess<C>(excess, drive);
      return {V(T(1)), excess, drive, true};
    }
    scan_vector<C>(factor, drive);
    return {factor, V(T(0)), drive, false};
  }
}

}  // namespace wane
