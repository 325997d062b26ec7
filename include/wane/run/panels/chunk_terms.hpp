// make_chunk: a micro-chunk from the terms of its tokens. Compiled once for each form of panel.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/chunk/micro_chunk.hpp"
#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

// The terms of one token in arrays, and the two parts of its decays (split_decay): [row / width]
// [kind] and [row / width][part], vectors of rows that are `step` apart.
template <class T>
struct term_array {
  T *terms, *parts;
  index step;

  T* of(int kind) const { return terms + kind * step; }
  T* part(int which) const { return parts + which * step; }
  void next_rows() { terms += term_kinds * step, parts += 2 * step; }
};
template <term_kind kind>
using term_constant = std::integral_constant<int, kind>;

// The rows whose decays an array holds.
template <class Form>
constexpr index rows_with_decays(index rows) {
  return Form::fading == fading::row ? rows : Form::fading == fading::head ? 1 : 0;
}

// The terms of a token behind the end: it adds nothing and does not decay.
template <class Form, class T = typename Form::scalar>
[[gnu::noinline]] void clear_terms(term_array<T> to, index rows) {
  for (index i = 0; i < rows; i += Form::width, to.next_rows()) {
    for (int kind = 0; kind < term_kinds; ++kind) std::fill_n(to.of(kind), Form::width, T(0));
    if (i >= rows_with_decays<Form>(rows)) continue;
    std::fill_n(to.of(decay_term), Form::width, T(1));
    std::fill_n(to.part(0), Form::width, T(1));
    std::fill_n(to.part(1), Form::width, T(0));
  }
}

template <class V>
WANE_HOST_INLINE split_decay<V> split(plain_decay<V> w) {
  using T = typename V::scalar;
  V const near(near_one<T>), one(T(1)), zero(T(0));
  return {where_below(w.factor, near, w.factor, one),
          where_below(w.factor, near, zero, w.factor - one)};
}

// The terms of the tokens of a chunk, which lie `width` apart in arrays.
template <class Form>
struct terms_in_arrays {
  using vector = typename Form::vector;
  term_array<typename Form::scalar> first;

  WANE_HOST_INLINE vector term(auto kind, auto t, index i) const {
    return vector::load(first.of(kind) + at(i, term_kinds, t));
  }
  WANE_HOST_INLINE split_decay<vector> decay(auto t, index i) const {
    index const part = at(i, 2, t);
    return {vector::load(first.part(0) + part), vector::load(first.part(1) + part)};
  }

 private:
  WANE_HOST_INLINE index at(index i, int kinds, int t) const {
    return i / Form::width * kinds * first.step + t * Form::width;
  }
};

// Products of queries, and of erase_reads, of token t with keys or erase_writes of token s, summed
// over rows. s is t or less for queries, and less than t for erase_reads.
template <class Form, reading Reading>
struct pair_sums {
  using T = typename Form::scalar;
  using vector = typename Form::vector;
  static constexpr int width = Form::width, tokens = micro_tokens;
  // The least number of tokens between a query and the keys that it meets. A token that reads
  // before it writes does not meet its own key; their product is 0.
  static constexpr int reads_earlier = Reading == reading::written ? 0 : 1;
  static constexpr int inclusive = tokens * (tokens + 1) / 2, strict = inclusive - tokens;
  static constexpr int kinds = Form::erasing == erasing::general ? 2 : 1;
  static constexpr int used = inclusive + (Form::erasing == erasing::none ? 0 : strict);
  static constexpr int count = (used + width - 1) / width * width;
  vector sum[kinds][count] = {};

  static constexpr int of_query(int t, int s) { return t * (t + 1) / 2 + s; }
  static constexpr int of_read(int t, int s) { return inclusive + t * (t - 1) / 2 + s; }

  WANE_HOST_INLINE void store(token_products<T>& to) const {
    T totals[kinds][count];
    unroll<kinds>([&](auto kind) WANE_INLINE_LAMBDA {
      unroll<count / width>([&](auto part) WANE_INLINE_LAMBDA {
        sums(&sum[kind][part * width]).store(&totals[kind][part * width]);
      });
    });
    for (int t = 0; t < tokens; ++t)
      for (int s = 0; s <= t - reads_earlier; ++s) {
        to.query_key[t][s] = totals[0][of_query(t, s)];
        if constexpr (kinds == 2) to.query_write[t][s] = totals[1][of_query(t, s)];
        if (Form::erasing == erasing::none || s == t) continue;
        to.read_key[t][s] = totals[0][of_read(t, s)];
        if constexpr (kinds == 2) to.read_write[t][s] = totals[1][of_read(t, s)];
      }
  }
};

