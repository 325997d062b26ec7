// Panels of the adjoint: they recompute states, and take cotangents back through a micro-chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/panels/rows.hpp"

namespace wane::impl {

// Computes the state after a micro-chunk, without outputs. Then `value` holds what keys write
// (under the delta rule v - u), and `erased` holds u. Tokens are `token_stride` apart.
template <class Form, int R>
struct panel_replay : panel_rows<Form, R> {
  using base = panel_rows<Form, R>;
  using base::width, base::tokens, base::chunk;
  using typename base::T, typename base::vector;

  T const* before;
  T* after;
  T *value, *erased;
  index token_stride;

  WANE_HOST_INLINE void take() {
    vector u[tokens][R] = {}, v[tokens][R];
    constexpr bool erases = Form::erasing != erasing::none;
    if constexpr (erases) this->read(before, chunk.reads + tokens * width, Form::reads * width, u);
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        v[t][r] = vector::load(value + t * token_stride + r * width);
      });
      if constexpr (erases) {
        this->template erase<t>(u, v);
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          v[t][r].store(value + t * token_stride + r * width);
          u[t][r].store(erased + t * token_stride + r * width);
        });
      }
    });
    this->write(before, after, u, v);
  }
};

// With G = dL/d(state after the chunk), k~ and a~ keys and erase_writes faded to its end,
//   dv_s = k~_s^T G + sum_{t>=s} (q_t . k_s P_t/P_s) dy_t + sum_{t>s} (b_t . k_s P_{t-1}/P_s) du_t
//   du_s = a~_s^T G + the same sums with a in the place of k
// from the last token to the first; under the delta rule du = -dv.
template <class Form, int R>
struct panel_adjoint : panel_rows<Form, R> {
  using base = panel_rows<Form, R>;
  using base::width, base::tokens, base::chunk;
  using typename base::T, typename base::vector;

  T const *cotangent, *output_gradient;
  T *value_gradient, *erased_gradient;
  index token_stride;

  WANE_HOST_INLINE void take() {
    constexpr bool erases = Form::erasing != erasing::none;
    vector found[Form::keys][R] = {};  // by keys, then by erase_writes
    this->read(cotangent, chunk.writes, Form::writes * width, found);
    vector dy[tokens][R], du[tokens][R];
    auto const& products = chunk.products;
    unroll<tokens>([&](auto turn) WANE_INLINE_LAMBDA {
      constexpr int s = tokens - 1 - turn;
      auto& dv = found[s];
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        dy[s][r] = vector::load(output_gradient + s * token_stride + r * width);
        if constexpr (Form::erasing == erasing::general) du[s][r] = found[tokens + s][r];
      });
      unroll<tokens - s>([&](auto later) WANE_INLINE_LAMBDA {
        constexpr int t = s + later;
        base::add(products.query_key[t][s], dy[t], dv);
        if constexpr (erases && t > s) base::add(products.read_key[t][s], du[t], dv);
        if constexpr (Form::erasing == erasing::general) {
          base::add(products.query_write[t][s], dy[t], du[s]);
          if constexpr (t > s) base::add(products.read_write[t][s], du[t], du[s]);
        }
      });
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        if constexpr (Form::erasing == erasing::delta) du[s][r] = -dv[r];
        if (erases && s >= chunk.count) du[s][r] = vector(T(0));  // G may not be finite
        if constexpr (erases) du[s][r].store(erased_gradient + s * token_stride + r * width);
      });
      if (chunk.has_direct) base::add(chunk.direct[s], dy[s], dv);
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        dv[r].store(value_gradient + s * token_stride + r * width);
      });
    });
  }
};

}  // namespace wane::impl
