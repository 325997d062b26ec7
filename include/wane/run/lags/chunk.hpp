// lag_chunks: N tokens with constant decays; a pair of tokens has one weight for all columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/decay.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/recurrence.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/lags/held_decays.hpp"
#include "wane/run/shared/panel_columns.hpp"

namespace wane::impl {

// With the state M before tokens 0..N-1 and l_s the factor of row s,
//   y_t = sum_s l_s^{t+1} M_s + sum_{i<=t} p_ti v_i
//   p_ti = sum_s l_s^{t-i} k_is, plus d_t for i = t
//   M_s <- l_s^N M_s + sum_i l_s^{N-1-i} k_is v_i
// A query is the same for all tokens. It multiplies l_s^{t+1} and the terms of p. The adjoint has
// the same form with time reversed, p transposed and the two sums over rows exchanged. Each column
// costs 2 S (1 + 1/N) + (N + 1)/2 multiply-adds a token, S being the rows.
template <class Op>
concept has_lags = reads_lanes<Op> && has_row_log_decay<token_of<Op>> && !has_skip<token_of<Op>> &&
                   !strictly_causal<token_of<Op>> && !normalised_recurrence<Op> &&
                   (time_invariant<Op> || (constant_decays<Op> && !has_query<token_of<Op>>));

// Tokens of a chunk and vectors of columns side by side: their values and sums fill the registers.
inline constexpr int lag_tokens = simd_bytes == 64 ? 6 : 4, lag_vectors = simd_bytes == 64 ? 2 : 1;

// Tokens k to k + N - 1 of a walk.
template <int N, class Op>
WANE_HOST_INLINE std::array<token_of<Op>, N> tokens_at(Op const& op, walk const& w, index k) {
  return [&]<std::size_t... t>(std::index_sequence<t...>) WANE_INLINE_LAMBDA {
    return std::array<token_of<Op>, N>{op.at(w.token(k + static_cast<index>(t)))...};
  }
  (std::make_index_sequence<N>());
}

// A token N times.
template <std::size_t N, class Token>
std::array<Token, N> repeated(Token const& x) {
  return [&]<std::size_t... t>(std::index_sequence<t...>) {
    return std::array<Token, N>{((void)t, x)...};
  }
  (std::make_index_sequence<N>());
}

// Makes the chunks of N tokens of a head.
template <has_lags Op, int N>
class lag_chunks {
 public:
  using T = accumulate_type<Op>;
  using Token = token_of<Op>;
  using vector = simd<T, simd_width<T>>;
  using chunk_type = one_pass<T, N, fading::row>;
  static constexpr int width = vector::width;

  lag_chunks(Op const& op, index head)
      : op_(op),
        rows_{0, recurrence_shape(op.shape()).rows},
        log_decays_(rows_.padded()),
        queries_(rows_.padded()),
        powers_((N + 1) * rows_.padded()),
        keys_(N * rows_.padded()),
        reads_(N * rows_.padded()),
        writes_((N + 2) * rows_.padded()) {
    auto const x = op.at(place<>{0, 0, head});
    load(log_decays_.data(), [&](auto s) -> decltype(x.log_decay(s)) { return x.log_decay(s); });
    if constexpr (has_query<Token>)
      load(queries_.data(), [&](auto s) -> decltype(x.query(s)) { return x.query(s); });
    for (index s = 0; s < rows_.padded(); s += width) {
      vector const log_decay = vector::load(log_decays_.data() + s);
      unroll<N + 1>([&](auto n) WANE_INLINE_LAMBDA {
        vector const faded = factor_of(decay_from_log(vector(T(n)) * log_decay));
        faded.store(power(n) + s);
        if constexpr (n > 0) read(s, faded).store(reads_.data() + s * N + (n - 1) * width);
      });
      auto const fade = decay_from_log(vector(T(N)) * log_decay);
      T* const write = writes_.data() + s * (N + 2);
      fade.whole.store(write + N * width), fade.rest.store(write + (N + 1) * width);
    }
    if constexpr (time_invariant<Op>) every_ = terms_of(repeated<N>(x));
  }

  index padded_rows() const { return rows_.padded(); }
  // The factor of every row after n tokens.
  T* power(index n) const { return powers_.data() + n * rows_.padded(); }

  held_decays<T> held() const { return {log_decays_.data(), rows_.padded(), N}; }

  // The chunk of tokens k to k + N - 1 of a walk. It is valid until the next call.
  chunk_type operator()(walk const& w, index k) const {
    if constexpr (time_invariant<Op>)
      return every_;
    else
      return terms_of(tokens_at<N>(op_, w, k));
  }

 private:
  static constexpr int padded_pairs = (N * (N + 1) / 2 + width - 1) / width * width;
  static constexpr int pair(int t, int i) { return t * (t + 1) / 2 + i; }

  // Stores term(s) of every row s at `to`, in vectors if `term` takes lanes.
  template <class Term>
  void load(T* to, Term const& term) const {
    constexpr bool in_lanes = std::invocable<Term, lanes<width>>;
    rows_.template load<in_lanes>(to, true, term);
  }
  // x times the queries of the rows from s on, or x itself if tokens have no query.
  WANE_HOST_INLINE vector read(index s, vector x) const {
    if constexpr (has_query<Token>) x = x * vector::load(queries_.data() + s);
    return x;
  }

