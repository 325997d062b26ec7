// term_gradients: the gradients of the terms of a chunk's tokens, from the products of the chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/chunk/state_products.hpp"
#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

// In row i of the state, every reader r (q_t, b_t, the cotangent after the chunk) is multiplied by
// every writer x before it (k_s, a_s, the state before the chunk) and by the decays w between them:
//   product = r w_{s+1} ... w_t x        (b_t reads before decay t: its product ends with w_{t-1};
//                                         so does that of a query which reads the old state)
// With p the gradient of that product, the reader receives p w_{s+1} ... w_t x, the writer receives
// p w_{s+1} ... w_t r, and each decay w_n receives p times all factors but w_n (p times all factors
// where decays are logs). Nothing is divided, and no gradient of a decay is a difference of sums.
template <class Form, reading Reading, bool InLogs>
class term_gradients {
 public:
  using T = typename Form::scalar;
  using vector = typename Form::vector;
  using of = product_numbers<Form>;
  static constexpr int tokens = Form::tokens;

  // The gradients of one vector of rows. Kinds are numbered in the order given here.
  //   term(kind, t)     reads key, query, erase_read, erase_write, decay of token t
  //   product(n)        reads sum n of product_numbers
  //   pair(kind, t, s)  reads the gradient of query_key, read_key, query_write, read_write
  //   put(kind, t, x)   receives the gradient of decay, key, query, erase_read, erase_write
  template <class Term, class Product, class Pair, class Put>
  WANE_INLINE static void take(Term const& term, Product const& product, Pair const& pair,
                               Put const& put) {
    term_gradients rows;
    vector const zero(T(0));
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      rows.query_[t] = term(1, t);
      if constexpr (erases) rows.read_[t] = term(2, t);
      if constexpr (fades) rows.decay_[t] = term(4, t);
      rows.of_decay_[t] = rows.of_query_[t] = rows.of_read_[t] = zero;
    });
    rows.template follow<-1>(
        vector(T(1)), fades ? product(of::of_state) : zero,
        [&](int t) WANE_INLINE_LAMBDA { return product(of::of_query + t); },
        [&](int t) WANE_INLINE_LAMBDA { return product(of::of_read + t); });
    unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA {
      put(1, s,
          rows.template follow<s>(
              term(0, s), product(of::of_key + s),
              [&](int t) WANE_INLINE_LAMBDA { return pair(0, t, s); },
              [&](int t) WANE_INLINE_LAMBDA { return pair(1, t, s); }));
      if constexpr (Form::erasing == erasing::general)
        put(4, s,
            rows.template follow<s>(
                term(3, s), product(of::of_write + s),
                [&](int t) WANE_INLINE_LAMBDA { return pair(2, t, s); },
                [&](int t) WANE_INLINE_LAMBDA { return pair(3, t, s); }));
      else
        put(4, s, zero);
    });
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      put(0, t, rows.of_decay_[t]), put(2, t, rows.of_query_[t]), put(3, t, rows.of_read_[t]);
    });
  }

  // The same from arrays: terms [5][tokens][width], products [count][width]. The gradient of kind k
  // and token t is stored at to + t token_stride + k kind_stride.
  WANE_HOST_INLINE static void take(T const* terms, T const* products,
                                    token_products<T> const& pairs, T* to, index token_stride,
                                    index kind_stride) {
    constexpr int width = Form::width;
    T const(*const kinds[])[tokens] = {pairs.query_key, pairs.read_key, pairs.query_write,
                                       pairs.read_write};
    take([&](int kind, int t)
             WANE_INLINE_LAMBDA { return vector::load(terms + (kind * tokens + t) * width); },
         [&](int n) WANE_INLINE_LAMBDA { return vector::load(products + n * width); },
         [&](int kind, int t, int s) WANE_INLINE_LAMBDA { return vector(kinds[kind][t][s]); },
         [&](int kind, int t, vector x)
             WANE_INLINE_LAMBDA { x.store(to + t * token_stride + kind * kind_stride); });
  }

 private:
  static constexpr bool fades = Form::fading != fading::none;
  static constexpr bool erases = Form::erasing != erasing::none;

  // Multiplies one writer by all its readers, and returns the gradient of the writer. `written` is
  // the writer of token s, or the state before the chunk for s = -1. `arriving` is the part of its
  // gradient that comes from behind the chunk.
  template <int s, class OfQuery, class OfRead>
  WANE_INLINE vector follow(vector written, vector arriving, OfQuery const& of_query,
                            OfRead const& of_read) {
    vector faded[tokens + 1];  // faded[t + 1]: the writer after the decay of token t
    faded[s + 1] = written;
    unroll<tokens - 1 - s>([&](auto n) WANE_INLINE_LAMBDA {
      constexpr int t = s + 1 + n;
      faded[t + 1] = fades ? faded[t] * decay_[t] : faded[t];
    });
    vector back = arriving;
    unroll<tokens - (s < 0 ? 0 : s)>([&](auto n) WANE_INLINE_LAMBDA {
      constexpr int t = tokens - 1 - n;
      auto const take_query = [&](vector const& read) WANE_INLINE_LAMBDA {
        vector const pair = of_query(t);
        of_query_[t] = multiply_add(pair, read, of_query_[t]);
        back = multiply_add(pair, query_[t], back);
      };
      if constexpr (Reading != reading::old) take_query(faded[t + 1]);
      if constexpr (t > s) {
        if constexpr (fades && InLogs) back = back * decay_[t];
        if constexpr (fades) of_decay_[t] = multiply_add(faded[t], back, of_decay_[t]);
        if constexpr (fades && !InLogs) back = back * decay_[t];
        if constexpr (erases) {
          vector const read = of_read(t);
          of_read_[t] = multiply_add(read, faded[t], of_read_[t]);
          back = multiply_add(read, read_[t], back);
        }
        if constexpr (Reading == reading::old) take_query(faded[t]);
      }
    });
    return back;
  }

  vector query_[tokens], read_[tokens], decay_[tokens];
  vector of_decay_[tokens], of_query_[tokens], of_read_[tokens];
};

}  // namespace wane::impl
