// What adjoints are made of: their options, decays in lanes, sums held in double.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/state/state.hpp"
#include "wane/core/state/walk.hpp"

namespace wane {

// Every field may be left out; initial, packed, lengths, direction and threads are those of the
// run.
template <class State>
struct adjoint_options {
  state_view<State const> initial = {};
  // dL/d(final state), where the loss looks at it.
  state_view<State const> final_gradient = {};
  // Receives dL/d(initial state).
  state_view<State> initial_gradient = {};
  packed_sequences packed = {};
  // Output gradients of padding are not read, and the gradients of its tokens not written.
  std::span<index const> lengths = {};
  wane::direction direction = direction::forward;
  int threads = 0;
};

// Throws wane::error where gradients do not fit what they are of.
template <class Op, class Gradients>
void check_gradients(Op const& op, Gradients const& to, index sequences) {
  recurrence_shape const shape = op.shape();
  if constexpr (requires { to.check(shape); }) to.check(shape);
  if constexpr (requires { to.check(op); }) to.check(op);
  if constexpr (requires { to.check(shape, sequences); }) to.check(shape, sequences);
}

// Sums over many tokens are held in double.
template <class T>
struct wider_type {
  using type = T;
};
template <>
struct wider_type<float> {
  using type = double;
};
template <>
struct wider_type<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using wider = typename wider_type<T>::type;

template <class T>
T sum(T const& x) {
  return x;
}
// As its receiver keeps it: the lanes, or their sum.
template <class A, class V>
WANE_HOST_INLINE A gathered(V const& x) {
  if constexpr (std::is_same_v<A, V>)
    return x;
  else
    return A(sum(x));
}

// A decay for all lanes of V.
template <class V>
no_decay widen(no_decay) {
  return {};
}
template <class V, class D>
plain_decay<V> widen(plain_decay<D> w) {
  return {V(w.factor)};
}
template <class V, class D>
split_decay<V> widen(split_decay<D> w) {
  return {V(w.whole), V(w.rest)};
}
// w = 1.
inline void never_fade(no_decay&) {}
template <class V>
void never_fade(plain_decay<V>& w) {
  w = {V(1)};
}
template <class V>
void never_fade(split_decay<V>& w) {
  w = {V(1), V(0)};
}

WANE_INLINE no_decay conjugate(no_decay w) { return w; }
template <class V>
WANE_INLINE plain_decay<V> conjugate(plain_decay<V> w) {
  return {conjugate(w.factor)};
}
template <class V>
WANE_INLINE split_decay<V> conjugate(split_decay<V> w) {
  return {conjugate(w.whole), conjugate(w.rest)};
}

// d(w s)/d(log w) = w s, and d(w s)/dw = s.
template <class V>
WANE_INLINE V decay_derivative(no_decay, V) {
  return V(0);
}
template <class V>
WANE_INLINE V decay_derivative(plain_decay<V>, V s) {
  return s;
}
template <class V>
WANE_INLINE V decay_derivative(split_decay<V> w, V s) {
  return carried(w, s, V(real_type<typename scalar_of_value<V>::type>(0)));
}

// sum + rate g, where a rate that resets, -infinity, counts nothing.
template <class V>
WANE_INLINE V by_rate(V rate, V g, V sum) {
  return where_zero(g, sum, multiply_add(rate, g, sum));
}

// Sums over columns of the gradients of one token, or over tokens too.
template <class T>
struct head_gradients {
  std::vector<row_gradient<T>> rows;
  token_gradient<T> whole{};

  explicit head_gradients(index row_count = 0) : rows(static_cast<std::size_t>(row_count)) {}