  [[gnu::noinline]] chunk_type terms_of(std::array<Token, N> const& x) const {
    chunk_type chunk{reads_.data(), writes_.data()};
    for (std::size_t i = 0; i < N; ++i)
      if constexpr (has_key<Token>)
        load(keys_.data() + static_cast<index>(i) * rows_.padded(),
             [&](auto s) -> decltype(x[i].key(s)) { return x[i].key(s); });
      else
        load(keys_.data() + static_cast<index>(i) * rows_.padded(), [](index) { return T(1); });
    vector sum[padded_pairs] = {};
    for (index s = 0; s < rows_.padded(); s += width)
      unroll<N>([&](auto i) WANE_INLINE_LAMBDA {
        vector const key = vector::load(keys_.data() + i * rows_.padded() + s);
        unroll<N - i>([&](auto n) WANE_INLINE_LAMBDA {
          vector const faded = n == 0 ? key : key * vector::load(power(n) + s);
          sum[pair(i + n, i)] += read(s, faded);
          if constexpr (i + n == N - 1) faded.store(writes_.data() + s * (N + 2) + i * width);
        });
      });
    T totals[padded_pairs];
    for (int n = 0; n < padded_pairs; n += width) sums(sum + n).store(totals + n);
    for (int t = 0; t < N; ++t) {
      for (int i = 0; i <= t; ++i) chunk.pairs[t][i] = totals[pair(t, i)];
      if constexpr (has_direct<Token>)
        chunk.pairs[t][t] += T(x[static_cast<std::size_t>(t)].direct());
    }
    return chunk;
  }

  Op const& op_;
  panel_columns<T, 1> rows_;
  aligned_numbers<T> log_decays_, queries_, powers_, keys_, reads_, writes_;
  chunk_type every_;  // the chunk of any N tokens, if the operator is time-invariant
};

// The chunk with time reversed, for its adjoint: it takes output gradients from the last token to
// the first. `reads` and `writes` receive its terms, for `rows` rows, a multiple of the vector
// width.
template <class T, int N>
one_pass<T, N, fading::row> turned(one_pass<T, N, fading::row> const& chunk, index rows, T* reads,
                                   T* writes) {
  using vector = simd<T, simd_width<T>>;
  constexpr int width = vector::width;
  for (index s = 0; s < rows; s += width) {
    T const *read = chunk.reads + s * N, *write = chunk.writes + s * (N + 2);
    T *to_read = reads + s * N, *to_write = writes + s * (N + 2);
    for (int t = 0; t < N; ++t) {
      vector::load(write + (N - 1 - t) * width).store(to_read + t * width);
      vector::load(read + (N - 1 - t) * width).store(to_write + t * width);
    }
    std::copy_n(write + N * width, 2 * width, to_write + N * width);
  }
  one_pass<T, N, fading::row> back{reads, writes};
  for (int t = 0; t < N; ++t)
    for (int i = 0; i <= t; ++i) back.pairs[t][i] = chunk.pairs[N - 1 - i][N - 1 - t];
  return back;
}

// The chunk of N tokens of a head, forward and with time reversed.
template <has_lags Op, int N>
requires time_invariant<Op>
struct both_ways {
  using T = accumulate_type<Op>;
  using chunk_type = one_pass<T, N, fading::row>;

  lag_chunks<Op, N> const chunks;
  aligned_numbers<T> reads, writes;
  chunk_type const run, back;

  both_ways(Op const& op, index head)
      : chunks(op, head),
        reads(N * chunks.padded_rows()),
        writes((N + 2) * chunks.padded_rows()),
        run(chunks(walk{}, 0)),
        back(turned(run, chunks.padded_rows(), reads.data(), writes.data())) {}
};

// The state of columns [first, last) of a walk, in the form of held_decays, and the makers of its
// chunks.
template <has_lags Op>
struct lag_state {
  using T = accumulate_type<Op>;

  lag_state(Op const& op, index head, index first, index last)
      : many(op, head),
        one(op, head),
        held(many.held()),
        rows(recurrence_shape(op.shape()).rows),
        columns{first, last},
        row_stride(row_stride_of<T>(columns.count())),
        numbers((rows + 1) * row_stride) {}

  // Row s. A row of zeros follows the last one, so that rows can be read in pairs.
  T* row(index s) const { return numbers.data() + s * row_stride; }

  template <class Access>
  void load(Access const& access) const {
    std::fill_n(numbers.data(), (rows + 1) * row_stride, T(0));
    access.load_rows(rows, columns.first, columns.last, numbers.data(), row_stride);
  }
  template <class Access>
  void save(Access const& access) const {
    for (index s = 0; s < rows; ++s) {
      auto const factor = held.factor(s);
      access.save_each(s, columns.first, columns.last,
                       [factor, from = row(s)](index j) { return factor * from[j]; });
    }
  }

  lag_chunks<Op, lag_tokens> const many;
  lag_chunks<Op, 1> const one;
  held_decays<T> held;
  index const rows;
  panel_columns<T, lag_vectors> const columns;
  index const row_stride;
  aligned_numbers<T> numbers;
};

}  // namespace wane::impl
