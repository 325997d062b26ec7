// A user's keyed memory on random inputs: outputs, states and gradients against naive loops.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "support/linear_case.hpp"
#include "support/user_operators.hpp"
#include "wane/run/adjoint.hpp"

namespace support {

// All numbers a walk reads, as Real; the derivative of a loss by any of them is a complex step.
template <class Real>
struct keyed_numbers {
  index rows, columns;
  std::vector<Real> query, key, value, decay, erase_read, erase_write, state;
  Real direct;

  // S <- w S + a (b^T S) + k v^T, y = S^T q + d v over the tokens of `span`; emit(t, j, y).
  template <class Emit>
  std::vector<Real> walk(forgets how, bool erase, span_of_time span, Emit const& emit) const {
    std::vector<Real> s = state;
    auto const at = [](index i) { return static_cast<std::size_t>(i); };
    span.for_each([&](index t) {
      for (index j = 0; j < columns; ++j) {
        Real const v = value[at(t * columns + j)];
        Real erased(0), y = direct * v;
        for (index i = 0; erase && i < rows; ++i)
          erased += erase_read[at(t * rows + i)] * s[at(i * columns + j)];
        for (index i = 0; i < rows; ++i) {
          Real& x = s[at(i * columns + j)];
          if (how == forgets::by_head) x = decayed_by_log(decay[at(t)], x);
          if (how == forgets::by_row) x = decayed_by_log(decay[at(t * rows + i)], x);
          if (erase) x += erase_write[at(t * rows + i)] * erased;
          x += key[at(t * rows + i)] * v;
          y += query[at(t * rows + i)] * x;
        }
        emit(t, j, y);
      }
    });
    return s;
  }
};

template <class T, forgets Decay, erases Erase>
class keyed_case {
 public:
  using op_type = keyed_memory<T, Decay, Erase>;
  static constexpr bool erase = Erase == erases::yes;

  keyed_case(index batch, index time, index heads, index rows, index columns, arrangement how)
      : size_{batch, time, heads, rows, columns},
        query(batch, time, heads, rows, how),
        key(batch, time, heads, rows, how),
        value(batch, time, heads, columns, how),
        decay(batch, time, heads, Decay == forgets::by_row ? rows : 1, how),
        read(batch, time, heads, rows, how),
        write(batch, time, heads, rows, how),
        output(batch, time, heads, columns, how) {
    auto const small = [&](auto...) { return random.uniform(-0.5, 0.5); };
    for (auto* x : {&query, &key, &value, &read, &write}) x->fill(small);
    decay.fill([&](auto...) { return random_decay<wane::decay_as::log, T>(random); });
    for (index h = 0; h < heads; ++h) direct.push_back(random_number<T>(random));
  }

  op_type op() const {
    return {{query.view(), key.view(), value.view(), decay.view(), read.view(), write.view(),
             direct.data()}};
  }

  void expect_run(wane::direction way, std::vector<index> const& starts, double bound) {
    linear_shape const s = shape_of(way, starts);
    auto initial = random_state(s), final = random_state(s);
    wane::run(op(), output.view(),
              wane::run_options<T>{.initial = std::as_const(initial),
                                   .final = final,
                                   .packed = {starts},
                                   .direction = way});
    EXPECT_LT(error(s, initial, final), bound);
    EXPECT_TRUE(output.margins_untouched());
  }
  void expect_step(double bound) {
    linear_shape const s = shape_of(wane::direction::forward, {});
    auto state = random_state(s);
    auto const before = state;
    wane::step(op(), output.view(), static_cast<wane::state_view<T>>(state));
    EXPECT_LT(error(s, before, state), bound);
    EXPECT_EQ(state.positions(), std::vector<index>(state.positions().size(), size_.time));
  }
  // Gradients of every input, against complex steps of the naive loop.
  void expect_adjoint(wane::direction way, std::vector<index> const& starts, double bound);

 private:
  linear_shape shape_of(wane::direction way, std::vector<index> const& starts) const {
    return {.batch = size_.batch,
            .time = size_.time,
            .heads = size_.heads,
            .columns = size_.columns,
            .direction = way,
            .starts = starts};
  }
  wane::recurrent_state<T> random_state(linear_shape const& s) {
    wane::recurrent_state<T> state(s.sequences(), size_.heads, size_.rows, size_.columns);
    for (auto& x : state.values()) x = random_number<T>(random);
    return state;
  }
  template <class Real>
  keyed_numbers<Real> numbers(wane::state_view<T const> state, index n, index b, index h) const {
    keyed_numbers<Real> x{size_.rows, size_.columns, {}, {}, {}, {}, {}, {}, {}, Real(0)};
    auto const copy = [&](std::vector<Real>& to, tensor<T> const& from) {
      for (index t = 0; t < size_.time; ++t)
        for (index i = 0; i < from.view().extent[3]; ++i)
          to.push_back(Real(static_cast<double>(from(b, t, h, i))));
    };
    copy(x.query, query), copy(x.key, key), copy(x.value, value), copy(x.decay, decay);
    copy(x.erase_read, read), copy(x.erase_write, write);
    for (index i = 0; i < size_.rows; ++i)
      for (index j = 0; j < size_.columns; ++j)
        x.state.push_back(Real(static_cast<double>(state.values(n, h, i, j))));
    x.direct = Real(static_cast<double>(direct[static_cast<std::size_t>(h)]));
    return x;
  }
  double error(linear_shape const& s, wane::recurrent_state<T> const& before,
               wane::recurrent_state<T> const& after) const {
    nearness near;
    wane::state_view<T const> const last = after;
    for (index n = 0; n < s.sequences(); ++n)
      for (index h = 0; h < size_.heads; ++h) {
        index const b = s.row(n);
        auto const state = numbers<double>(before, n, b, h)
                               .walk(Decay, erase, s.span(n), [&](index t, index j, double y) {
                                 near.add(static_cast<double>(output(b, t, h, j)), y);
                               });
        for (index i = 0; i < size_.rows; ++i)
          for (index j = 0; j < size_.columns; ++j)
            near.add(static_cast<double>(last.values(n, h, i, j)),
                     state[static_cast<std::size_t>(i * size_.columns + j)]);
      }
    return near.both();
  }

