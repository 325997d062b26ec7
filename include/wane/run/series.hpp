// Channelwise recurrences with few channels: one vector holds several tokens, scanned at once.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/columns.hpp"

namespace wane {

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
    V factor = x.decay(0, columns), excess = factor - V(T(1));
    if (all_below(excess * excess, V(T(0x1p-8)))) {
      scan_excess<C>(excess, drive);
      return {V(T(1)), excess, drive, true};
    }
    scan_vector<C>(factor, drive);
    return {factor, V(T(0)), drive, false};
  }
}

// Channels [column, column + C) of a walk.
template <int C, channelwise Op, class T, class Out>
class series_runner {
 public:
  static constexpr int width = simd_width<T>;
  static constexpr int tokens = width / C;
  static constexpr bool in_logs = has_element_log_decay<token_of<Op>>;
  using vector = simd<T, width>;
  using place_in_time = place<time_lanes<width, C>>;

  series_runner(Op const& op, sequence_view<Out> const& output, index column)
      : op_(op), output_(output), columns_{column} {}

  // `carry` is the state of the C channels, before and after.
  void operator()(walk const& w, bool streaming, T (&carry)[C]) const {
    index const head = streaming ? head_tokens(w) : 0;
    one_by_one(w.part(0, head), carry);
    walk const body = w.part(std::min(head, w.count), (w.count - head) / tokens * tokens);
    if (body.count > 0) {
      if (streaming && body.stride > 0)
        vectors<true>(body, carry);
      else
        vectors<false>(body, carry);
    }
    index const done = std::min(head, w.count) + std::max<index>(body.count, 0);
    one_by_one(w.part(done, w.count - done), carry);
  }

 private:
  // Tokens before the first output that is aligned to a whole vector.
  index head_tokens(walk const& w) const {
    auto const address =
        reinterpret_cast<std::uintptr_t>(output_.element(w.token(0), columns_.first));
    auto const past = address % simd_bytes, line = static_cast<std::uintptr_t>(simd_bytes);
    auto const bytes = (line - past) % line;
    if (w.stride < 0 || bytes % (C * sizeof(T)) != 0) return 0;
    return std::min(w.count, static_cast<index>(bytes / (C * sizeof(T))));
  }

  void one_by_one(walk const& w, T (&carry)[C]) const {
    walk_columns_one_by_one(op_, w, columns_.first, columns_.first + C, carry, output_);
  }

  template <bool Stream>
  [[gnu::noinline]] void vectors(walk const w, T (&carry)[C]) const {
    Op const op = op_;
    sequence_view<Out> const output = output_;
    time_columns<C> const columns = columns_;
    vector state = entered_with(carry);
    for (index k = 0; k < w.count; k += tokens) {
      place_in_time const at{w.batch, {w.first + w.stride * k, w.stride}, w.head, w.position + k};
      vector const after = scan<C, in_logs, vector>(op.at(at), columns).apply(state);
      if (!all_finite(after)) [[unlikely]] {
        // A product of factors may be inf or NaN where the token's own result is not.
        for (int c = 0; c < C; ++c) carry[c] = state[c];
        one_by_one(w.part(k, tokens), carry);
        state = entered_with(carry);
        continue;
      }
      if constexpr (Stream && std::is_same_v<T, Out>)
        stream(output.element(w.token(k), columns.first), after);
      else
        output.write(at, columns, after);
      state = repeat_last<C>(after);
    }
    for (int c = 0; c < C; ++c) carry[c] = state[c];
  }

  WANE_HOST_INLINE static vector entered_with(T const (&carry)[C]) {
    vector state;
    for (int l = 0; l < width; ++l) state.v[l] = carry[l % C];
    return state;
  }

  Op const& op_;
  sequence_view<Out> const& output_;
  time_columns<C> columns_;
};

}  // namespace wane
