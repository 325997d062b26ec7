// chunk_terms: the terms of four tokens become a micro-chunk. Compiled once for each form of panel.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/micro_chunk.hpp"
#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

// Where the terms of one token lie: [row / width][kind][width], with these steps between kinds and
// between blocks of rows.
template <class T>
struct term_array {
  T* data;
  index kind, block;

  T* of(int kind_of_term) const { return data + kind_of_term * kind; }
};

// The terms of a token behind the end: it adds nothing and does not decay.
template <class Form, class T = typename Form::scalar>
[[gnu::noinline]] void clear_terms(term_array<T> const& to, index rows) {
  for (index i = 0, at = 0; i < rows; i += Form::width, at += to.block)
    for (int kind = 0; kind < term_kinds; ++kind)
      std::fill_n(to.of(kind) + at, Form::width,
                  kind == factor_term || kind == whole_term ? T(1) : T(0));
}

// Computes factor, whole and rest from what lies in the place of the factor: the log of the decay
// or the decay itself. A head with one decay has it in its first block.
template <class Form, bool InLogs, class T = typename Form::scalar>
[[gnu::noinline]] void split_decays(term_array<T> const& x, index rows) {
  using vector = typename Form::vector;
  vector const near(near_one<T>), one(T(1)), zero(T(0));
  for (index i = 0, at = 0; i < rows; i += Form::width, at += x.block) {
    split_decay<vector> w{one, zero};
    if (Form::fading == fading::row || i == 0) {
      auto const decay = vector::load(x.of(factor_term) + at);
      if constexpr (InLogs)
        w = decay_from_log(decay);
      else
        w = {where_below(decay, near, decay, one), where_below(decay, near, zero, decay - one)};
    } else {
      w = {vector::load(x.of(whole_term)), vector::load(x.of(rest_term))};
    }
    factor_of(w).store(x.of(factor_term) + at);
    w.whole.store(x.of(whole_term) + at), w.rest.store(x.of(rest_term) + at);
  }
}

// Products of queries, and of erase_reads, of a later token with keys or erase_writes of one
// before, summed over rows.
template <class Form>
struct pair_sums {
  using T = typename Form::scalar;
  using vector = typename Form::vector;
  static constexpr int width = Form::width, tokens = micro_tokens;
  static constexpr int inclusive = tokens * (tokens + 1) / 2, strict = inclusive - tokens;
  static constexpr int kinds = Form::erasing == erasing::general ? 2 : 1;
  static constexpr int used = inclusive + (Form::erasing == erasing::none ? 0 : strict);
  static constexpr int count = (used + width - 1) / width * width;
  vector sum[kinds][count];

  pair_sums() {
    unroll<kinds>([&](auto kind) WANE_INLINE_LAMBDA {
      unroll<count>([&](auto n) WANE_INLINE_LAMBDA { sum[kind][n] = vector(T(0)); });
    });
  }
  static constexpr int of_query(int t, int s) { return t * (t + 1) / 2 + s; }
  static constexpr int of_read(int t, int s) { return inclusive + t * (t - 1) / 2 + s; }

  // A strictly causal token reads before it writes: its query does not meet its own key.
  WANE_HOST_INLINE void store(bool strictly, token_products<T>& to) const {
    T totals[kinds][count];
    unroll<kinds>([&](auto kind) WANE_INLINE_LAMBDA {
      unroll<count / width>([&](auto part) WANE_INLINE_LAMBDA {
        vector some[width];
        unroll<width>([&](auto n) WANE_INLINE_LAMBDA { some[n] = sum[kind][part * width + n]; });
        sums(some).store(&totals[kind][part * width]);
      });
    });
    for (int t = 0; t < tokens; ++t)
      for (int s = 0; s <= t; ++s) {
        bool const meets = s < t || !strictly;
        to.query_key[t][s] = meets ? totals[0][of_query(t, s)] : T(0);
        if constexpr (kinds == 2) to.query_write[t][s] = meets ? totals[1][of_query(t, s)] : T(0);
        if (Form::erasing == erasing::none || s == t) continue;
        to.read_key[t][s] = totals[0][of_read(t, s)];
        if constexpr (kinds == 2) to.read_write[t][s] = totals[1][of_read(t, s)];
      }
  }
};

// Fills reads, writes, products and decays of a chunk from terms [row / width][kind][token][width].
template <class Form, class T = typename Form::scalar>
[[gnu::noinline]] void take_terms(T const* terms, index rows, bool strictly, T* reads, T* writes,
                                  micro_chunk<T>& chunk) {
  using vector = typename Form::vector;
  constexpr int width = Form::width, tokens = micro_tokens;
  constexpr bool fades = Form::fading != fading::none;
  vector const one(T(1)), zero(T(0));
  pair_sums<Form> sum;
  chunk.reads = reads, chunk.writes = writes;
  for (index i = 0; i < rows; i += width, terms += Form::terms * width) {
    auto const term = [&](int kind, int t) WANE_INLINE_LAMBDA {
      return vector::load(terms + (kind * tokens + t) * width);
    };
    vector query[tokens], erase_read[tokens], factor[tokens];
    split_decay<vector> all{one, zero};
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      query[t] = term(query_term, t);
      if constexpr (Form::erasing != erasing::none) erase_read[t] = term(erase_read_term, t);
      if constexpr (fades) factor[t] = term(factor_term, t);
    });
    if (Form::fading == fading::row || (fades && i == 0)) {
      unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
        vector const whole = term(whole_term, t), rest = term(rest_term, t);
        all = {all.whole * whole, multiply_add(all.whole, rest, all.rest * factor[t])};
      });
      chunk.resets |= !all_below(zero, at_least(all.whole, -all.whole));
      if (Form::fading == fading::head) chunk.whole = all.whole[0], chunk.rest = all.rest[0];
    }
    // Every key, faded from its own token to the last.
    auto const fade = [&](int written, int kind, T* to) WANE_INLINE_LAMBDA {
      unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA {
        vector faded = term(written, s);
        unroll<tokens - s>([&](auto n) WANE_INLINE_LAMBDA {
          constexpr int t = s + n;
          if constexpr (t > s) {
            if constexpr (Form::erasing != erasing::none) {
              auto& product = sum.sum[kind][sum.of_read(t, s)];
              product = multiply_add(erase_read[t], faded, product);
            }
            if constexpr (fades) faded = faded * factor[t];
          }
          auto& product = sum.sum[kind][sum.of_query(t, s)];
          product = multiply_add(query[t], faded, product);
        });
        faded.store(to + s * width);
      });
    };
    fade(key_term, 0, writes);
    if constexpr (Form::erasing == erasing::general)
      fade(erase_write_term, 1, writes + tokens * width);
    vector passed = one;  // P_{t-1}
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      if constexpr (Form::erasing != erasing::none)
        (t == 0 ? erase_read[t] : erase_read[t] * passed).store(reads + (tokens + t) * width);
      if constexpr (fades) passed = t == 0 ? factor[t] : passed * factor[t];
      (fades ? query[t] * passed : query[t]).store(reads + t * width);
    });
    if constexpr (Form::fading == fading::row) {
      all.whole.store(writes + Form::keys * width);
      all.rest.store(writes + (Form::keys + 1) * width);
    }
    reads += Form::reads * width, writes += Form::writes * width;
  }
  sum.store(strictly, chunk.products);
}

}  // namespace wane::impl
