// A contest of a keyed memory: its data, wane's pass, the loop's, and how far they are from double.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/buffers.hpp"
#include "kernels/keyed_loops.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"
#include "wane/operators/parts/keyed.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {

inline constexpr index keyed_heads = 16;
// Beyond this number of tokens the loops, some seconds each, are not timed.
inline constexpr index loop_tokens_at_most = 4096;

// How an input is drawn: a number or a row of each token and head, uniform in [low, high); unit
// rows then get the length 1. The gradient of a parameter is a sum over tokens. With by_head, head
// h of H has low + h / H (high - low).
struct drawn {
  enum { absent, number, row, unit_row } each = absent;
  double low = -1, high = 1;
  bool for_all_tokens = false, for_all_heads = false, is_parameter = false, by_head = false;
};

struct keyed_row {
  std::string name;
  double flops;  // useful ones forward, of each number of the state and token
  keyed_inputs_of<drawn> in;
  pass what = pass::forward;
  index rows = 64, columns = 64, tokens = 1;
  int threads = 1;

  keyed_row(std::string const& n, double f, keyed_inputs_of<drawn> const& own)
      : name(n), flops(f), in(own) {
    for (drawn* const x : {&in.query, &in.key})
      if (x->each == drawn::absent) x->each = drawn::unit_row;
    in.value = {drawn::row};
  }

  // Names arguments as Mamba does, P columns and N rows, where heads share their keys.
  std::string full_name() const {
    std::string const size = in.key.for_all_heads
                                 ? "/P:" + std::to_string(columns) + "/N:" + std::to_string(rows)
                                 : "/D:" + std::to_string(columns);
    return name + name_of(what) + "/H:" + std::to_string(keyed_heads) + size +
           "/T:" + std::to_string(tokens) + "/threads:" + std::to_string(threads);
  }
};

struct keyed_problem {
  keyed_row row;
  buffers memory;
  keyed_arrays p;
  // For each head: the state before the first token and the loop's state. `state` is wane's in
  // step.
  std::vector<keyed_matrix<float>> initial, of_loop;
  float* state = nullptr;
  std::vector<keyed_matrix<float>> kept;  // room for the loop backward
  std::vector<std::span<float>> outputs;
  numbers next;

  explicit keyed_problem(keyed_row const& r)
      : row(r), p{r.tokens, keyed_heads, r.rows, r.columns, {}, {}, {}, {}} {
    for_each_input(
        [&](drawn const& how, keyed_tensor& to) {
          bool const by_column = &to == &p.in.value || &to == &p.in.beta;
          to = input(how, by_column ? r.columns : r.rows);
        },
        row.in, p.in);
    if (r.what == pass::backward) {
      p.output_gradient = input(r.in.value, r.columns);
      for_each_input(
          [&](drawn const& how, keyed_tensor const& from, keyed_tensor& to) {
            if (from.data) to = result(from.width, how.is_parameter ? keyed_heads : 0);
          },
          r.in, p.in, p.gradients);
      return;
    }
    p.output = result(r.columns);
    initial.assign(keyed_heads, keyed_matrix<float>::Zero(r.rows, r.columns));
    if (r.what == pass::step) {
      index const count = r.rows * r.columns;
      state = memory.add<float>(keyed_heads * count);
      for (index i = 0; i < keyed_heads * count; ++i) state[i] = static_cast<float>(next(-1, 1));
      for (index h = 0; h < keyed_heads; ++h)
        initial[static_cast<std::size_t>(h)] =
            Eigen::Map<keyed_matrix<float>>(state + h * count, r.rows, r.columns);
    }
    of_loop = initial;
  }