  void clear() {
    std::fill(rows.begin(), rows.end(), row_gradient<T>{});
    whole = {};
  }
  template <class V>
  head_gradients& operator+=(head_gradients<V> const& other) {
    if (rows.size() < other.rows.size()) rows.resize(other.rows.size());
    for (std::size_t i = 0; i < other.rows.size(); ++i) {
      rows[i].decay += gathered<T>(other.rows[i].decay);
      rows[i].key += gathered<T>(other.rows[i].key);
      rows[i].query += gathered<T>(other.rows[i].query);
      rows[i].erase_read += gathered<T>(other.rows[i].erase_read);
      rows[i].erase_write += gathered<T>(other.rows[i].erase_write);
    }
    whole.decay += gathered<T>(other.whole.decay);
    whole.direct += gathered<T>(other.whole.direct);
    return *this;
  }
};

// Hands a sink the gradients of a token's rows, `stride` apart in g (decay, key, query, erase_read
// and erase_write), and of the whole token.
template <class Sink, class T>
void give_rows(Sink const& sink, index rows, index stride, bool in_lanes, T* g,
               token_gradient<T> const& whole) {
  index const n = stride;
  if constexpr (takes_rows<Sink, T>)
    for (index i = 0; i < rows; ++i)
      sink.row(i, row_gradient<T>{g[i], g[n + i], g[2 * n + i], g[3 * n + i], g[4 * n + i]});
  if constexpr (takes_tokens<Sink, T>) sink.whole(whole);
  if constexpr (takes_all<Sink, T>)
    sink.all(all_gradients<T>{rows, in_lanes, g, g + n, g + 2 * n, g + 3 * n, g + 4 * n, whole});
}

// Gives the sums of a token, or of a head, to the operator.
template <class Op, class Gradients, class A>
void hand_over(Op const& op, Gradients const& gradients, place<> at, head_gradients<A> const& sums,
               bool in_lanes) {
  using T = accumulate_type<Op>;
  auto const as_t = [](A x) { return static_cast<T>(gathered<wider<T>>(x)); };
  index const n = static_cast<index>(sums.rows.size());
  std::vector<T> terms(static_cast<std::size_t>(5 * n));
  T* const g = terms.data();
  for (index i = 0; i < n; ++i) {
    auto const& r = sums.rows[static_cast<std::size_t>(i)];
    g[i] = as_t(r.decay), g[n + i] = as_t(r.key), g[2 * n + i] = as_t(r.query);
    g[3 * n + i] = as_t(r.erase_read), g[4 * n + i] = as_t(r.erase_write);
  }
  give_rows(sink_at(gradients, op, at), n, n, in_lanes, g,
            token_gradient<T>{as_t(sums.whole.decay), as_t(sums.whole.direct)});
}

// The operator gives vectors, and the sink takes them where it takes numbers.
template <class Op, class Gradients>
consteval bool gives_lanes() {
  if constexpr (reads_lanes<Op> && requires(Gradients const& gradients) { gradients.layout(); }) {
    using Number = accumulate_type<Op>;
    using V = simd<Number, simd_width<Number>>;
    using Columns = lanes<V::width>;
    using Sink = sink_of<Gradients, Op>;
    return has_rates<Op> == has_rates<Op, Columns> &&
           takes_columns<Sink, index, Number> == takes_columns<Sink, Columns, V> &&
           takes_elements<Sink, index, Number> == takes_elements<Sink, Columns, V> &&
           takes_all_of_columns<Sink, index, Number> == takes_all_of_columns<Sink, Columns, V>;
  }
  return false;
}

// Calls body(j, lane) for each of some columns.
template <class Columns, class Body>
void for_each_column(Columns columns, Body const& body) {
  if constexpr (std::is_same_v<Columns, index>)
    body(columns, 0);
  else
    for (int l = 0; l < lane_count(columns); ++l) body(columns.first + l, l);
}
// Adds the lanes of x, or x, to the numbers at `to`.
template <class A, class V>
void add_lanes(A* to, V const& x) {
  if constexpr (is_simd<V>) {
    typename V::scalar lanes[V::width];
    x.store(lanes);
    for (int l = 0; l < V::width; ++l) to[l] += A(lanes[l]);
  } else {
    *to += A(x);
  }
}

// Row i of some columns of a walk's state; zero where the state is absent.
template <class V, class State, class Columns>
V load_state(state_view<State> const& state, walk const& w, index i, Columns columns) {
  using T = typename scalar_of_value<V>::type;
  V x = V(T(0));
  if (!state.present()) return x;
  if constexpr (std::is_same_v<Columns, index>)
    x = static_cast<T>(state.values(w.sequence, w.head, i, columns));
  else
    for (int l = 0; l < lane_count(columns); ++l)
      x.v[l] = static_cast<T>(state.values(w.sequence, w.head, i, columns.first + l));
  return x;
}
template <class V, class State, class Columns>
void save_state(state_view<State> const& state, walk const& w, index i, Columns columns, V x) {
  for_each_column(columns, [&](index j, int l) {
    if constexpr (is_simd<V>)
      state.values(w.sequence, w.head, i, j) = static_cast<State>(x[l]);
    else
      state.values(w.sequence, w.head, i, j) = static_cast<State>(x);
  });
}

}  // namespace wane
