// One run of exponential_bank on random inputs, compared with the naive loop.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/linear_case.hpp"
#include "wane/operators/exponential_bank.hpp"

namespace support {

struct bank_shape {
  index rows = 1;
  linear_shape of;
  bool direct = true;
};

template <class Io, class Accumulate = wane::widened<Io>>
struct bank_case {
  using op_type = wane::exponential_bank<Io, Accumulate>;
  using Real = decltype(wide(Accumulate{}));
  bank_shape shape;
  std::vector<Accumulate> log_decay, key, query, direct;  // [H, S] and [H]
  tensor<Io> values, output;
  wane::recurrent_state<Accumulate> initial, final;

  explicit bank_case(bank_shape const& s, std::uint64_t seed = 1)
      : shape(s),
        values(s.of.batch, s.of.time, s.of.heads, s.of.columns, s.of.inputs),
        output(s.of.batch, s.of.time, s.of.heads, s.of.columns, s.of.output),
        initial(s.of.sequences(), s.of.heads, s.rows, s.of.columns),
        final(s.of.sequences(), s.of.heads, s.rows, s.of.columns) {
    random_values random(seed);
    for (index i = 0; i < s.of.heads * s.rows; ++i) {
      if constexpr (wane::is_complex<Accumulate>)
        log_decay.emplace_back(static_cast<wane::real_type<Accumulate>>(random.log_decay(1e-4, 2)),
                               static_cast<wane::real_type<Accumulate>>(random.uniform(-3, 3)));
      else
        log_decay.push_back(static_cast<Accumulate>(random.log_decay(1e-4, 2)));
      key.push_back(random_number<Accumulate>(random));
      query.push_back(random_number<Accumulate>(random));
    }
    for (index h = 0; s.direct && h < s.of.heads; ++h)
      direct.push_back(random_number<Accumulate>(random));
    values.fill([&](auto...) { return random_number<Io>(random); });
    for (auto& x : initial.values())
      if (s.of.carries) x = random_number<Accumulate>(random);
    for (auto& x : final.values()) x = not_a_number<Accumulate>();
  }

  wane::exponential_bank_inputs<Io, Accumulate> in() const {
    index const heads = shape.of.heads;
    wane::exponential_bank_inputs<Io, Accumulate> all{
        .value = values,
        .log_decay = {log_decay.data(), heads, shape.rows},
        .key = {key.data(), heads, shape.rows},
        .query = {query.data(), heads, shape.rows}};
    if (shape.direct) all.direct = {direct.data(), heads};
    return all;
  }
  op_type op() const { return op_type(in()); }
  wane::run_options<Accumulate> options() {
    wane::run_options<Accumulate> o;
    if (shape.of.carries) o.initial = std::as_const(initial);
    o.final = final;
    o.direction = shape.of.direction;
    o.threads = shape.of.threads;
    o.packed = {shape.of.starts};
    return o;
  }
  void run() { wane::run(op(), output.view(), options()); }
  void run_by(auto const& runner) { runner(op(), output.view(), options()); }

  template <class Number>
  naive_nodes<Number> head(index h) const {
    naive_nodes<Number> n;
    for (index s = 0; s < shape.rows; ++s) {
      auto const i = static_cast<std::size_t>(h * shape.rows + s);
      n.log_decay.push_back(Number(wide(log_decay[i])));
      n.key.push_back(Number(wide(key[i])));
      n.query.push_back(Number(wide(query[i])));
    }
    if (shape.direct) n.direct = Number(wide(direct[static_cast<std::size_t>(h)]));
    return n;
  }
  // Of outputs, relative to the sum of the sizes of their terms, and of states, relative to the
  // largest they were: both may cancel, the roundings do not.
  double error() {
    nearness of_output, of_state;
    wane::state_view<Accumulate> const before = initial, after = final;
    for (index n = 0; n < shape.of.sequences(); ++n)
      for (index h = 0; h < shape.of.heads; ++h) {
        auto const nodes_of_head = head<Real>(h);
        for (index c = 0; c < shape.of.columns; ++c) {
          index const b = shape.of.row(n);
          std::vector<Real> state;
          std::vector<double> largest(static_cast<std::size_t>(shape.rows));
          for (index s = 0; s < shape.rows; ++s) state.push_back(wide(before.values(n, h, s, c)));
          naive_bank<Real>(
              shape.of.span(n), nodes_of_head, state,
              [&](index t) { return wide(values(b, t, h, c)); },
              [&](index t, Real y, double size) {
                of_output.add(wide(output(b, t, h, c)), y, size);
                for (std::size_t s = 0; s < state.size(); ++s)
                  largest[s] = std::max(largest[s], static_cast<double>(std::abs(state[s])));
              });
          for (index s = 0; s < shape.rows; ++s) {
            auto const i = static_cast<std::size_t>(s);
            of_state.add(wide(after.values(n, h, s, c)), state[i], largest[i]);
          }
        }
      }
    return std::max(of_output.both(), of_state.both());
  }
};

template <class Io, class Accumulate = wane::widened<Io>>
double bank_error(bank_shape const& shape) {
  bank_case<Io, Accumulate> run(shape);
  run.run();
  EXPECT_TRUE(run.output.margins_untouched() && run.values.margins_untouched());
  return run.error();
}

}  // namespace support