  keyed_tensor input(drawn const& how, index row_width) {
    if (how.each == drawn::absent) return {};
    index const width = how.each == drawn::number ? 1 : row_width;
    index const shared_by = how.for_all_heads ? keyed_heads : 1, heads = keyed_heads / shared_by;
    keyed_tensor const x{memory.add<float>(p.tokens * heads * width), width, shared_by};
    index const own = how.for_all_tokens ? heads * width : p.tokens * heads * width;
    for (index i = 0; i < p.tokens * heads * width; ++i)
      x.data[i] = i < own ? static_cast<float>(next(how.low, how.high)) : x.data[i - own];
    for (index i = 0; how.by_head && i < p.tokens * heads * width; ++i)
      x.data[i] = static_cast<float>(how.low + (how.high - how.low) * double(i / width % heads) /
                                                   double(heads));
    for (index i = 0; how.each == drawn::unit_row && i < p.tokens * heads; ++i)
      x.at(i * shared_by).normalize();
    return x;
  }
  keyed_tensor result(index width, index sums = 0) {
    index const count = (sums > 0 ? 1 : p.tokens) * keyed_heads * width;
    keyed_tensor const x{memory.add<float>(count), width, 1, sums};
    outputs.emplace_back(x.data, static_cast<std::size_t>(count));
    return x;
  }

  sequence_view<float> rows(keyed_tensor const& x) const {
    return {x.data, 1, p.tokens, keyed_heads / x.shared_by, x.width};
  }
  token_view<float> whole(keyed_tensor const& x) const {
    return {x.data, 1, p.tokens, keyed_heads};
  }
  view<float, 1> of_heads(keyed_tensor const& x) const { return {x.data, keyed_heads}; }
  wane::keyed_inputs<float> inputs() const {
    return {.query = rows(p.in.query), .key = rows(p.in.key), .value = rows(p.in.value)};
  }
};

// The destinations of an operator's gradients: keyed ones, or Mamba-2's.
template <class Op>
typename Op::gradients gradients_of(keyed_problem const& problem) {
  auto const& d = problem.p.gradients;
  typename Op::gradients to;
  if constexpr (requires { to.dt; }) {
    to.x = problem.rows(d.value), to.dt = problem.whole(d.time_step);
    to.B = problem.rows(d.key), to.C = problem.rows(d.query);
    to.A = problem.of_heads(d.log_decay);
  } else if constexpr (requires { to.beta; }) {
    to.query = problem.rows(d.query), to.key = problem.rows(d.key);
    to.value = problem.rows(d.value), to.beta = problem.rows(d.beta);
  } else {
    to.query = problem.rows(d.query), to.value = problem.rows(d.value);
    if constexpr (requires { to.key; }) to.key = problem.rows(d.key);
    if constexpr (std::is_convertible_v<decltype(to.log_decay), sequence_view<float>>)
      to.log_decay = problem.rows(d.log_decay);
    else if constexpr (std::is_convertible_v<decltype(to.log_decay), token_view<float>>)
      to.log_decay = problem.whole(d.log_decay);
  }
  if constexpr (requires { to.strength; }) to.strength = problem.whole(d.strength);
  if constexpr (requires { to.removal; }) to.removal = problem.rows(d.removal);
  if constexpr (requires { to.rate; }) to.rate = problem.rows(d.rate);
  if constexpr (requires { to.erase_gate; }) to.erase_gate = problem.rows(d.rate);
  if constexpr (requires { to.write_gate; }) to.write_gate = problem.rows(d.beta);
  return to;
}

template <pass What, class Op>
void wane_pass(keyed_problem const& problem, Op const& op) {
  auto const& p = problem.p;
  int const threads = problem.row.threads;
  if constexpr (What == pass::forward)
    timed_run(op, problem.rows(p.output), run_options<float>{.threads = threads});
  else if constexpr (What == pass::step)
    timed_step(op, problem.rows(p.output),
               state_view<float>{{problem.state, 1, keyed_heads, p.rows, p.columns}});
  else
    timed_adjoint(op, problem.rows(p.output_gradient), gradients_of<Op>(problem),
                  adjoint_options<float>{.threads = threads});
}

