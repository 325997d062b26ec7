// A long run of one operator: in float by `run` and by `step`, beside `step` in double.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "long_runs/tokens.hpp"
#include "shared/stopwatch.hpp"

namespace wane::bench {

// How often operator new was called by this program, and the bytes of memory that it holds.
long news();
long resident_bytes();

struct long_run {
  index tokens = 0;
  double run_seconds = 0, step_seconds = 0;
  double run_error = 0, step_error = 0;  // the largest of all pieces so far
  long step_news = 0;
  long growth = 0;  // of the resident memory, in bytes, since `settled` tokens
};

struct long_run_plan {
  index tokens, piece, settled;
  // Is told how far the run is: after 10^5, 10^6, ... tokens and at the end.
  std::function<void(long_run const&)> report;
};

struct long_row {
  std::string name;
  double memory;  // tokens until a state has forgotten all but 1/e of what was written
  long_run (*measure)(long_run_plan const&);
  bool step_allocates = false;  // as `step` says: pairs, levels and memories that are led

  // Beyond so many tokens the operator needs an accumulator of double (docs/numerics.md).
  index most_tokens = std::numeric_limits<index>::max();

  long_row that_allocates() && {
    step_allocates = true;
    return std::move(*this);
  }
  long_row up_to(index tokens) && {
    most_tokens = tokens;
    return std::move(*this);
  }

  // The error of a float state, docs/numerics.md: 2^-24 sqrt(min(T, memory)), three times for the
  // largest of many, and 1e-6 where a memory is short.
  double bound(index count) const {
    return std::max(1e-6, 3 * 0x1p-24 * std::sqrt(std::min(static_cast<double>(count), memory)));
  }
};

// The operators, by file.
std::vector<long_row> channel_rows(), gated_rows(), delta_rows(), selective_rows();

// The largest difference over the largest right value, and the same by norms: the larger of both.
template <class Is, class Right>
double distance(std::vector<Is> const& is, std::vector<Right> const& right) {
  double apart = 0, largest = 0, squares = 0, all = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    double const d = std::abs(static_cast<double>(is[i]) - static_cast<double>(right[i])),
                 r = std::abs(static_cast<double>(right[i]));
    if (std::isnan(d)) return d;
    apart = std::max(apart, d), largest = std::max(largest, r), squares += d * d, all += r * r;
  }
  return std::max(apart / largest, std::sqrt(squares / all));
}

// The larger of two errors, NaN if one is.
inline double worse(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

// make(tokens, begin, end) is the operator over these tokens of the buffer. Each piece begins
// elsewhere in the buffer and has values and keys of its own, so that no run is periodic.
template <class Make>
long_run measure_long(Make const& make, long_run_plan const& plan) {
  index const buffered = 2 * plan.piece;
  tokens<float> x(buffered);
  tokens<double> wide(buffered);
  using op = decltype(make(x, 0, 1));
  using wide_op = decltype(make(wide, 0, 1));
  auto const shape = output_shape_of(make(x, 0, plan.piece));
  recurrent_state<accumulate_type<op>> by_run(make(x, 0, 1)), by_step = by_run;
  recurrent_state<accumulate_type<wide_op>> exact(make(wide, 0, 1));
  auto const count = static_cast<std::size_t>(plan.piece * shape.heads * shape.columns);
  std::vector<output_type<op>> y(count);
  std::vector<output_type<wide_op>> right(count);
  auto const output = [&](auto& of, index n) {
    using number = typename std::remove_cvref_t<decltype(of)>::value_type;
    return sequence_view<number>(of.data(), 1, plan.piece, shape.heads, shape.columns).tokens(0, n);
  };

  long_run found;
  std::mt19937 random(1);
  long settled = 0;
  index next_report = 100000;
  while (found.tokens < plan.tokens) {
    index const n = std::min(plan.piece, plan.tokens - found.tokens);
    index const begin = static_cast<index>(random() % static_cast<unsigned>(buffered - n + 1));
    x.renew(begin, begin + n), wide.renew(begin, begin + n);
    step(make(wide, begin, begin + n), output(right, n), exact);

    double const start = seconds_now(1);
    run_options<accumulate_type<op>> options;
    options.initial = by_run, options.final = by_run, options.threads = 1;
    run(make(x, begin, begin + n), output(y, n), options);
    double const ran = seconds_now(1);
    found.run_error = worse(found.run_error, distance(y, right));

    long const before = news();
    double const stepping = seconds_now(1);
    for (index t = 0; t < n; ++t)
      step(make(x, begin + t, begin + t + 1), output(y, n).tokens(t, t + 1), by_step);
    found.step_seconds += seconds_now(1) - stepping, found.run_seconds += ran - start;
    found.step_news += news() - before;
    found.step_error = worse(found.step_error, distance(y, right));

    found.tokens += n;
    if (settled == 0 && found.tokens >= plan.settled) settled = resident_bytes();
    if (found.tokens >= next_report || found.tokens == plan.tokens) {
      found.growth = settled == 0 ? 0 : resident_bytes() - settled;
      plan.report(found);
      while (next_report <= found.tokens) next_report *= 10;
    }
  }
  return found;
}

// A row of the table from a generic function, which has no captures.
template <class Make>
long_row row(std::string name, double memory, Make) {
  return {std::move(name), memory,
          [](long_run_plan const& plan) { return measure_long(Make{}, plan); }};
}

}  // namespace wane::bench
