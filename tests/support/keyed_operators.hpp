// Two keyed memories for the tests: decay by row (as GLA), and the delta rule with its erasure.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/gradient.hpp"
#include "wane/core/recurrence.hpp"

namespace wane::testing {

// S <- diag(e^g) S + k v^T, y = S^T q.    log_decay, key, query [B, T, H, K], value [B, T, H, V]
template <class T>
struct decay_by_row {
  sequence_view<T const> gate, keys, queries, values;

  recurrence_shape shape() const {
    return {values.extent[0], values.extent[1], values.extent[2], keys.extent[3], values.extent[3]};
  }
  wane::layout layout() const { return layout_of(values); }

  struct token {
    decay_by_row const& op;
    place<> where;
    T log_decay(index i) const { return op.gate.read(where, i); }
    T key(index i) const { return op.keys.read(where, i); }
    T query(index i) const { return op.queries.read(where, i); }
    auto value(auto j) const { return op.values.read(where, j); }
  };
  token at(place<> where) const { return {*this, where}; }

  struct gradients {
    sequence_view<T> gate, keys, queries, values;
    wane::layout layout() const { return layout_of(values); }
    struct sink {
      gradients const& to;
      place<> where;
      void column(auto j, auto g) const { to.values.write(where, j, g); }
      void row(index i, row_gradient<T> g) const {
        to.gate.write(where, i, g.decay);
        to.keys.write(where, i, g.key);
        to.queries.write(where, i, g.query);
      }
    };
    sink at(place<> where) const { return {*this, where}; }
  };
};

// S <- S - b k (k^T S) + b k v^T, y = S^T q.    strength b [B, T, H]
template <class T>
struct delta_rule {
  token_view<T const> strength;
  sequence_view<T const> keys, queries, values;

  recurrence_shape shape() const {
    return {values.extent[0], values.extent[1], values.extent[2], keys.extent[3], values.extent[3]};
  }

  struct token {
    delta_rule const& op;
    place<> where;
    T strength() const { return op.strength.read(where); }
    T key(index i) const { return strength() * op.keys.read(where, i); }
    T query(index i) const { return op.queries.read(where, i); }
    T value(index j) const { return op.values.read(where, j); }
    T erase_read(index i) const { return op.keys.read(where, i); }
    T erase_write(index i) const { return -key(i); }
  };
  token at(place<> where) const { return {*this, where}; }

  struct gradients {
    delta_rule const& op;
    token_view<T> strength;
    sequence_view<T> keys, queries, values;
    struct sink {
      gradients const& to;
      place<> where;
      void column(index j, T g) const { to.values.write(where, j, g); }
      void row(index i, row_gradient<T> g) const {
        T const k = to.op.keys.read(where, i), b = to.op.strength.read(where);
        T const written = g.key - g.erase_write;
        to.keys.write(where, i, g.erase_read + conjugate(b) * written);
        to.queries.write(where, i, g.query);
        T& total = *to.strength.element(where);
        total = (i == 0 ? T(0) : total) + conjugate(k) * written;
      }
    };
    sink at(place<> where) const { return {*this, where}; }
  };
};

}  // namespace wane::testing
