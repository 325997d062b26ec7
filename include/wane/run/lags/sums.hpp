// lag_sums: products of states and tokens, from which the gradients of a head's terms follow.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/run/lags/chunk.hpp"
#include "wane/run/shared/gradients.hpp"

namespace wane::impl {

// Numbers of several chunks: rows of columns, padded with zeros to whole vectors.
template <class T>
struct chunk_rows {
  T const* first;
  index row_stride, chunk_stride;

  chunk_rows from(index row) const { return {first + row * row_stride, row_stride, chunk_stride}; }
};

// Calls body(row of a, row of b) for vectors of the columns of `chunks` chunks; row(i) is that of
// row i.
template <class T, class Body>
WANE_HOST_INLINE void for_chunk_columns(chunk_rows<T> a, chunk_rows<T> b, index chunks,
                                        index columns, Body const& body) {
  using vector = simd<T, simd_width<T>>;
  for (; chunks > 0; --chunks, a.first += a.chunk_stride, b.first += b.chunk_stride)
    for (index j = 0; j < columns; j += vector::width)
      body([&](index i) WANE_INLINE_LAMBDA { return vector::load(a.first + i * a.row_stride + j); },
           [&](index i)
               WANE_INLINE_LAMBDA { return vector::load(b.first + i * b.row_stride + j); });
}

// The functions below add products, summed over `chunks` chunks, to vectors whose lanes are sums
// over every width-th column.

// to[m N + n] += a_m . b_n, for M rows a and N rows b
template <int M, int N, class T, class vector = simd<T, simd_width<T>>>
[[gnu::noinline]] void add_row_products(chunk_rows<T> a, chunk_rows<T> b, index chunks,
                                        index columns, vector* to) {
  vector sum[M * N];
  unroll<M * N>([&](auto i) WANE_INLINE_LAMBDA { sum[i] = to[i]; });
  for_chunk_columns(a, b, chunks, columns, [&](auto of_a, auto of_b) WANE_INLINE_LAMBDA {
    vector own[M];
    unroll<M>([&](auto m) WANE_INLINE_LAMBDA { own[m] = of_a(m); });
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
      vector const row = of_b(n);
      unroll<M>([&](auto m) WANE_INLINE_LAMBDA {
        sum[m * N + n] = multiply_add(own[m], row, sum[m * N + n]);
      });
    });
  });
  unroll<M * N>([&](auto i) WANE_INLINE_LAMBDA { to[i] = sum[i]; });
}

// to[m] += a_m . b_m
template <int M, class T, class vector = simd<T, simd_width<T>>>
[[gnu::noinline]] void add_products(chunk_rows<T> a, chunk_rows<T> b, index chunks, index columns,
                                    vector* to) {
  vector sum[M];
  unroll<M>([&](auto i) WANE_INLINE_LAMBDA { sum[i] = to[i]; });
  for_chunk_columns(a, b, chunks, columns, [&](auto of_a, auto of_b) WANE_INLINE_LAMBDA {
    unroll<M>([&](auto m) WANE_INLINE_LAMBDA { sum[m] = multiply_add(of_a(m), of_b(m), sum[m]); });
  });
  unroll<M>([&](auto i) WANE_INLINE_LAMBDA { to[i] = sum[i]; });
}

// to[n] += sum_t a_{t+n} . b_t, for tokens t and t + n of the same chunk of N
template <int N, class T, class vector = simd<T, simd_width<T>>>
[[gnu::noinline]] void add_lag_products(chunk_rows<T> a, chunk_rows<T> b, index chunks,
                                        index columns, vector* to) {
  constexpr auto pair = [](int u, int t) { return u * (u + 1) / 2 + t; };
  vector sum[pair(N, 0)] = {};
  for_chunk_columns(a, b, chunks, columns, [&](auto of_a, auto of_b) WANE_INLINE_LAMBDA {
    vector own[N];
    unroll<N>([&](auto t) WANE_INLINE_LAMBDA { own[t] = of_b(t); });
    unroll<N>([&](auto u) WANE_INLINE_LAMBDA {
      vector const row = of_a(u);
      unroll<u + 1>([&](auto t) WANE_INLINE_LAMBDA {
        sum[pair(u, t)] = multiply_add(row, own[t], sum[pair(u, t)]);
      });
    });
  });
  unroll<N>([&](auto u) WANE_INLINE_LAMBDA {
    unroll<u + 1>([&](auto t) WANE_INLINE_LAMBDA { to[u - t] += sum[pair(u, t)]; });
  });
}

// A chunk has tokens 0..N-1, the state M before them and the cotangent C = dL/dM after them. With
// l_s the factor of row s, h_t the state after token t and g_t its cotangent, which contains that
// of y_t, rows are
//   h_t = l^{t+1} M + k sum_{i<=t} l^{t-i} v_i,   g_t = l^{N-1-t} C + q sum_{u>=t} l^{u-t} dL/dy_u
// The gradients sum_t g_t . v_t of keys, sum_t dL/dy_t . h_t of queries and
// sum_t g_t . (h_t - k v_t) of log decays are therefore sums of the products below, with weights
// that are the same for all chunks of a head.
template <int N>
struct lag_products {
  index rows;

