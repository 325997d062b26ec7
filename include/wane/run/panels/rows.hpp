// panel_rows: how panels read the rows of a state for a micro-chunk, and write them.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/micro_chunk.hpp"

namespace wane::impl {

// R vectors of columns of a state, whose rows are `row_stride` apart.
template <class Form, int R>
struct panel_rows {
  using T = typename Form::scalar;
  using vector = typename Form::vector;
  static constexpr int width = Form::width, tokens = micro_tokens;

  micro_chunk<T> const& chunk;
  index rows, row_stride;
  // Cache lines to prefetch: `each` of them with every vector of rows.
  void const* const* soon = nullptr;
  int each = 0;

  // to[n] += the sum over rows of term n of the row times the row. `terms` is [row / width][block],
  // and a block begins with [N][width].
  template <int N>
  WANE_HOST_INLINE void read(T const* state, T const* terms, index block, vector (&to)[N][R]) {
    for_rows(terms, block, [&](T const* term, index at) WANE_INLINE_LAMBDA {
      vector s[R];
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { s[r] = vector::load(state + at + r * width); });
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
        vector const factor(term[n * width]);
        unroll<R>([&](auto r)
                      WANE_INLINE_LAMBDA { to[n][r] = multiply_add(factor, s[r], to[n][r]); });
      });
    });
  }

  // Computes the state after the chunk from the state before it. Keys write v, erase_writes write
  // u.
  template <int Writers>
  WANE_HOST_INLINE void write(T const* before, T* after, vector const (&u)[Writers][R],
                              vector const (&v)[Writers][R]) {
    vector whole(chunk.whole), rest(chunk.rest);
    for_rows(chunk.writes, Form::writes * width, [&](T const* term, index at) WANE_INLINE_LAMBDA {
      if constexpr (Form::fading == fading::row) {
        whole = vector(term[Form::keys * width]);
        rest = vector(term[(Form::keys + 1) * width]);
      }
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        vector const s = vector::load(before + at + r * width);
        vector sum = s;
        unroll<Writers>([&](auto t) WANE_INLINE_LAMBDA {
          vector const key(term[t * width]);
          if constexpr (t == 0 && Form::fading != fading::none)
            sum = key * v[t][r];
          else
            sum = multiply_add(key, v[t][r], sum);
          if constexpr (Form::erasing == erasing::general)
            sum = multiply_add(vector(term[(tokens + t) * width]), u[t][r], sum);
        });
        if constexpr (Form::fading != fading::none)
          sum = multiply_add(whole, s, multiply_add(rest, s, sum));
        sum.store(after + at + r * width);
      });
    });
  }

  // Before the call, u[t] is the product of erase_read t with the state, and v[t] is a value. The
  // writes of the tokens before t are added to u[t]. Under the delta rule, v[t] becomes v[t] -
  // u[t].
  template <int t, int Writers>
  WANE_HOST_INLINE void erase(vector (&u)[Writers][R], vector (&v)[Writers][R]) const {
    unroll<t>([&](auto s) WANE_INLINE_LAMBDA {
      add(chunk.products.read_key[t][s], v[s], u[t]);
      if constexpr (Form::erasing == erasing::general)
        add(chunk.products.read_write[t][s], u[s], u[t]);
    });
    if constexpr (Form::erasing == erasing::delta)
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { v[t][r] = v[t][r] - u[t][r]; });
    if (t >= chunk.count)  // behind the last token, where u[t] may be NaN
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { u[t][r] = v[t][r] = vector(T(0)); });
  }

  // to += factor x
  WANE_HOST_INLINE static void add(T factor, vector const (&x)[R], vector (&to)[R]) {
    unroll<R>([&](auto r)
                  WANE_INLINE_LAMBDA { to[r] = multiply_add(vector(factor), x[r], to[r]); });
  }

 private:
  // Calls body(terms of a row, offset of the row in the state) for every row.
  template <class Body>
  WANE_HOST_INLINE void for_rows(T const* terms, index block, Body const& body) {
    index at = 0;
    for (index i = 0; i < rows; i += width, terms += block) {
      for (int n = 0; n < each; ++n) __builtin_prefetch(*soon++, 0, 2);
      int const count = static_cast<int>(at_most(index{width}, rows - i));
      for (int l = 0; l < count; ++l, at += row_stride) body(terms + l, at);
    }
  }
};

}  // namespace wane::impl
