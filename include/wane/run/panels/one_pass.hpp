// one_pass: tokens that do not erase read and write each row of a panel in one pass.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/micro_chunk.hpp"

namespace wane::impl {

// N tokens. With P_t the product of the decays up to token t, by row,
//   y_t = (q_t P_t)^T S + sum_{s<=t} pairs_ts v_s,   S <- P_{N-1} S + sum_s (k_s P_{N-1}/P_s) v_s^T
template <class T, int N, fading Fading>
struct one_pass {
  static constexpr int width = simd_width<T>;

  // For each block of `width` rows, `reads` holds the q_t P_t, [N][width], and `writes` the k_s
  // P_{N-1}/P_s, [N][width]. If rows fade, two more vectors of `writes` hold the two parts of
  // P_{N-1}, whole and rest.
  T const *reads, *writes;
  T pairs[N][N] = {};     // [t][s]: the weight of v_s in y_t
  T whole = 1, rest = 0;  // P_{N-1}, if a head fades as a whole
  // Cache lines to prefetch: `each` of them with every block of rows.
  void const* const* soon = nullptr;
  int each = 0;
  bool has_direct = false;  // whether v_t weighs in y_t where token t does not write

  // Takes R vectors of columns of a state through the tokens, of which the first `Writers` write.
  // Without `Reads` there are no outputs.
  // Rows of the state are `row_stride` apart. load(t, r) gives vector r of v_t; store(t, r, y)
  // receives vector r of y_t.
  template <int R, int Writers = N, bool Reads = true, class Load, class Store>
  WANE_HOST_INLINE void take(index rows, T* state, index row_stride, Load const& load,
                             Store const& store) const {
    take<R, Writers, Reads>(rows, state, state, row_stride, load, store);
  }

  // The same where the state after the tokens goes to `next`, which may be `state`.
  template <int R, int Writers = N, bool Reads = true, class Load, class Store>
  WANE_HOST_INLINE void take(index rows, T const* state, T* next, index row_stride,
                             Load const& load, Store const& store) const {
    using vector = simd<T, width>;
    constexpr int write_terms = N + (Fading == fading::row ? 2 : 0);
    vector v[Writers][R], y[N][R];
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
      if constexpr (t < Writers)
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA { v[t][r] = load(t, r); });
      unroll<(t < Writers ? t + 1 : Writers)>([&](auto s) WANE_INLINE_LAMBDA {
        vector const pair(pairs[t][s]);
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          y[t][r] = s == 0 ? pair * v[s][r] : multiply_add(pair, v[s][r], y[t][r]);
        });
      });
      if constexpr (t >= Writers)
        if (has_direct)
          unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
            y[t][r] = multiply_add(vector(pairs[t][t]), load(t, r), y[t][r]);
          });
    });
    vector all(whole), lost(rest);
    void const* const* line = soon;
    for (index i = 0; i < rows; i += width) {
      T const *read = reads + i * N, *write = writes + i * write_terms;
      for (int n = 0; n < each; ++n) __builtin_prefetch(*line++, 0, 2);
      T const* const end = read + at_most(index{width}, rows - i);
      for (; read < end; ++read, ++write, state += row_stride, next += row_stride) {
        if constexpr (Fading == fading::row)
          all = vector(write[N * width]), lost = vector(write[(N + 1) * width]);
        vector before[R], after[R];
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          before[r] = vector::load(state + r * width);
          after[r] = Fading == fading::none ? before[r] : lost * before[r];
        });
        unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
          vector const query(read[t * width]);
          unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
            if constexpr (Reads) y[t][r] = multiply_add(query, before[r], y[t][r]);
            if constexpr (t < Writers)
              after[r] = multiply_add(vector(write[t * width]), v[t][r], after[r]);
          });
        });
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          if constexpr (Fading != fading::none) after[r] = multiply_add(all, before[r], after[r]);
          after[r].store(next + r * width);
        });
      }
    }
    if constexpr (Reads)
      unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA { store(t, r, y[t][r]); });
      });
  }

  // The same without outputs, for rows that fade.
  template <int R, class Load>
  WANE_HOST_INLINE void carry(index rows, T const* state, T* next, index row_stride,
                              Load const& load) const {
    using vector = simd<T, width>;
    static_assert(Fading == fading::row);
    vector v[N][R];
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { v[t][r] = load(t, r); });
    });
    for (index i = 0; i < rows; i += width) {
      T const* write = writes + i * (N + 2);
      T const* const end = write + at_most(index{width}, rows - i);
      for (; write < end; ++write, state += row_stride, next += row_stride) {
        vector const all(write[N * width]), lost(write[(N + 1) * width]);
        vector before[R], after[R];
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          before[r] = vector::load(state + r * width);
          after[r] = lost * before[r];
        });
        unroll<N>([&](auto t) WANE_INLINE_LAMBDA {
          vector const key(write[t * width]);
          unroll<R>([&](auto r)
                        WANE_INLINE_LAMBDA { after[r] = multiply_add(key, v[t][r], after[r]); });
        });
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          multiply_add(all, before[r], after[r]).store(next + r * width);
        });
      }
    }
  }
};

}  // namespace wane::impl