// Fills reads, writes, products and decays of a chunk. x.term(kind, t, i) and x.decay(t, i) are
// vectors of the rows of token t from i on. If `terms` is given, it receives the
// terms as they are, not faded: [row / width][kind][token][width]. x is a copy that no store can
// change.
template <class Form, reading Reading, class Source, class T = typename Form::scalar>
[[gnu::noinline]] void make_chunk(Source const x, index rows, T* reads, T* writes, T* terms,
                                  micro_chunk<T>& chunk) {
  using vector = typename Form::vector;
  constexpr int width = Form::width, tokens = micro_tokens;
  constexpr bool fades = Form::fading != fading::none, erases = Form::erasing != erasing::none;
  constexpr bool general = Form::erasing == erasing::general, reads_old = Reading == reading::old;
  vector const one(T(1)), zero(T(0));
  using pair_sums = impl::pair_sums<Form, Reading>;
  pair_sums sum;
  split_decay<vector> all{one, zero};
  vector factor[tokens];
  auto const take_decays = [&](index first) WANE_INLINE_LAMBDA {
    all = {one, zero};
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      split_decay<vector> const w = x.decay(t, first);
      factor[t] = factor_of(w);
      all = {all.whole * w.whole, multiply_add(all.whole, w.rest, all.rest * factor[t])};
    });
    chunk.resets |= !all_below(zero, at_least(all.whole, -all.whole));
  };
  if constexpr (Form::fading == fading::head) {
    take_decays(0);
    chunk.whole = all.whole[0], chunk.rest = all.rest[0];
  }
  chunk.reads = reads, chunk.writes = writes;
  for (index i = 0; i < rows; i += width) {
    if constexpr (Form::fading == fading::row) take_decays(i);
    vector key[tokens], query[tokens], erase_read[tokens], erase_write[tokens];
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      auto const term = [&](auto kind) WANE_INLINE_LAMBDA { return x.term(kind, t, i); };
      key[t] = term(term_constant<key_term>{}), query[t] = term(term_constant<query_term>{});
      if constexpr (erases) erase_read[t] = term(term_constant<erase_read_term>{});
      if constexpr (general) erase_write[t] = term(term_constant<erase_write_term>{});
    });
    if (terms) {
      unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
        auto const store = [&](int kind, vector v)
                               WANE_INLINE_LAMBDA { v.store(terms + (kind * tokens + t) * width); };
        store(key_term, key[t]), store(query_term, query[t]);
        if constexpr (erases) store(erase_read_term, erase_read[t]);
        if constexpr (general) store(erase_write_term, erase_write[t]);
        if constexpr (fades) store(decay_term, factor[t]);
      });
      terms += Form::terms * width;
    }
    // Every key, faded from its own token to the last.
    auto const fade = [&](vector const(&written)[tokens], int kind, T* to) WANE_INLINE_LAMBDA {
      unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA {
        vector faded = written[s];
        unroll<tokens - s>([&](auto n) WANE_INLINE_LAMBDA {
          constexpr int t = s + n;
          auto const answer = [&]() WANE_INLINE_LAMBDA {
            auto& product = sum.sum[kind][pair_sums::of_query(t, s)];
            product = multiply_add(query[t], faded, product);
          };
          if constexpr (t > s) {
            if constexpr (erases) {
              auto& product = sum.sum[kind][pair_sums::of_read(t, s)];
              product = multiply_add(erase_read[t], faded, product);
            }
            if constexpr (reads_old) answer();
            if constexpr (fades) faded = faded * factor[t];
          }
          if constexpr (!reads_old && t >= s + pair_sums::reads_earlier) answer();
        });
        faded.store(to + s * width);
      });
    };
    fade(key, 0, writes);
    if constexpr (general) fade(erase_write, 1, writes + tokens * width);
    vector passed = one;  // P_{t-1}
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      if constexpr (erases)
        (t == 0 ? erase_read[t] : erase_read[t] * passed).store(reads + (tokens + t) * width);
      auto const put_query = [&]() WANE_INLINE_LAMBDA {
        (fades ? query[t] * passed : query[t]).store(reads + t * width);
      };
      if constexpr (reads_old) put_query();
      if constexpr (fades) passed = t == 0 ? factor[t] : passed * factor[t];
      if constexpr (!reads_old) put_query();
    });
    if constexpr (Form::fading == fading::row) {
      all.whole.store(writes + Form::keys * width);
      all.rest.store(writes + (Form::keys + 1) * width);
    }
    reads += Form::reads * width, writes += Form::writes * width;
  }
  sum.store(chunk.products);
}

}  // namespace wane::impl
