// head_gradients: gradients of the terms of a token or a head, and how a sink receives them.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/numbers/wider.hpp"
#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

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

// Calls the members of a sink for one token. g holds five arrays of gradients by row, `stride`
// apart: decay, key, query, erase_read, erase_write.
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

// Gives gradients that were summed, of a token or of a head, to the sink.
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

// Whether the operator gives vectors, and the sink takes vectors wherever it takes numbers.
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

}  // namespace wane::impl