  index count() const { return (2 * N + 1) * rows + N; }
  // C_s . v_i
  index value(index s, index i) const { return s * N + i; }
  // M_s . dL/dy_t
  index output_gradient(index s, index t) const { return (rows + s) * N + t; }
  // C_s . M_s
  index state(index s) const { return 2 * N * rows + s; }
  // sum_t dL/dy_{t+n} . v_t
  index lag(index n) const { return (2 * N + 1) * rows + n; }
};

// Products summed over some chunks, in vectors.
template <class T, int N>
class lag_sums {
 public:
  using vector = simd<T, simd_width<T>>;

  explicit lag_sums(index rows) : at_{rows}, sums_(padded(), vector(T(0))) {}

  // Adds chunks: their states M, their cotangents C, their values and output gradients.
  void add(chunk_rows<T> const& states, chunk_rows<T> const& cotangents,
           chunk_rows<T> const& values, chunk_rows<T> const& output_gradients, index chunks,
           index columns) {
    auto const take = [&](index s, auto m) {
      add_row_products<m, N>(cotangents.from(s), values, chunks, columns, sum(at_.value(s, 0)));
      add_row_products<m, N>(states.from(s), output_gradients, chunks, columns,
                             sum(at_.output_gradient(s, 0)));
      add_products<m>(cotangents.from(s), states.from(s), chunks, columns, sum(at_.state(s)));
    };
    constexpr int together = simd_bytes == 64 ? 4 : 2;  // their sums fill the registers
    index s = 0;
    for (; s + together <= at_.rows; s += together)
      take(s, std::integral_constant<int, together>{});
    for (; s < at_.rows; ++s) take(s, std::integral_constant<int, 1>{});
    add_lag_products<N>(output_gradients, values, chunks, columns, sum(at_.lag(0)));
  }

  // Adds the sums of all lanes to the numbers at `to`, and clears the sums.
  template <class A>
  void move_to(A* to) {
    for (index i = 0; i < at_.count(); i += vector::width) {
      T totals[vector::width];
      impl::sums(sum(i)).store(totals);
      for (index l = 0; l < std::min<index>(vector::width, at_.count() - i); ++l)
        to[i + l] += A(totals[l]);
    }
    std::fill(sums_.begin(), sums_.end(), vector(T(0)));
  }

 private:
  std::size_t padded() const {
    return static_cast<std::size_t>((at_.count() + vector::width - 1) / vector::width *
                                    vector::width);
  }
  vector* sum(index i) { return sums_.data() + i; }

  lag_products<N> at_;
  std::vector<vector> sums_;
};

// Adds the gradients of the head whose tokens are `x`, from the products of all its chunks.
template <int N, class Token, class A>
void add_gradients(Token const& x, A const* products, head_gradients<A>& to) {
  lag_products<N> const at{static_cast<index>(to.rows.size())};
  for (index s = 0; s < at.rows; ++s) {
    A key(1), query(1), of_key(0), of_query(0), of_pairs(0), lags(0);
    if constexpr (has_key<Token>) key = A(x.key(s));
    if constexpr (has_query<Token>) query = A(x.query(s));
    A const factor = std::exp(A(x.log_decay(s)));
    A decay(0), faded(1);  // faded: factor^n
    for (int n = 0; n < N; ++n) {
      A const early = faded * products[at.value(s, N - 1 - n)];
      A const late = factor * faded * products[at.output_gradient(s, n)];
      A const pair = faded * products[at.lag(n)];
      of_key += early, of_query += late, of_pairs += pair, lags += n * pair;
      decay += key * (n * early) + query * ((n + 1) * late);
      faded *= factor;
    }
    decay += N * faded * products[at.state(s)];
    decay += key * query * lags;
    auto& row = to.rows[static_cast<std::size_t>(s)];
    row.decay += decay, to.whole.decay += decay;
    if constexpr (has_key<Token>) row.key += of_key + query * of_pairs;
    if constexpr (has_query<Token>) row.query += of_query + key * of_pairs;
  }
  if constexpr (has_direct<Token>) to.whole.direct += products[at.lag(0)];
}

// The products of all walks, summed over chunks for each group of columns. Groups do not depend on
// the number of threads, and so neither do sums over groups.
template <class T>
struct head_products {
  using wide = wider<T>;
  static constexpr index group_columns = 64;

  lag_products<lag_tokens> many;
  lag_products<1> one;
  index groups;
  std::vector<wide> numbers;

  head_products(recurrence_shape const& shape, index walks)
      : many{shape.rows},
        one{shape.rows},
        groups((shape.columns + group_columns - 1) / group_columns),
        numbers(static_cast<std::size_t>(walks * groups * size())) {}

  index size() const { return many.count() + one.count(); }
  wide* of(index walk, index group) { return numbers.data() + (walk * groups + group) * size(); }

  // The gradients of head h, whose tokens are `x`. The walks of a head are `heads` apart.
  template <class Token>
  head_gradients<wide> gradients(Token const& x, index h, index heads) const {
    std::vector<wide> total(static_cast<std::size_t>(size()));
    index const count = groups * size();
    for (index begin = h * count; begin < std::ssize(numbers); begin += heads * count)
      for (index i = 0; i < count; ++i)
        total[static_cast<std::size_t>(i % size())] += numbers[static_cast<std::size_t>(begin + i)];
    head_gradients<wide> to(many.rows);
    add_gradients<lag_tokens>(x, total.data(), to);
    add_gradients<1>(x, total.data() + many.count(), to);
    return to;
  }
};

}  // namespace wane::impl
