// Channelwise recurrences with few channels: one vector holds several tokens, scanned at once.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/columns.hpp"

namespace wane {

// Inclusive scan of W / C tokens of C channels: on return lane l holds the state of its token when
// the vector is entered with state zero. `factor` is the decay of each token; after the last step
// but one it is the product over all tokens up to the lane's. (Kogge and Stone 1973)
template <int C, class T, int W>
WANE_HOST_INLINE void scan_vector(simd<T, W>& factor, simd<T, W>& drive) {
  unroll<W>([&](auto n) WANE_INLINE_LAMBDA {
    if constexpr (constexpr int shift = n * C; shift > 0 && shift < W && (n & (n - 1)) == 0) {
      drive = multiply_add(factor, shift_up<shift>(drive, simd<T, W>(T(0))), drive);
      factor = factor * shift_up<shift>(factor, simd<T, W>(T(1)));
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

// Channels [column, column + C) of a walk.
template <int C, channelwise Op, class T, class Out>
class series_runner {
 public:
  static constexpr int width = simd_width<T>;
  static constexpr int tokens = width / C;
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
      vector const after = scanned(op.at(at), columns, state);
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

  template <class Token>
  WANE_HOST_INLINE static vector scanned(Token const& x, time_columns<C> columns, vector state) {
    vector drive = x.value(columns);
    if constexpr (has_element_log_decay<token_of<Op>>) {
      // Factors rounded in one vector cost nothing; what is carried on goes by exact sums of logs.
      vector const log = x.log_decay(0, columns);
      vector factor = factor_of(decay_from_log(log));
      scan_vector<C>(factor, drive);
      return carried(decay_from_log(sum_vector<C>(log)), state, drive);
    } else {
      vector factor = x.decay(0, columns);
      scan_vector<C>(factor, drive);
      return multiply_add(factor, state, drive);
    }
  }

  Op const& op_;
  sequence_view<Out> const& output_;
  time_columns<C> columns_;
};

}  // namespace wane
