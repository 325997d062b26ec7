// A panel: some columns of a head's state, advanced by one micro-chunk at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/panels/one_pass.hpp"
#include "wane/run/panels/rows.hpp"

namespace wane::impl {

// `value` and `output` have tokens `token_stride` apart and no gaps between columns. Of the tokens
// the first `Writers` decay, erase and write; without `Reads` none has an output.
template <class Form, int R, int Writers = micro_tokens, bool Reads = true>
struct panel : panel_rows<Form, R> {
  using base = panel_rows<Form, R>;
  using base::width, base::tokens, base::chunk;
  using typename base::T, typename base::vector;

  T* state;
  T const* value;
  T* output;
  index token_stride;

  WANE_HOST_INLINE void take() {
    if constexpr (Form::erasing == erasing::none)
      take_at_once();
    else
      read_then_write();
  }

 private:
  // Tokens that do not erase: writes do not depend on reads, so one pass does both.
  WANE_HOST_INLINE void take_at_once() const {
    one_pass<T, tokens, Form::fading> pass{chunk.reads, chunk.writes, {},        chunk.whole,
                                           chunk.rest,  base::soon,   base::each};
    for (int t = 0; t < tokens; ++t) {
      for (int s = 0; s <= t; ++s) pass.pairs[t][s] = chunk.products.query_key[t][s];
      if (chunk.has_direct) pass.pairs[t][t] += chunk.direct[t];
    }
    pass.has_direct = chunk.has_direct;
    auto const at = [&](index t, index r) { return t * token_stride + r * width; };
    pass.template take<R, Writers, Reads>(
        base::rows, state, base::row_stride,
        [&](auto t, auto r) WANE_INLINE_LAMBDA { return vector::load(value + at(t, r)); },
        [&](auto t, auto r, vector y) WANE_INLINE_LAMBDA { y.store(output + at(t, r)); });
  }

  WANE_HOST_INLINE void read_then_write() {
    vector found[tokens + Writers][R] = {};  // by queries, then by erase_reads
    this->read(state, chunk.reads, Form::reads * width, found);
    vector u[Writers][R], v[Writers][R];
    unroll<Writers>([&](auto t) WANE_INLINE_LAMBDA {
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        v[t][r] = vector::load(value + t * token_stride + r * width);
        u[t][r] = found[tokens + t][r];
      });
      if (chunk.has_direct) base::add(chunk.direct[t], v[t], found[t]);
      this->template erase<t>(u, v);
      answer<t>(found[t], u, v);
    });
    unroll<tokens - Writers>(
        [&](auto n) WANE_INLINE_LAMBDA { answer<Writers + n>(found[Writers + n], u, v); });
    this->write(state, state, u, v);
  }

  // y holds the product of query t with the state.
  template <int t>
  WANE_HOST_INLINE void answer(vector (&y)[R], vector const (&u)[Writers][R],
                               vector const (&v)[Writers][R]) const {
    auto const& products = chunk.products;
    unroll<(t < Writers ? t + 1 : Writers)>([&](auto s) WANE_INLINE_LAMBDA {
      base::add(products.query_key[t][s], v[s], y);
      if constexpr (Form::erasing == erasing::general)
        base::add(products.query_write[t][s], u[s], y);
    });
    unroll<R>([&](auto r)
                  WANE_INLINE_LAMBDA { y[r].store(output + t * token_stride + r * width); });
  }
};

}  // namespace wane::impl
