// Two memories as ggml has them: decays as plain factors, which an operator may state as they are.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::bench {

// What both take, [B, T, H, K] and value [B, T, H, V].
struct factor_memory {
  sequence_view<float const> query, key, value, factor;
  float scale = 1;

  recurrence_shape shape() const {
    auto const& e = value.extent;
    return {e[0], e[1], e[2], key.extent[3], e[3]};
  }
  void each_row(place<> where, auto const& visit) const {
    for (auto const* x : {&query, &key, &value, &factor}) visit(x->element(where, 0), x->extent[3]);
  }

  struct terms {
    factor_memory const& of;
    place<> where;
    WANE_INLINE auto query(auto i) const {
      auto const q = of.query.read(where, i);
      return multiply(q, decltype(q)(of.scale));
    }
    WANE_INLINE auto key(auto i) const { return of.key.read(where, i); }
    WANE_INLINE auto value(auto j) const { return of.value.read(where, j); }
    WANE_INLINE auto decay(auto i) const { return of.factor.read(where, i); }
  };
};

// S <- diag(g) S + k v^T,   y = scale S^T q
struct ggml_gla : factor_memory {
  wane::layout layout() const { return layout_of(query, key, value, factor); }
  using token = terms;
  WANE_INLINE token at(place<> where) const { return {*this, where}; }
};

// S <- diag(w) S + b (a^T S) + k v^T,   y = S^T r
struct ggml_wkv7 : factor_memory {
  sequence_view<float const> erase_read, erase_write;  // a and b

  wane::layout layout() const {
    return layout_of(query, key, value, factor, erase_read, erase_write);
  }
  void each_row(place<> where, auto const& visit) const {
    factor_memory::each_row(where, visit);
    visit(erase_read.element(where, 0), erase_read.extent[3]);
    visit(erase_write.element(where, 0), erase_write.extent[3]);
  }
  struct token : terms {
    ggml_wkv7 const& op;
    WANE_INLINE auto erase_read(auto i) const { return op.erase_read.read(this->where, i); }
    WANE_INLINE auto erase_write(auto i) const { return op.erase_write.read(this->where, i); }
  };
  WANE_INLINE token at(place<> where) const { return {{*this, where}, *this}; }
};

}  // namespace wane::bench
