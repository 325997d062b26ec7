// state_products: the pass of an adjoint over the rows of a state and its cotangent.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/micro_chunk.hpp"
#include "wane/core/chunk/row_products.hpp"
#include "wane/core/numbers/simd_lanes.hpp"

namespace wane::impl {

// Per-column terms of the tokens of a chunk, each [tokens][columns]. u and du are read only where
// tokens erase.
template <class T>
struct chunk_columns {
  T const *dy, *v, *du, *u;
};

// The sums over the columns of one row, in this order: S dy_t, G v_t, S du_t and G u_t of every
// token, and S . G. S is the state before the chunk, G the cotangent of the state after it.
template <class Form>
struct product_numbers {
  static constexpr int tokens = Form::tokens;
  static constexpr bool fades = Form::fading != fading::none;
  static constexpr int of_query = 0, of_key = tokens, of_read = 2 * tokens, of_write = 3 * tokens,
                       of_state = tokens * (Form::erasing == erasing::general ? 4
                                            : Form::erasing == erasing::delta ? 3
                                                                              : 2),
                       count = of_state + (fades ? 1 : 0);
};

// Computes those sums for all rows, and the dot products between columns of two tokens.
template <class Form>
struct state_products : product_numbers<Form> {
  using numbers = product_numbers<Form>;
  using T = typename Form::scalar;
  using vector = typename Form::vector;
  static constexpr int width = Form::width, tokens = Form::tokens;
  static constexpr int of_key = numbers::of_key, of_state = numbers::of_state,
                       count = numbers::count;
  static constexpr bool fades = numbers::fades;
  static constexpr bool erases = Form::erasing != erasing::none;
  static constexpr bool writes_erased = Form::erasing == erasing::general;

  // The length of the array `packed` of take(), for `columns` columns.
  static index packed_size(index columns) { return of_state * columns; }

  // Fills `products`, [rows / width][count][width], and turns G into the cotangent of the state
  // before the chunk:
  //   G <- P_3 G + sum_t (q_t P_t) dy_t^T + (b_t P_{t-1}) du_t^T
  // Rows of S and G are `row_stride` apart; `columns` is a multiple of width. With every row the
  // next `each` addresses of `soon` are prefetched.
  [[gnu::noinline]] static void take(micro_chunk<T> const& chunk, chunk_columns<T> const& x,
                                     index rows, index columns, index row_stride, T const* s, T* g,
                                     T* packed, T* products, void const* const* soon, int each) {
    pack(x, columns, packed);
    T const *reads = chunk.reads, *writes = chunk.writes;
    vector some[count][width];
    for (index i = 0; i < rows; i += width) {
      int const present = static_cast<int>(at_most(index{width}, rows - i));
      for (int l = 0; l < present; ++l, s += row_stride, g += row_stride) {
        for (int n = 0; n < each; ++n) __builtin_prefetch(*soon++, 0, 2);
        vector whole(chunk.whole), rest(chunk.rest);
        if constexpr (Form::fading == fading::row) {
          whole = vector(writes[l + Form::keys * width]);
          rest = vector(writes[l + (Form::keys + 1) * width]);
        }
        vector sum[count] = {};
        take_row(reads + l, whole, rest, columns, packed, s, g, sum);
        unroll<count>([&](auto n) WANE_INLINE_LAMBDA { some[n][l] = sum[n]; });
      }
      for (int l = present; l < width; ++l)
        for (int n = 0; n < count; ++n) some[n][l] = vector(T(0));
      for (int n = 0; n < count; ++n, products += width) sums(some[n]).store(products);
      reads += Form::reads * width, writes += Form::writes * width;
    }
  }

  // The gradients with respect to the products of two tokens.
  static void multiply(chunk_columns<T> const& x, index columns, token_products<T>& pairs) {
    multiply(x.dy, x.v, columns, pairs.query_key);
    if constexpr (erases) multiply(x.du, x.v, columns, pairs.read_key);
    if constexpr (writes_erased) {
      multiply(x.dy, x.u, columns, pairs.query_write);
      multiply(x.du, x.u, columns, pairs.read_write);
    }
  }

 private:
  // [columns / width][dy, v, du, u of every token][width]
  static void pack(chunk_columns<T> const& x, index columns, T* packed) {
    T const* const kinds[] = {x.dy, x.v, x.du, x.u};
    for (index j = 0; j < columns; j += width)
      for (int n = 0; n < of_state; ++n, packed += width)
        vector::load(kinds[n / tokens] + n % tokens * columns + j).store(packed);
  }

  // Adds to the sums, which begin as zeros.
  WANE_HOST_INLINE static void take_row(T const* reads, vector whole, vector rest, index columns,
                                        T const* x, T const* s, T* g, vector (&sum)[count]) {
    constexpr int readers = erases ? 2 * tokens : tokens;
    vector read[readers];
    unroll<readers>([&](auto n) WANE_INLINE_LAMBDA { read[n] = vector(reads[n * width]); });
    for (index j = 0; j < columns; j += width, x += of_state * width) {
      vector const state = vector::load(s + j), cotangent = vector::load(g + j);
      vector next = cotangent;
      if constexpr (fades) {
        next = multiply_add(whole, cotangent, rest * cotangent);
        sum[of_state] = multiply_add(state, cotangent, sum[of_state]);
      }
      unroll<of_state>([&](auto n) WANE_INLINE_LAMBDA {
        vector const column = vector::load(x + n * width);
        constexpr bool of_writer = n / tokens % 2 == 1;  // v or u
        sum[n] = multiply_add(of_writer ? cotangent : state, column, sum[n]);
        if constexpr (!of_writer)
          next = multiply_add(read[n < of_key ? n : n - tokens], column, next);
      });
      next.store(g + j);
    }
  }

  // to[t][s] = the sum over columns of a of token t times b of token s.
  [[gnu::noinline]] static void multiply(T const* a, T const* b, index columns,
                                         T (&to)[tokens][tokens]) {
    row_products<tokens, tokens>(a, columns, b, columns, columns, &to[0][0]);
  }
};

}  // namespace wane::impl
