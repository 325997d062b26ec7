// A panel: some columns of a head's state, which take a micro-chunk at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/micro_chunk.hpp"

namespace wane {

// R vectors of columns. `state` has rows `row_stride` apart; `value` and `output` have tokens
// `token_stride` apart and no gaps between columns.
template <class Form, int R>
struct panel {
  using T = typename Form::scalar;
  using vector = typename Form::vector;
  static constexpr int width = Form::width, tokens = micro_tokens;

  micro_chunk<T> const& chunk;
  index rows;
  T* state;
  index row_stride;
  T const* value;
  T* output;
  index token_stride;
  // Lines of memory wanted soon: `each` of them are asked for with every vector of rows.
  void const* const* soon;
  int each;

  WANE_HOST_INLINE void take() {
    vector y[tokens][R], u[tokens][R], v[tokens][R];
    read(y, u);
    solve(y, u, v);
    write(u, v);
  }

 private:
  // body(offset of a row's terms in reads, in writes, its numbers of the state)
  template <class Body>
  WANE_HOST_INLINE void for_rows(Body const& body) {
    T const *reads = chunk.reads, *writes = chunk.writes;
    T* s = state;
    for (index i = 0; i < rows; i += width) {
      for (int n = 0; n < each; ++n) __builtin_prefetch(*soon++, 0, 2);
      int const count = static_cast<int>(at_most(index{width}, rows - i));
      for (int r = 0; r < count; ++r, s += row_stride) body(reads + r, writes + r, s);
      reads += Form::reads * width, writes += Form::writes * width;
    }
  }

  WANE_HOST_INLINE void read(vector (&y)[tokens][R], vector (&u)[tokens][R]) {
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { y[t][r] = u[t][r] = vector(T(0)); });
    });
    for_rows([&](T const* terms, T const*, T const* row) WANE_INLINE_LAMBDA {
      vector s[R];
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { s[r] = vector::load(row + r * width); });
      unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
        vector const query(terms[t * width]);
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA { y[t][r] = multiply_add(query, s[r], y[t][r]); });
      });
      if constexpr (Form::erasing != erasing::none)
        unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
          vector const erase(terms[(tokens + t) * width]);
          unroll<R>([&](auto r)
                        WANE_INLINE_LAMBDA { u[t][r] = multiply_add(erase, s[r], u[t][r]); });
        });
    });
  }

  // What tokens of the chunk tell each other; leaves in v what keys write, in u what is erased.
  WANE_HOST_INLINE void solve(vector (&y)[tokens][R], vector (&u)[tokens][R],
                              vector (&v)[tokens][R]) const {
    auto const& products = chunk.products;
    auto const add = [](T factor, vector const(&x)[R], vector(&to)[R]) WANE_INLINE_LAMBDA {
      unroll<R>([&](auto r)
                    WANE_INLINE_LAMBDA { to[r] = multiply_add(vector(factor), x[r], to[r]); });
    };
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        v[t][r] = vector::load(value + t * token_stride + r * width);
      });
      if (chunk.has_direct) add(chunk.direct[t], v[t], y[t]);
      if constexpr (Form::erasing != erasing::none)
        unroll<t>([&](auto s) WANE_INLINE_LAMBDA {
          add(products.read_key[t][s], v[s], u[t]);
          if constexpr (Form::erasing == erasing::general)
            add(products.read_write[t][s], u[s], u[t]);
        });
      if constexpr (Form::erasing == erasing::delta)
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA { v[t][r] = v[t][r] - u[t][r]; });
      unroll<t + 1>([&](auto s) WANE_INLINE_LAMBDA {
        add(products.query_key[t][s], v[s], y[t]);
        if constexpr (Form::erasing == erasing::general)
          add(products.query_write[t][s], u[s], y[t]);
      });
      unroll<R>([&](auto r)
                    WANE_INLINE_LAMBDA { y[t][r].store(output + t * token_stride + r * width); });
    });
  }

  WANE_HOST_INLINE void write(vector const (&u)[tokens][R], vector const (&v)[tokens][R]) {
    vector whole(chunk.whole), rest(chunk.rest);
    for_rows([&](T const*, T const* terms, T* row) WANE_INLINE_LAMBDA {
      if constexpr (Form::fading == fading::row) {
        whole = vector(terms[Form::keys * width]);
        rest = vector(terms[(Form::keys + 1) * width]);
      }
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        vector const s = vector::load(row + r * width);
        vector sum = s;
        unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
          vector const key(terms[t * width]);
          if constexpr (t == 0 && Form::fading != fading::none)
            sum = key * v[t][r];
          else
            sum = multiply_add(key, v[t][r], sum);
          if constexpr (Form::erasing == erasing::general)
            sum = multiply_add(vector(terms[(tokens + t) * width]), u[t][r], sum);
        });
        if constexpr (Form::fading != fading::none)
          sum = multiply_add(whole, s, multiply_add(rest, s, sum));
        sum.store(row + r * width);
      });
    });
  }
};

}  // namespace wane
