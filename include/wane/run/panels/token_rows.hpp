// What one token does to rows of a state: erases, decays, writes, and reads its outputs.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/panels/chunk_terms.hpp"

namespace wane::impl {

// Whether no lane is 0. A decay of 0 resets its row, a read of 0 reads nothing of it.
template <class V>
WANE_HOST_INLINE bool none_is_zero(V x) {
  return all_below(V(typename V::scalar(0)), at_least(x, -x));
}

// What a token reads and writes in R vectors of columns.
template <class Form, int R>
struct token_columns {
  typename Form::vector value[R], erased[R], y[R];
};

// Rows of a state, `stride` apart, and the terms of a token for them. Functions take it by
// reference: the copy of a call would wait for the stores of its fields (docs/design.md).
template <class T>
struct token_rows_of_state {
  term_array<T> terms;
  index count;
  T* state;
  index stride;
};

// Adds what a token reads from some rows, to erase it. Compiled once for each form, like
// write_token.
template <class Form, int R, class T = typename Form::scalar>
[[gnu::noinline]] void erase_token(token_rows_of_state<T> const& all,
                                   token_columns<Form, R>& columns) {
  token_rows_of_state<T> rows = all;
  using vector = typename Form::vector;
  constexpr int width = Form::width;
  vector sum[2][R];  // of even and odd rows: sums that do not wait for each other
  unroll<R>([&](auto r)
                WANE_INLINE_LAMBDA { sum[0][r] = columns.erased[r], sum[1][r] = vector(T(0)); });
  for (; rows.count > 0; rows.count -= width, rows.terms.next_rows()) {
    T const* const read = rows.terms.of(erase_read_term);
    auto const add = [&](int i, vector(&to)[R]) WANE_INLINE_LAMBDA {
      vector const factor(read[i]);
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        to[r] = multiply_add(factor, vector::load(rows.state + r * width), to[r]);
      });
      rows.state += rows.stride;
    };
    if (rows.count >= width && none_is_zero(vector::load(read))) {
      for (int i = 0; i < width; i += 2) add(i, sum[0]), add(i + 1, sum[1]);
    } else {
      // A row that is not read may hold NaN.
      for (int i = 0; i < at_most(index{width}, rows.count); ++i)
        if (read[i] != T(0))
          add(i, sum[0]);
        else
          rows.state += rows.stride;
    }
  }
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA { columns.erased[r] = sum[0][r] + sum[1][r]; });
}

// The decay of all rows of a head, which stands at its first rows; 1 where rows have their own.
template <class Form, class T = typename Form::scalar>
WANE_HOST_INLINE split_decay<typename Form::vector> decay_of_head(term_array<T> const& terms) {
  using vector = typename Form::vector;
  if constexpr (Form::fading == fading::head)
    return {vector::load(terms.part(0)), vector::load(terms.part(1))};
  return {vector(T(1)), vector(T(0))};
}

// w before + add, where a decay of 0 resets the row if `may_reset`.
template <class Form, class V>
WANE_HOST_INLINE V carried_row(split_decay<V> const& w, V before, V add, auto may_reset) {
  if constexpr (Form::fading == fading::none)
    return before + add;
  else if constexpr (may_reset)
    return carried(w, before, add);
  else
    return carried_without_reset(w, before, add);
}

// Takes some rows of the state to after the token, and adds what its query reads from them.
template <class Form, reading Reading, int R, class T = typename Form::scalar>
[[gnu::noinline]] void write_token(token_rows_of_state<T> const& all,
                                   token_columns<Form, R>& columns) {
  token_rows_of_state<T> rows = all;
  using vector = typename Form::vector;
  constexpr int width = Form::width;
  constexpr bool general = Form::erasing == erasing::general;
  token_columns<Form, R> own = columns;
  auto w = decay_of_head<Form>(rows.terms);
  bool resets = Form::fading == fading::head && !none_is_zero(factor_of(w));
  for (; rows.count > 0; rows.count -= width, rows.terms.next_rows()) {
    if constexpr (Form::fading == fading::row)
      resets = !none_is_zero(vector::load(rows.terms.of(decay_term)));
    auto const take = [&](auto may_reset) WANE_INLINE_LAMBDA {
      for (int i = 0; i < at_most(index{width}, rows.count); ++i, rows.state += rows.stride) {
        // Terms are read before a store to the state, which could change what lies in memory.
        auto const term = [&](int kind)
                              WANE_INLINE_LAMBDA { return vector(rows.terms.of(kind)[i]); };
        vector const key = term(key_term), query = term(query_term);
        vector const write = general ? term(erase_write_term) : key;
        if constexpr (Form::fading == fading::row)
          w = {vector(rows.terms.part(0)[i]), vector(rows.terms.part(1)[i])};
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          vector b = key * own.value[r];
          if constexpr (general) b = multiply_add(write, own.erased[r], b);
          vector const before = vector::load(rows.state + r * width);
          auto const carry = [&](vector add) WANE_INLINE_LAMBDA {
            return carried_row<Form>(w, before, add, may_reset);
          };
          vector const next = carry(b);
          next.store(rows.state + r * width);
          vector read = next;
          if constexpr (Reading == reading::faded) read = carry(vector(T(0)));
          if constexpr (Reading == reading::old) read = before;
          own.y[r] = multiply_add(query, read, own.y[r]);
        });
      }
    };
    if (resets)
      take(std::true_type{});
    else
      take(std::false_type{});
  }
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA { columns.y[r] = own.y[r]; });
}

