// Rows of wane-bench: a name and how to prepare its contest.
// SPDX-License-Identifier: MIT
#include "kernels/row.hpp"

#include <benchmark/benchmark.h>

#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "kernels/passes.hpp"
#include "shared/number_text.hpp"

namespace wane::bench {
namespace {

bool failed = false;
std::vector<std::string> names;
// The loop that comes closest to us in each row that was measured.
struct closest_loop {
  std::string row, counter;
  double ratio;  // its time over ours
};
std::vector<closest_loop> closest;

// The current row. Google Benchmark calls a row several times, with more and more iterations; the
// contest is held at the first call.
struct turn {
  std::string name;
  std::optional<contest> what = {};
  std::map<std::string, double> counters = {};
  std::string problem = {}, runner = {};
};
turn current;

void take_turn(std::string const& name, std::function<contest()> const& prepare) {
  current = turn{name};
  try {
    current.what = prepare();
    name_of_runner = &current.runner;
    if (current.what->by_runners) current.what->ours();
    name_of_runner = nullptr;
    current.counters = held(*current.what);
    closest_loop least{name, "", std::numeric_limits<double>::infinity()};
    for (rival const& r : current.what->rivals)
      if (double const ratio = current.counters[r.counter]; r.is_loop && ratio < least.ratio)
        least.counter = r.counter, least.ratio = ratio;
    closest.push_back(least);
  } catch (std::exception const& e) {
    current.problem = e.what();
    failed = true;
  }
}

}  // namespace

void add_row(std::string const& name, std::function<contest()> prepare) {
  names.push_back(name);
  benchmark::RegisterBenchmark(name.c_str(), [name, prepare](benchmark::State& state) {
    if (current.name != name) take_turn(name, prepare);
    if (!current.problem.empty()) return state.SkipWithError(current.problem.c_str());
    for ([[maybe_unused]] auto _ : state) current.what->ours();
    for (auto const& [counter, value] : current.counters) state.counters[counter] = value;
    state.SetLabel(current.runner);
  });
}

std::vector<std::string> const& names_of_rows() { return names; }

bool any_row_failed() { return failed; }

std::vector<std::string> rows_slower_than(double times) {
  std::vector<std::string> lines;
  for (closest_loop const& c : closest)
    if (c.ratio < times) lines.push_back(c.row + "  " + c.counter + formatted(" %.2f", c.ratio));
  return lines;
}

}  // namespace wane::bench
