// The data of a case in double, and the results of the CPU for them.
// SPDX-License-Identifier: MIT
#include "selftest/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "selftest/call.hpp"
#include "wane/run/run.hpp"

namespace wane::selftest {
namespace {

class numbers {
 public:
  double operator()(double low, double high) {
    return low + (high - low) * static_cast<double>(draw_()) / 4294967296.0;
  }
  // A value: uniform in [-1, 1), both parts of a complex one.
  template <class Wide>
  Wide signed_value() {
    if constexpr (is_complex<Wide>) {
      double const re = (*this)(-1, 1), im = (*this)(-1, 1);
      return {re, im};
    } else {
      return (*this)(-1, 1);
    }
  }
  // log w of a decay that forgets in about `memory` tokens. A complex one turns meanwhile; one that
  // turns faster is no more exact than its factor in float, in which it errs alike every time.
  template <class Wide>
  Wide log_decay(double memory) {
    double const re = -(*this)(0.2, 2) / memory;
    if constexpr (is_complex<Wide>)
      return {re, (*this)(-0.5, 0.5) * std::min(1.0, 6 / memory)};
    else
      return re;
  }

 private:
  std::mt19937 draw_{1};
};

template <class Wide>
std::vector<Wide> signed_values(numbers& next, index count) {
  std::vector<Wide> values(static_cast<std::size_t>(count));
  for (Wide& x : values) x = next.template signed_value<Wide>();
  return values;
}

template <class Wide>
void give_decays(problem<Wide>& p, numbers& next) {
  bool const logs = p.what == form::log;
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    Wide const log = next.template log_decay<Wide>(p.asked.memory);
    Wide const decay = logs ? log : std::exp(log);
    Wide const reset = logs ? Wide(-std::numeric_limits<double>::infinity()) : Wide(0);
    p.decay.push_back(p.asked.resets && i % 997 == 0 ? reset : decay);
  }
}

// Of a memory: keys and queries, how fast it fades, how much of what a key finds is replaced.
template <class Wide>
void give_keys(problem<Wide>& p, numbers& next) {
  scenario const& s = p.asked;
  index const tokens = s.batch * s.time * s.heads;
  p.key = signed_values<Wide>(next, tokens * memory_rows);
  p.query = signed_values<Wide>(next, tokens * memory_rows);
  for (index i = 0; i < tokens; ++i) {
    double const log = next.template log_decay<double>(s.memory);
    p.decay.push_back(s.resets && i % 97 == 0 ? -std::numeric_limits<double>::infinity() : log);
    p.direct.push_back(next(0.1, 1));
  }
}

// Timescales from one token up to the memory.
template <class Wide>
void give_nodes(problem<Wide>& p, numbers& next) {
  for (index h = 0; h < p.asked.heads; ++h) {
    for (index s = 0; s < bank_rows; ++s) {
      double const part = static_cast<double>(s) / (bank_rows - 1);
      p.decay.push_back(next.template log_decay<Wide>(std::pow(p.asked.memory, part)));
      p.key.push_back(Wide(next(0.5, 1)));
      p.query.push_back(Wide(next(0.5, 1)));
    }
    p.direct.push_back(Wide(next(-1, 1)));
  }
}

}  // namespace

template <class Wide>
problem<Wide> make_problem(form what, scenario const& asked) {
  numbers next;
  problem<Wide> p{what, asked, {}, {}, {}, {}, {}, {}, {}};
  p.values = signed_values<Wide>(next, asked.batch * asked.time * asked.heads * asked.columns);
  if (is_memory(what))
    give_keys(p, next);
  else if (what == form::bank)
    give_nodes(p, next);
  else
    give_decays(p, next);
  if (asked.carried) {
    p.initial = signed_values<Wide>(next, asked.sequences() * asked.heads * p.rows() * p.columns());
    // A penalty before its first token is zeros.
    for (std::size_t i = 0; i < p.initial.size(); ++i)
      if (static_cast<index>(i) % p.columns() >= asked.columns) p.initial[i] = 0;
    for (index n = 0; n < asked.sequences(); ++n) p.positions.push_back(10 * n);
  }
  return p;
}

template <class Wide>
answer<Wide> oracle(problem<Wide> const& data) {
  host_memory memory;
  auto const on_cpu = [](auto const& op, auto output, auto const& options) {
    run(op, output, options);
  };
  switch (data.what) {
    case form::log:
      return call<form::log, Wide>(data, memory, on_cpu);
    case form::factor:
      return call<form::factor, Wide>(data, memory, on_cpu);
    case form::bank:
      return call<form::bank, Wide>(data, memory, on_cpu);
    default:
      break;
  }
  if constexpr (is_complex<Wide>) {
    throw error("memories with keys are asked in real numbers");
  } else {
    if (data.what == form::delta) return call<form::delta, Wide>(data, memory, on_cpu);
    return call<form::vla, Wide>(data, memory, on_cpu);
  }
}

template problem<double> make_problem(form, scenario const&);
template problem<std::complex<double>> make_problem(form, scenario const&);
template answer<double> oracle(problem<double> const&);
template answer<std::complex<double>> oracle(problem<std::complex<double>> const&);

}  // namespace wane::selftest
