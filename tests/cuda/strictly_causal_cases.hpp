// Tokens that read before they write, by the kernels of wane::cuda: as sums over pairs say.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/call/run_options.hpp"
#include "wane/core/recurrence/gradient.hpp"

namespace support {

using wane::direction;
using wane::index;

// y_t = (w_t o S_{t-1})^T query_t + direct_t value_t,   S_t = w_t o S_{t-1} + key_t value_t^T.
// Bare: w_t a factor, neither queries, keys nor direct. Old: queries read S_{t-1}.
template <class T, bool Bare, bool Old>
struct reads_first {
  wane::sequence_view<T const> value, decay, key, query, direct;

  WANE_INLINE wane::recurrence_shape shape() const {
    return {1, value.extent[1], 1, decay.extent[3], value.extent[3]};
  }
  struct token {
    static constexpr bool is_strictly_causal = true, reads_before_decay = Old;
    reads_first const& op;
    wane::place<> where;

    WANE_INLINE T value(index j) const { return op.value.read(where, j); }
    WANE_INLINE T log_decay(index i) const requires(!Bare) { return op.decay.read(where, i); }
    WANE_INLINE T decay(index i) const requires(Bare) { return op.decay.read(where, i); }
    WANE_INLINE T key(index i) const requires(!Bare) { return op.key.read(where, i); }
    WANE_INLINE T query(index i) const requires(!Bare) { return op.query.read(where, i); }
    WANE_INLINE T direct() const requires(!Bare) { return op.direct.read(where, 0); }
  };
  WANE_INLINE token at(wane::place<> where) const { return {*this, where}; }
  template <class Moved>
  WANE_HOST_DEVICE reads_first with_tensors(Moved const& moved) const {
    return {moved.by_column(value), moved.whole(decay), moved.whole(key), moved.whole(query),
            moved.whole(direct)};
  }

  struct gradients {
    wane::sequence_view<T> value, decay, key, query, direct;

    gradients with_tensors(auto& copies) const {
      return {copies.of(value), copies.of(decay), copies.of(key), copies.of(query),
              copies.of(direct)};
    }

    struct sink {
      gradients const& to;
      wane::place<> where;
      WANE_INLINE void column(index j, T g) const { to.value.write(where, j, g); }
      WANE_INLINE void row(index i, wane::row_gradient<T> const& g) const {
        to.decay.write(where, i, g.decay);
        to.key.write(where, i, g.key), to.query.write(where, i, g.query);
      }
      WANE_INLINE void whole(wane::token_gradient<T> const& g) const {
        to.direct.write(where, 0, g.direct);
      }
    };
    WANE_INLINE sink at(wane::place<> where) const { return {*this, where}; }
  };
};

// The inputs of one head, or their gradients: numbers of each token, and of states at the start.
template <class T>
struct inputs {
  std::vector<T> value, decay, key, query, direct, initial;

  auto all() { return std::array{&value, &decay, &key, &query, &direct, &initial}; }
};

// Runs a case by sums over pairs, in double, and by the kernels in T.
template <class T, bool Bare, bool Old = false>
struct causal_case {
  std::vector<index> starts;
  direction way;
  index rows = 3, columns = 5;
  index time = starts.back(), sequences = static_cast<index>(starts.size()) - 1;
  support::random_values random{4};
  inputs<double> in{
      some(time * columns, -1, 1), Bare ? some(time* rows, 0.5, 1) : some(time* rows, -0.5, 0),
      some(time* rows, -1, 1),     some(time* rows, -1, 1),
      some(time, -1, 1),           some(sequences* rows* columns, -1, 1)};
  // Of the outputs, and of the final states.
  std::vector<double> gradient = some(time * columns + sequences * rows * columns, -1, 1);

  std::vector<double> some(index count, double low, double high) {
    std::vector<double> x;
    for (index n = 0; n < count; ++n)
      x.push_back(static_cast<double>(static_cast<float>(random.uniform(low, high))));
    return x;
  }

  // Outputs, then final states.
  std::vector<double> by_pairs() const {
    std::vector<double> y(gradient.size());
    auto const add = [&](index to, double x) { y[static_cast<std::size_t>(to)] += x; };
    auto const of = [](auto const& x, index n) { return x[static_cast<std::size_t>(n)]; };
    for (index n = 0; n < sequences; ++n) {
      index const begin = of(starts, n), count = of(starts, n + 1) - begin;
      auto const token = [&](index k) {
        return way == direction::forward ? begin + k : begin + count - 1 - k;
      };
      for (index i = 0; i < rows; ++i)
        for (index j = 0; j < columns; ++j)
          for (index s = -1; s < count; ++s) {  // what is written there, and before the first
            index const state = (n * rows + i) * columns + j;
            double left = of(in.initial, state);
            if (s >= 0) {
              double const v = of(in.value, token(s) * columns + j);
              left = Bare ? v : of(in.key, token(s) * rows + i) * v;
              if (!Bare && i == 0) add(token(s) * columns + j, of(in.direct, token(s)) * v);
            }
            for (index t = s + 1; t < count; ++t) {
              double const w = of(in.decay, token(t) * rows + i);
              double const before = left;
              left *= Bare ? w : std::exp(w);
              add(token(t) * columns + j,
                  (Bare ? 1 : of(in.query, token(t) * rows + i)) * (Old ? before : left));
            }
            add(time * columns + state, left);
          }
    }
    return y;
  }