// Neighbouring columns: `first` before an aligned one, whole vectors, and `last` behind them.
struct many_columns {
  int first, last;
  index vectors;
};

// The same in many columns, for a token that does not erase. N rows at a time pass through all
// columns: the state is read in order, and rows that lie a multiple of half a page apart do not
// wait for each other's stores. value_and_y holds a vector of values for the first columns, their
// outputs so far, the values of the next vector, and so on.
template <class Form, reading Reading, class T = typename Form::scalar>
[[gnu::noinline]] void write_rows(token_rows_of_state<T> const& all, many_columns const& columns,
                                  T* value_and_y) {
  token_rows_of_state<T> rows = all;
  using vector = typename Form::vector;
  constexpr int width = Form::width, together = width < 4 ? width : 4;
  auto const of_head = decay_of_head<Form>(rows.terms);
  auto const take = [&](auto count, int i, auto may_reset) WANE_INLINE_LAMBDA {
    constexpr int N = decltype(count)::value;
    vector key[N], query[N];
    split_decay<vector> w[N];
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
      key[n] = vector(rows.terms.of(key_term)[i + n]);
      query[n] = vector(rows.terms.of(query_term)[i + n]);
      if constexpr (Form::fading == fading::row)
        w[n] = {vector(rows.terms.part(0)[i + n]), vector(rows.terms.part(1)[i + n])};
      else
        w[n] = of_head;
    });
    T* const state = rows.state;
    index const stride = rows.stride;
    auto const take_columns = [&](index j, T* y, auto const& load,
                                  auto const& store) WANE_INLINE_LAMBDA {
      vector const v = vector::load(y - width);
      vector sum = vector::load(y), before[N];
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA { before[n] = load(state + n * stride + j); });
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
        vector const next = carried_row<Form>(w[n], before[n], key[n] * v, may_reset);
        store(state + n * stride + j, next);
        vector read = next;
        if constexpr (Reading == reading::faded)
          read = carried_row<Form>(w[n], before[n], vector(T(0)), may_reset);
        if constexpr (Reading == reading::old) read = before[n];
        sum = multiply_add(query[n], read, sum);
      });
      sum.store(y);
    };
    auto const take_some = [&](index j, T* y, int some) WANE_INLINE_LAMBDA {
      if (some > 0)
        take_columns(
            j, y, [&](T const* x) WANE_INLINE_LAMBDA { return load_first<T, width>(x, some); },
            [&](T* x, vector z) WANE_INLINE_LAMBDA { store_first(x, some, z); });
    };
    T* y = value_and_y + width;
    take_some(0, y, columns.first);
    index j = columns.first;
    for (index n = 0; n < columns.vectors; ++n, j += width)
      take_columns(
          j, y += 2 * width, [](T const* x) WANE_INLINE_LAMBDA { return vector::load(x); },
          [](T* x, vector z) WANE_INLINE_LAMBDA { z.store(x); });
    take_some(j, y + 2 * width, columns.last);
    rows.state += N * stride;
  };
  bool resets = Form::fading == fading::head && !none_is_zero(factor_of(of_head));
  for (; rows.count > 0; rows.count -= width) {
    if constexpr (Form::fading == fading::row)
      resets = !none_is_zero(vector::load(rows.terms.of(decay_term)));
    auto const take_all = [&](auto may_reset) WANE_INLINE_LAMBDA {
      int const count = static_cast<int>(at_most(index{width}, rows.count));
      int i = 0;
      for (; i + together <= count; i += together)
        take(std::integral_constant<int, together>{}, i, may_reset);
      for (; i < count; ++i) take(std::integral_constant<int, 1>{}, i, may_reset);
    };
    if (resets)
      take_all(std::true_type{});
    else
      take_all(std::false_type{});
    rows.terms.next_rows();
  }
}

}  // namespace wane::impl
