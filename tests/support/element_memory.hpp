// Memories that decay by element, with every term a token may have or none, and their gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace support {

// How the decay of element (i, j) is stated: e^(rate(i, j) step(j)), e^(row(i) step(j)), or the
// factor row(i) step(j).
enum class fades { by_rate, by_log, by_factor };

template <class T>
struct element_inputs {
  index batch, time, heads, rows, columns;
  tensor<T> value, step, skip, row, key, query, rate;  // rate: [1, rows, heads, columns]

  element_inputs(index b, index t, index h, index n, index c, arrangement how = arrangement::plain)
      : batch(b),
        time(t),
        heads(h),
        rows(n),
        columns(c),
        value(b, t, h, c, how),
        step(b, t, h, c, how),
        skip(b, t, h, c, how),
        row(b, t, h, n, how),
        key(b, t, h, n, how),
        query(b, t, h, n, how),
        rate(1, n, h, c, how) {
    random_values random(5);
    auto const between = [&](double low, double high) {
      return
          [&random, low, high](auto...) { return static_cast<float>(random.uniform(low, high)); };
    };
    for (auto* x : {&value, &skip, &key, &query}) x->fill(between(-1, 1));
    step.fill(between(0, 1)), row.fill(between(-1, 0)), rate.fill(between(-2, 0));
  }
};

// All terms, or (`Bare`) a value and a decay.
template <class T, fades Decay, bool Bare>
struct element_memory {
  element_inputs<T> const& in;

  wane::recurrence_shape shape() const {
    return {in.batch, in.time, in.heads, in.rows, in.columns};
  }
  wane::layout layout() const {
    return layout_of(in.value.view(), in.step.view(), in.skip.view(), in.rate.view());
  }
  auto rate(index head, index i, auto j) const requires(Decay == fades::by_rate) {
    return in.rate.view().read({0, i, head}, j);
  }
  struct token {
    element_memory const& op;
    wane::place<> where;

    auto value(auto j) const { return op.in.value.view().read(where, j); }
    auto step(auto j) const { return op.in.step.view().read(where, j); }
    auto log_decay(index i, auto j) const requires(Decay == fades::by_rate) {
      return step(j) * op.rate(where.head, i, j);
    }
    auto log_decay(index i, auto j) const requires(Decay == fades::by_log) {
      return step(j) * decltype(step(j))(op.in.row.view().read(where, i));
    }
    auto decay(index i, auto j) const requires(Decay == fades::by_factor) {
      return step(j) * decltype(step(j))(op.in.row.view().read(where, i));
    }
    T key(index i) const requires(!Bare) { return op.in.key.view().read(where, i); }
    T query(index i) const requires(!Bare) { return op.in.query.view().read(where, i); }
    T direct() const requires(!Bare) { return T(0.3); }
    auto skip(auto j) const requires(!Bare) { return op.in.skip.view().read(where, j); }
  };
  token at(wane::place<> where) const { return {*this, where}; }
};

// Every gradient that such a memory gives.
template <class T>
struct element_gradients {
  tensor<T> value, skip, step, decay, key, query, direct;  // decay: [B, T, H, rows * columns]
  tensor<double> rate;                                     // [sequences, rows, heads, columns]

  element_gradients(wane::recurrence_shape const& s, index sequences,
                    arrangement how = arrangement::plain)
      : value(s.batch, s.time, s.heads, s.columns, how),
        skip(s.batch, s.time, s.heads, s.columns, how),
        step(s.batch, s.time, s.heads, s.columns, how),
        decay(s.batch, s.time, s.heads, s.rows * s.columns, how),
        key(s.batch, s.time, s.heads, s.rows, how),
        query(s.batch, s.time, s.heads, s.rows, how),
        direct(s.batch, s.time, s.heads, 1, how),
        rate(sequences, s.rows, s.heads, s.columns, how) {}
};
template <class T, bool Rates>
struct receives_elements {
  element_gradients<T>* to;

  wane::layout layout() const {
    return layout_of(to->value.view(), to->skip.view(), to->step.view(), to->decay.view());
  }
  void rate(index sequence, index head, index i, index j, double g) const requires(Rates) {
    to->rate(sequence, i, head, j) = g;
  }
  struct sink {
    element_gradients<T>& to;
    wane::place<> where;

    template <class Columns, class V>
    void all_of_column(Columns j, wane::column_gradients<V> const& g) const {
      to.value.view().write(where, j, g.value);
      to.skip.view().write(where, j, g.skip);
      to.step.view().write(where, j, g.step);
      index const columns = to.value.view().extent[3];
      for (index i = 0; i < g.rows; ++i) {
        Columns of_row = j;
        if constexpr (std::is_same_v<Columns, index>)
          of_row += i * columns;
        else
          of_row.first += i * columns;
        to.decay.view().write(where, of_row, g.decay[i]);
      }
    }
    void row(index i, wane::row_gradient<T> const& g) const {
      to.key.view().write(where, i, g.key), to.query.view().write(where, i, g.query);
    }
    void whole(wane::token_gradient<T> const& g) const {
      to.direct.view().write(where, 0, g.direct);
    }
  };
  sink at(wane::place<> where) const { return {*to, where}; }
};

}  // namespace support
