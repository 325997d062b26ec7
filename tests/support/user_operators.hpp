// Operators a user might write, by the documented interface and nothing else.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <type_traits>
#include <vector>

#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace support {

using wane::index;
using wane::place;

// y_t = the position of token t: nothing is remembered.
struct position_sum {
  wane::recurrence_shape size;
  wane::recurrence_shape shape() const { return size; }
  struct token {
    index position;
    double decay() const { return 0; }
    double value(index) const { return static_cast<double>(position); }
  };
  token at(place<> where) const { return {where.position}; }
};

enum class forgets { never, by_head, by_row };
enum class erases { no, yes };

// [B, T, H, ...] of what a keyed memory reads; by_head decays are row 0 of `decay`.
template <class T>
struct keyed_inputs {
  wane::sequence_view<T const> query, key, value, decay, erase_read, erase_write;
  T const* direct = nullptr;  // [H]
};

// Gradients of the above.
template <class T>
struct keyed_gradients {
  wane::sequence_view<T> query, key, value, decay, erase_read, erase_write;
  wane::token_view<T> direct;  // [B, T, H]

  struct sink {
    keyed_gradients const& to;
    place<> where;

    template <class V>
    void column(index j, V g) const {
      to.value.write(where, j, g);
    }
    template <class V>
    void row(index i, wane::row_gradient<V> g) const {
      to.query.write(where, i, g.query);
      to.key.write(where, i, g.key);
      if (i < to.decay.extent[3] && to.decay.extent[3] > 1) to.decay.write(where, i, g.decay);
      to.erase_read.write(where, i, g.erase_read);
      to.erase_write.write(where, i, g.erase_write);
    }
    template <class V>
    void whole(wane::token_gradient<V> g) const {
      if (to.decay.extent[3] == 1) to.decay.write(where, 0, g.decay);
      if (to.direct.data) *to.direct.element(where) = g.direct;
    }
  };
  sink at(place<> where) const { return {*this, where}; }
};

// A keyed memory: linear attention, GLA, gated delta rule and the like, by its template arguments.
template <class T, forgets Decay, erases Erase>
struct keyed_memory {
  keyed_inputs<T> in;

  wane::recurrence_shape shape() const {
    auto const& e = in.value.extent;
    return {e[0], e[1], e[2], in.key.extent[3], e[3]};
  }
  struct token {
    keyed_inputs<T> const& in;
    place<> where;

    T value(index j) const { return in.value.read(where, j); }
    T key(index i) const { return in.key.read(where, i); }
    T query(index i) const { return in.query.read(where, i); }
    T direct() const { return in.direct[where.head]; }
    T log_decay() const requires(Decay == forgets::by_head) { return in.decay.read(where, 0); }
    T log_decay(index i) const requires(Decay == forgets::by_row) {
      return in.decay.read(where, i);
    }
    T erase_read(index i) const requires(Erase == erases::yes) {
      return in.erase_read.read(where, i);
    }
    T erase_write(index i) const requires(Erase == erases::yes) {
      return in.erase_write.read(where, i);
    }
  };
  token at(place<> where) const { return {in, where}; }
};

// h <- tanh(a h + x), y = h: not affine in its state.
struct tanh_cell {
  using accumulate = double;
  double a;
  wane::sequence_view<double const> x;

  wane::recurrence_shape shape() const {
    return {x.extent[0], x.extent[1], x.extent[2], 1, x.extent[3]};
  }
  template <class State, class Write>
  void advance(place<> at, wane::view<State, 2> state, Write const& write) const {
    for (index j = 0; j < state.extent[1]; ++j) {
      double const h = std::tanh(a * static_cast<double>(state(0, j)) + x.read(at, j));
      state(0, j) = static_cast<State>(h);
      write(j, h);
    }
  }

  struct gradients {
    wane::sequence_view<double> x;
    wane::view<double, 2> a;  // [N, H], each the sum over its tokens and columns
  };
  void retreat(place<> at, wane::view<double const, 2> before, auto const& output_gradient,
               wane::view<double, 2> state_gradient, gradients const& to) const {
    for (index j = 0; j < before.extent[1]; ++j) {
      double const h = std::tanh(a * before(0, j) + x.read(at, j));
      double const g = (1 - h * h) * (state_gradient(0, j) + output_gradient.read(at, j));
      to.x.write(at, j, g);
      to.a(at.sequence, at.head) += g * before(0, j);
      state_gradient(0, j) = a * g;
    }
  }
};

// h_j <- e^log_decays_j h_j + x_j, time-invariant; decays in lanes of columns, or values alone.
template <bool Lanes>
struct fading_columns {
  static constexpr bool is_time_invariant = true;
  wane::sequence_view<double const> x, log_decays;  // the latter [1, 1, 1, columns]

  wane::recurrence_shape shape() const {
    return {x.extent[0], x.extent[1], x.extent[2], 1, x.extent[3]};
  }
  wane::layout layout() const { return layout_of(x, log_decays); }
  struct token {
    fading_columns const& op;
    place<> where;
    auto log_decay(index, auto j) const requires(Lanes || std::is_same_v<decltype(j), index>) {
      return op.log_decays.read(place<>{}, j);
    }
    auto value(auto j) const { return op.x.read(where, j); }
  };
  token at(place<> where) const { return {*this, where}; }

  struct gradients {
    wane::sequence_view<double> x;
    wane::layout layout() const { return layout_of(x); }
    struct sink {
      gradients const& to;
      place<> where;
      void column(auto j, auto g) const { to.x.write(where, j, g); }
    };
    sink at(place<> where) const { return {*this, where}; }
  };
};

// h <- x h + x in every channel, read in lanes of columns only.
struct self_gated_sum {
  static constexpr bool is_channelwise = true;
  wane::sequence_view<float const> x;
  index rows = 1;

  wane::recurrence_shape shape() const {
    return {x.extent[0], x.extent[1], x.extent[2], rows, x.extent[3]};
  }
  wane::layout layout() const { return layout_of(x); }
  struct token {
    wane::sequence_view<float const> const& x;
    place<> where;
    auto decay(index, auto j) const { return x.read(where, j); }
    auto value(auto j) const { return x.read(where, j); }
  };
  token at(place<> where) const { return {x, where}; }
};

// h <- 1 / (1 + position) h + x in every channel: lanes of columns, lanes of tokens, and numbers.
struct slowing_sum {
  using accumulate = float;
  static constexpr bool is_channelwise = true;
  wane::sequence_view<float const> x, gate;  // the factor is gate

  wane::recurrence_shape shape() const {
    return {x.extent[0], x.extent[1], x.extent[2], 1, x.extent[3]};
  }
  wane::layout layout() const { return layout_of(x, gate); }
  template <class Time>
  struct token {
    wane::sequence_view<float const> const &x, &gate;
    place<Time> where;
    template <class Column>
    auto decay(index, Column j) const {
      return gate.read(where, j);
    }
    template <class Column>
    auto value(Column j) const {
      auto const v = x.read(where, j);
      return v * v;
    }
  };
  template <class Time>
  token<Time> at(place<Time> where) const {
    return {x, gate, where};
  }
};

}  // namespace support