  wane::recurrence_shape size_;
  random_values random;

 public:
  tensor<T> query, key, value, decay, read, write, output;
  std::vector<T> direct;
};

template <class T, forgets Decay, erases Erase>
void keyed_case<T, Decay, Erase>::expect_adjoint(wane::direction way,
                                                 std::vector<index> const& starts, double bound) {
  linear_shape const s = shape_of(way, starts);
  index const b = size_.batch, time = size_.time, heads = size_.heads, rows = size_.rows;
  tensor<T> dy(b, time, heads, size_.columns), dq(b, time, heads, rows), dk(b, time, heads, rows),
      dv(b, time, heads, size_.columns), dw(b, time, heads, decay.view().extent[3]),
      dr(b, time, heads, rows), da(b, time, heads, rows);
  std::vector<T> dd(static_cast<std::size_t>(b * time * heads));
  dy.fill([&](auto...) { return random.uniform(-1, 1); });
  auto const initial = random_state(s), last = random_state(s);
  auto first = random_state(s);
  wane::adjoint(op(), dy.view(),
                keyed_gradients<T>{dq.view(),
                                   dk.view(),
                                   dv.view(),
                                   dw.view(),
                                   dr.view(),
                                   da.view(),
                                   {dd.data(), b, time, heads}},
                wane::adjoint_options<T>{.initial = initial,
                                         .final_gradient = last,
                                         .initial_gradient = first,
                                         .packed = {starts},
                                         .direction = way});
  using Real = std::complex<double>;
  wane::state_view<T const> const end = last, found = std::as_const(first);
  nearness query_near, key_near, value_near, decay_near, read_near, write_near, direct_near,
      state_near;
  for (index n = 0; n < s.sequences(); ++n)
    for (index h = 0; h < heads; ++h) {
      index const row = s.row(n);
      auto x = numbers<Real>(initial, n, row, h);
      auto const derivative = [&](Real& of) {
        of += Real(0, 1e-150);
        Real loss(0);
        auto const state = x.walk(Decay, erase, s.span(n), [&](index t, index j, Real y) {
          loss += static_cast<double>(dy(row, t, h, j)) * y;
        });
        for (index i = 0; i < rows; ++i)
          for (index j = 0; j < size_.columns; ++j)
            loss += static_cast<double>(end.values(n, h, i, j)) *
                    state[static_cast<std::size_t>(i * size_.columns + j)];
        of = of.real();
        return loss.imag() / 1e-150;
      };
      auto const compare = [&](nearness& near, tensor<T> const& gradient, std::vector<Real>& of) {
        s.span(n).for_each([&](index t) {
          for (index i = 0, width = gradient.view().extent[3]; i < width; ++i)
            near.add(static_cast<double>(gradient(row, t, h, i)),
                     derivative(of[static_cast<std::size_t>(t * width + i)]));
        });
      };
      compare(query_near, dq, x.query), compare(key_near, dk, x.key);
      compare(value_near, dv, x.value);
      if (Decay != forgets::never) compare(decay_near, dw, x.decay);
      if (erase) compare(read_near, dr, x.erase_read), compare(write_near, da, x.erase_write);
      double direct_sum = 0;
      s.span(n).for_each([&](index t) {
        direct_sum +=
            static_cast<double>(dd[static_cast<std::size_t>((row * time + t) * heads + h)]);
      });
      direct_near.add(direct_sum, derivative(x.direct));
      for (index i = 0; i < rows; ++i)
        for (index j = 0; j < size_.columns; ++j)
          state_near.add(static_cast<double>(found.values(n, h, i, j)),
                         derivative(x.state[static_cast<std::size_t>(i * size_.columns + j)]));
    }
  EXPECT_LT(query_near.both(), bound);
  EXPECT_LT(key_near.both(), bound);
  EXPECT_LT(value_near.both(), bound);
  EXPECT_LT(decay_near.both(), bound);
  EXPECT_LT(read_near.both(), bound);
  EXPECT_LT(write_near.both(), bound);
  EXPECT_LT(direct_near.both(), bound);
  EXPECT_LT(state_near.both(), bound);
}

}  // namespace support
