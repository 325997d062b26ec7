// The adjoint of one exponential_bank, compared with derivatives of the naive loop.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/bank_case.hpp"
#include "wane/run/adjoint.hpp"

namespace support {

// Gradients of L = sum of dy y + sum of dfinal final, by every input of the bank.
template <class Io, class Accumulate = wane::widened<Io>>
struct bank_gradients {
  using gradients_type = typename bank_case<Io, Accumulate>::op_type::gradients;
  bank_case<Io, Accumulate> run;
  tensor<Io> dy, value;
  std::vector<Accumulate> log_decay, key, query, direct;
  wane::recurrent_state<Accumulate> last, initial;

  explicit bank_gradients(bank_shape const& s)
      : run(s),
        dy(s.of.batch, s.of.time, s.of.heads, s.of.columns, s.of.output),
        value(s.of.batch, s.of.time, s.of.heads, s.of.columns, s.of.output),
        log_decay(run.log_decay.size(), Accumulate(-7)),
        key(log_decay),
        query(log_decay),
        direct(run.direct.size(), Accumulate(-7)),
        last(s.of.sequences(), s.of.heads, s.rows, s.of.columns),
        initial(s.of.sequences(), s.of.heads, s.rows, s.of.columns) {
    random_values random(77);
    dy.fill([&](auto...) { return random.uniform(-1, 1); });
    for (auto& x : last.values()) x = static_cast<Accumulate>(random.uniform(-1, 1));
  }

  gradients_type gradients() {
    index const heads = run.shape.of.heads, rows = run.shape.rows;
    return {.value = value,
            .log_decay = {log_decay.data(), heads, rows},
            .key = {key.data(), heads, rows},
            .query = {query.data(), heads, rows},
            .direct = {direct.data(), heads}};
  }
  wane::adjoint_options<Accumulate> options() {
    auto const& s = run.shape.of;
    wane::adjoint_options<Accumulate> o;
    if (s.carries) o.initial = std::as_const(run.initial);
    o.final_gradient = std::as_const(last);
    o.initial_gradient = initial;
    o.packed = {s.starts};
    o.direction = s.direction;
    o.threads = s.threads;
    return o;
  }
  wane::sequence_view<Io const> output_gradient() const { return dy.view(); }
  void find() { wane::adjoint(run.op(), output_gradient(), gradients(), options()); }

  // The largest error of a gradient over the largest gradient, of each input, by complex steps.
  double error() {
    using Real = std::complex<double>;
    auto const& s = run.shape.of;
    wane::state_view<Accumulate> const before = run.initial, end = last, found = initial;
    nearness of_values, of_initial, of_nodes[4];
    for (index h = 0; h < s.heads; ++h) {
      auto nodes = run.template head<Real>(h);
      // The loss of one column, as far as it depends on the numbers of its walk.
      auto const loss = [&](index n, index c, std::vector<Real> const& v, std::vector<Real> state) {
        Real total = 0;
        support::naive_bank<Real>(
            s.span(n), nodes, state, [&](index t) { return v[static_cast<std::size_t>(t)]; },
            [&](index t, Real y, double) {
              total += static_cast<double>(dy(s.row(n), t, h, c)) * y;
            });
        for (index i = 0; i < run.shape.rows; ++i)
          total += static_cast<double>(end.values(n, h, i, c)) * state[static_cast<std::size_t>(i)];
        return total.imag() / step;
      };
      auto const column = [&](index n, index c, auto const& body) {
        std::vector<Real> v(static_cast<std::size_t>(s.time)), state;
        for (index t = 0; t < s.time; ++t)
          v[static_cast<std::size_t>(t)] = static_cast<double>(run.values(s.row(n), t, h, c));
        for (index i = 0; i < run.shape.rows; ++i)
          state.push_back(static_cast<double>(before.values(n, h, i, c)));
        body(v, state);
      };
      auto const total = [&](Real& x) {
        x += Real(0, step);
        double sum = 0;
        for (index n = 0; n < s.sequences(); ++n)
          for (index c = 0; c < s.columns; ++c)
            column(n, c, [&](auto& v, auto& state) { sum += loss(n, c, v, state); });
        x = x.real();
        return sum;
      };
      for (index i = 0; i < run.shape.rows; ++i) {
        auto const k = static_cast<std::size_t>(i),
                   at = static_cast<std::size_t>(h * run.shape.rows + i);
        of_nodes[0].add(static_cast<double>(log_decay[at]), total(nodes.log_decay[k]));
        of_nodes[1].add(static_cast<double>(key[at]), total(nodes.key[k]));
        of_nodes[2].add(static_cast<double>(query[at]), total(nodes.query[k]));
      }
      if (run.shape.direct)
        of_nodes[3].add(static_cast<double>(direct[static_cast<std::size_t>(h)]),
                        total(nodes.direct));
      for (index n = 0; n < s.sequences(); ++n)
        for (index c = 0; c < s.columns; ++c)
          column(n, c, [&](auto& v, auto& state) {
            auto const by = [&](Real& x) {
              x += Real(0, step);
              double const derivative = loss(n, c, v, state);
              x = x.real();
              return derivative;
            };
            s.span(n).for_each([&](index t) {
              of_values.add(static_cast<double>(value(s.row(n), t, h, c)),
                            by(v[static_cast<std::size_t>(t)]));
            });
            for (index i = 0; i < run.shape.rows; ++i)
              of_initial.add(static_cast<double>(found.values(n, h, i, c)),
                             by(state[static_cast<std::size_t>(i)]));
          });
    }
    return std::max({of_values.both(), of_initial.both(), of_nodes[0].both(), of_nodes[1].both(),
                     of_nodes[2].both(), of_nodes[3].both()});
  }

 private:
  static constexpr double step = 1e-150;
};

}  // namespace support
