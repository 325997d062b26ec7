// The adjoint of gather: from a micro-chunk's products to gradients of its tokens' terms.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/decay.hpp"
#include "wane/run/state_products.hpp"

namespace wane {

// What reads row i of the state (q_t, b_t, and what follows the chunk) meets what was written there
// (k_s, a_s, and the state before the chunk), faded by the decays between. A pair's number p, the
// gradient of its product, gives p (what was written, faded) to the reader, p (the reader, faded)
// to the writer, and to every decay between them what the pair is worth. Nothing is divided, and
// decays meet no difference of sums.
template <class Form, bool InLogs>
class term_gradients {
 public:
  using T = typename Form::scalar;
  using vector = typename Form::vector;
  using of_state = state_products<Form>;
  static constexpr int width = Form::width, tokens = micro_tokens;

  // terms: key, query, erase_read, erase_write and decay of one vector of rows, [5][tokens][width];
  // products: of_state's; pairs: gradients of the chunk's products; to: decay, key, query,
  // erase_read and erase_write of token t at to + t token_stride, their kinds kind_stride apart.
  WANE_HOST_INLINE static void take(T const* terms, T const* products,
                                    token_products<T> const& pairs, T* to, index token_stride,
                                    index kind_stride) {
    term_gradients rows;
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      auto const term = [&](int kind) { return vector::load(terms + (kind * tokens + t) * width); };
      rows.query_[t] = term(1);
      if constexpr (erases) rows.read_[t] = term(2);
      if constexpr (fades) rows.decay_[t] = term(4);
      rows.of_decay_[t] = rows.of_query_[t] = rows.of_read_[t] = vector(T(0));
    });
    auto const product = [&](int n) { return vector::load(products + n * width); };
    vector zero(T(0)), key[tokens], write[tokens];
    rows.template follow<-1>(
        vector(T(1)), fades ? product(of_state::of_state) : zero,
        [&](int t) { return product(of_state::of_query + t); },
        [&](int t) { return product(of_state::of_read + t); });
    unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA {
      key[s] = rows.template follow<s>(
          vector::load(terms + s * width), product(of_state::of_key + s),
          [&](int t) { return vector(pairs.query_key[t][s]); },
          [&](int t) { return vector(pairs.read_key[t][s]); });
      write[s] = zero;
      if constexpr (Form::erasing == erasing::general)
        write[s] = rows.template follow<s>(
            vector::load(terms + (3 * tokens + s) * width), product(of_state::of_write + s),
            [&](int t) { return vector(pairs.query_write[t][s]); },
            [&](int t) { return vector(pairs.read_write[t][s]); });
    });
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      vector const all[] = {rows.of_decay_[t], key[t], rows.of_query_[t], rows.of_read_[t],
                            write[t]};
      for (int kind = 0; kind < 5; ++kind)
        all[kind].store(to + t * token_stride + kind * kind_stride);
    });
  }

 private:
  static constexpr bool fades = Form::fading != fading::none;
  static constexpr bool erases = Form::erasing != erasing::none;

  // Meets what was written after token s (-1: before the chunk) with all that reads it; `arriving`
  // is the gradient that what follows the chunk gives it. Returns its gradient.
  template <int s, class OfQuery, class OfRead>
  WANE_HOST_INLINE vector follow(vector written, vector arriving, OfQuery const& of_query,
                                 OfRead const& of_read) {
    vector faded[tokens + 1];  // faded[t + 1]: after token t
    faded[s + 1] = written;
    unroll<tokens - 1 - s>([&](auto n) WANE_INLINE_LAMBDA {
      constexpr int t = s + 1 + n;
      faded[t + 1] = fades ? faded[t] * decay_[t] : faded[t];
    });
    vector back = arriving;
    unroll<tokens - (s < 0 ? 0 : s)>([&](auto n) WANE_INLINE_LAMBDA {
      constexpr int t = tokens - 1 - n;
      vector const pair = of_query(t);
      of_query_[t] = multiply_add(pair, faded[t + 1], of_query_[t]);
      back = multiply_add(pair, query_[t], back);
      if constexpr (t > s) {
        if constexpr (fades && InLogs) back = back * decay_[t];
        if constexpr (fades) of_decay_[t] = multiply_add(faded[t], back, of_decay_[t]);
        if constexpr (fades && !InLogs) back = back * decay_[t];
        if constexpr (erases) {
          vector const read = of_read(t);
          of_read_[t] = multiply_add(read, faded[t], of_read_[t]);
          back = multiply_add(read, read_[t], back);
        }
      }
    });
    return back;
  }

  vector query_[tokens], read_[tokens], decay_[tokens];
  vector of_decay_[tokens], of_query_[tokens], of_read_[tokens];
};

}  // namespace wane
