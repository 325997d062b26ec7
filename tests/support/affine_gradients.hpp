// How far gradients in micro-chunks are from those of one token after another.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "support/affine_memory.hpp"
#include "support/nearness.hpp"
#include "wane/run/adjoint.hpp"

namespace support {

using wane::direction;

// Every gradient that a sink may be given.
template <class T>
struct all_received {
  tensor<T> value, decay, key, query, erase_read, erase_write, whole;

  explicit all_received(wane::recurrence_shape const& s)
      : value(s.batch, s.time, s.heads, s.columns),
        decay(s.batch, s.time, s.heads, s.rows),
        key(s.batch, s.time, s.heads, s.rows),
        query(s.batch, s.time, s.heads, s.rows),
        erase_read(s.batch, s.time, s.heads, s.rows),
        erase_write(s.batch, s.time, s.heads, s.rows),
        whole(s.batch, s.time, s.heads, 2) {}

  struct sink {
    all_received& to;
    wane::place<> where;
    void column(index j, T g) const { to.value.view().write(where, j, g); }
    void row(index i, wane::row_gradient<T> const& g) const {
      to.decay.view().write(where, i, g.decay), to.key.view().write(where, i, g.key);
      to.query.view().write(where, i, g.query);
      to.erase_read.view().write(where, i, g.erase_read);
      to.erase_write.view().write(where, i, g.erase_write);
    }
    void whole(wane::token_gradient<T> const& g) const {
      to.whole.view().write(where, 0, g.decay), to.whole.view().write(where, 1, g.direct);
    }
  };
};
template <class T>
struct receives {
  all_received<T>* to;
  typename all_received<T>::sink at(wane::place<> where) const { return {*to, where}; }
};

struct arranged {
  direction way = direction::forward;
  std::vector<index> starts = {};
  float initial = 0, output = 0, final = 0;  // put in the place of one number each, unless 0
  index bad_token = 0;
};

// Back from the last token with the states that were kept, or the two ways that need none.
enum class by { kept_states, two_ways };

// The largest distance of any gradient of micro-chunks from those of `exact` in plain order.
template <by What = by::kept_states, class Op, class Exact>
double apart(Op const& op, Exact const& exact, arranged const& how = {}) {
  using T = wane::accumulate_type<Op>;
  wane::recurrence_shape const s = op.shape();
  wane::packed_sequences const packed{how.starts};
  index const sequences = wane::impl::sequences_of(s, packed);
  tensor<T> dy(s.batch, s.time, s.heads, s.columns);
  tensor<double> dy_exact(s.batch, s.time, s.heads, s.columns);
  wane::recurrent_state<T> initial(op, sequences), last = initial, first = initial;
  wane::recurrent_state<double> initial_exact(exact, sequences), last_exact = initial_exact,
                                                                 first_exact = initial_exact;
  support::random_values random(3);
  for (std::size_t i = 0; i < initial.values().size(); ++i) {
    auto const x = static_cast<float>(random.uniform(-1, 1));
    auto const g = static_cast<float>(random.uniform(-1, 1));
    initial.values()[i] = x, initial_exact.values()[i] = x;
    last.values()[i] = g, last_exact.values()[i] = g;
  }
  dy_exact.fill([&](auto...) { return static_cast<float>(random.uniform(-1, 1)); });
  if (how.initial != 0) initial_exact.values()[5] = initial.values()[5] = how.initial;
  if (how.final != 0) last_exact.values()[5] = last.values()[5] = how.final;
  if (how.output != 0) dy_exact(0, how.bad_token, 0, 2) = how.output;
  dy.fill([&](index b, index t, index h, index j) { return static_cast<T>(dy_exact(b, t, h, j)); });

  all_received<T> is(s);
  all_received<double> should_be(s);
  wane::sequence_view<T const> const dy_view = dy.view();
  wane::sequence_view<double const> const dy_exact_view = dy_exact.view();
  wane::adjoint_options<T> const ours{.initial = initial,
                                      .final_gradient = last,
                                      .initial_gradient = first,
                                      .packed = packed,
                                      .direction = how.way};
  if constexpr (What == by::two_ways) {
    EXPECT_TRUE(wane::impl::two_ways_fit(op));
    wane::impl::adjoint_two_ways(op, dy_view, receives<T>{&is}, ours);
  } else
    wane::impl::adjoint_panels(op, dy_view, receives<T>{&is}, ours);
  wane::adjoint_options<double> const options{.initial = initial_exact,
                                              .final_gradient = last_exact,
                                              .initial_gradient = first_exact,
                                              .packed = packed,
                                              .direction = how.way};
  receives<double> const received{&should_be};
  wane::impl::walk_adjoint<Exact, double, receives<double>, double> const in_order(
      exact, dy_exact_view, received, options);
  for (index i = 0; i < sequences * s.heads; ++i)
    in_order(wane::impl::walk_of(i, s, options, nullptr), 0, s.columns);

  double worst = 0;
  auto const compare = [&](auto const& x, auto const& y) {
    support::nearness near;
    y.for_each([&](index b, index t, index h, index i) {
      near.add(static_cast<double>(x(b, t, h, i)), y(b, t, h, i));
    });
    worst = std::max(worst, near.both());
  };
  compare(is.value, should_be.value), compare(is.key, should_be.key);
  compare(is.query, should_be.query);
  compare(is.erase_read, should_be.erase_read), compare(is.erase_write, should_be.erase_write);
  if constexpr (!wane::constant_decays<Op>)
    compare(is.decay, should_be.decay), compare(is.whole, should_be.whole);
  support::nearness near;
  for (std::size_t i = 0; i < first.values().size(); ++i)
    near.add(static_cast<double>(first.values()[i]), first_exact.values()[i]);
  return std::max(worst, near.both());
}

}  // namespace support