template <pass What, class Loops>
void loop_pass(keyed_problem& problem) {
  auto const& p = problem.p;
  if constexpr (What == pass::forward) problem.of_loop = problem.initial;
  for (index h = 0; h < keyed_heads; ++h)
    if constexpr (What == pass::backward)
      Loops::backward(p, h, problem.kept, [&](index at, auto const& g) {
        for_each_input(
            [&](keyed_tensor const& to, keyed_vector<float> const& from) {
              if (!to.data) return;
              bool const adds = to.sums > 0 && at / keyed_heads + 1 < p.tokens;
              to.at(at) = adds ? to.at(at) + from : from;
            },
            p.gradients, g);
      });
    else
      Loops::forward(p, h, problem.of_loop[static_cast<std::size_t>(h)],
                     [&](index at, auto const& y) { p.output.at(at) = y; });
}

// Compares four of the heads; returns the largest error of the results.
template <pass What, class Loops>
double keyed_error(keyed_problem const& problem) {
  auto const& p = problem.p;
  difference of_output;
  keyed_inputs_of<difference> of;
  auto const compare = [](index at, keyed_tensor const& is, keyed_vector<double> const& must_be,
                          difference& found) {
    for (index i = 0; i < is.width; ++i) found.add(double(is.at(at)[i]), must_be[i]);
  };
  // Tokens come in reverse: a sum is whole with the first one.
  keyed_inputs_of<keyed_vector<double>> sums;
  auto const compare_or_add = [&](index at, keyed_tensor const& is,
                                  keyed_vector<double> const& part, difference& found,
                                  keyed_vector<double>& sum) {
    if (is.sums == 0) return compare(at, is, part, found);
    sum = at / keyed_heads + 1 < p.tokens ? keyed_vector<double>(sum + part) : part;
    if (at < keyed_heads) compare(at, is, sum, found);
  };
  std::vector<keyed_matrix<double>> kept;
  for (index h = 0; h < keyed_heads; h += 5)
    if constexpr (What == pass::backward) {
      Loops::backward(p, h, kept, [&](index at, auto const& g) {
        for_each_input([&](auto&... x) { compare_or_add(at, x...); }, p.gradients, g, of, sums);
      });
    } else {
      keyed_matrix<double> s = problem.initial[static_cast<std::size_t>(h)].template cast<double>();
      Loops::forward(p, h, s,
                     [&](index at, auto const& y) { compare(at, p.output, y, of_output); });
    }
  if constexpr (What != pass::backward) return of_output.relative();
  double largest = 0;
  for_each_input(
      [&](keyed_tensor const& is, difference const& found) {
        if (is.data) largest = larger(largest, found.relative());
      },
      p.gradients, of);
  return largest;
}

// make(problem) is the operator.
template <pass What, class Loops = keyed_loops, class Make>
void add_keyed_row(keyed_row row, Make const& make) {
  row.what = What;
  add_row(row.full_name(), [row, make] {
    auto const problem = std::make_shared<keyed_problem>(row);
    index const state = keyed_heads * row.rows * row.columns;
    contest c;
    c.ours = [problem, make] { wane_pass<What>(*problem, make(*problem)); };
    if (row.tokens <= loop_tokens_at_most)
      c.rivals = {{"vs_sequential", [problem] { loop_pass<What, Loops>(*problem); }}};
    c.tokens = static_cast<double>(row.tokens);
    c.flops = row.flops * static_cast<double>(row.tokens * state);
    if (What == pass::backward) c.flops *= 2.5;
    c.moved.threads = row.threads;
    if (problem->state) {
      c.moved.reads = {problem->state}, c.moved.writes = {problem->state};
      c.moved.bytes = state * index(sizeof(float));
    }
    c.outputs = problem->outputs;
    c.error = [problem] { return keyed_error<What, Loops>(*problem); };
    return c;
  });
}

}  // namespace wane::bench