  // By central differences, which are exact but for rounding where an input has no exponential.
  inputs<double> gradients_by_pairs() {
    inputs<double> to = in;
    double const step = 1e-4;
    auto const loss = [&] {
      auto const y = by_pairs();
      return std::inner_product(y.begin(), y.end(), gradient.begin(), 0.);
    };
    for (std::size_t n = 0; n < 6; ++n)
      for (std::size_t at = 0; at < in.all()[n]->size(); ++at) {
        double& x = (*in.all()[n])[at];
        double const here = x;
        x = here + step;
        double const above = loss();
        x = here - step;
        (*to.all()[n])[at] = (above - loss()) / (2 * step);
        x = here;
      }
    return to;
  }

  // `runner` is called as wane::run is, and as wane::adjoint.
  void expect_right(auto const& runner, double bound, double gradient_bound) {
    auto const narrow = [](std::vector<double> const& x) {
      return std::vector<T>(x.begin(), x.end());
    };
    inputs<T> x{narrow(in.value), narrow(in.decay),  narrow(in.key),
                narrow(in.query), narrow(in.direct), narrow(in.initial)};
    std::vector<T> y = narrow(gradient), dy = y;
    inputs<T> to = x;
    for (auto* each : to.all()) each->assign(each->size(), T(NAN));
    auto const tokens = [&](auto& of) {
      using X = std::remove_pointer_t<decltype(of.data())>;
      return wane::sequence_view<X>(of.data(), 1, time, 1, static_cast<index>(of.size()) / time);
    };
    auto const outputs = [&](auto& of) {
      return wane::sequence_view<T>(of.data(), 1, time, 1, columns);
    };
    auto const state = [&](T* at) { return wane::view<T, 4>(at, sequences, 1, rows, columns); };
    reads_first<T, Bare, Old> const op{tokens(std::as_const(x.value)),
                                       tokens(std::as_const(x.decay)), tokens(std::as_const(x.key)),
                                       tokens(std::as_const(x.query)),
                                       tokens(std::as_const(x.direct))};
    wane::run_options<T> options;
    options.direction = way;
    if (sequences > 1) options.packed = {starts};
    options.initial = {state(x.initial.data())};
    options.final = {state(y.data() + time * columns)};
    runner(op, outputs(y), options);
    wane::adjoint_options<T> back;
    back.direction = way, back.packed = options.packed, back.initial = options.initial;
    back.final_gradient = {state(dy.data() + time * columns)};
    back.initial_gradient = {state(to.initial.data())};
    typename reads_first<T, Bare, Old>::gradients const receive{
        tokens(to.value), tokens(to.decay), tokens(to.key), tokens(to.query), tokens(to.direct)};
    runner(op, outputs(dy), receive, back);
    EXPECT_LT(apart(y, by_pairs()), bound);
    auto should_be = gradients_by_pairs();
    for (std::size_t n :
         Bare ? std::vector<std::size_t>{0, 1, 5} : std::vector<std::size_t>{0, 1, 2, 3, 4, 5})
      EXPECT_LT(apart(*to.all()[n], *should_be.all()[n]), gradient_bound) << "input " << n;
  }
  static double apart(std::vector<T> const& is, std::vector<double> const& should_be) {
    support::nearness near;
    for (std::size_t n = 0; n < is.size(); ++n) near.add(static_cast<double>(is[n]), should_be[n]);
    return near.both();
  }
};

template <class T, class Runner>
void expect_strictly_causal(Runner const& runner) {
  // Differences by 1e-4 of a loss are right to 1e-9 of it.
  double const bound = sizeof(T) == 4 ? 1e-6 : 1e-13, of_gradients = sizeof(T) == 4 ? 1e-6 : 1e-8;
  for (auto way : {direction::forward, direction::reverse})
    for (std::vector<index> const& starts :
         {std::vector<index>{0, 1}, {0, 40}, {0, 0, 1, 20, 21, 40, 40}}) {
      causal_case<T, false>{starts, way}.expect_right(runner, bound, of_gradients);
      causal_case<T, true>{starts, way}.expect_right(runner, bound, of_gradients);
      causal_case<T, false, true>{starts, way}.expect_right(runner, bound, of_gradients);
      causal_case<T, true, true>{starts, way}.expect_right(runner, bound, of_gradients);
    }
}

}  // namespace support
