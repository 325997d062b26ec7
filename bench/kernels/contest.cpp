// A contest: our kernel, the loops it is compared with, the work they do, and the oracle's verdict.
// SPDX-License-Identifier: MIT
#include "kernels/contest.hpp"

#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "kernels/caches.hpp"
#include "kernels/fma_peak.hpp"
#include "shared/stopwatch.hpp"

namespace wane::bench {
namespace {

// A row is measured for this long, or for five rounds if these take longer.
constexpr double seconds_a_row = 2;
constexpr std::size_t rounds_at_least = 5, rounds_at_most = 301;
// Short work is repeated for at least this long, so that the clock resolves it. Several threads
// need longer, because it takes time to start them together on a busy machine.
double seconds_at_least(int threads) { return threads == 1 ? 200e-6 : 20e-3; }
index multiply_add_rounds(int threads) { return threads == 1 ? 50000 : 2000000; }

struct entrant {
  std::function<void()> run;
  int repetitions = 1;
  std::vector<double> seconds = {};
};

// The error after `run`, whose outputs start as NaN.
double error_of(std::function<void()> const& run, contest const& what) {
  for (auto const& output : what.outputs) std::memset(output.data(), 0xff, output.size_bytes());
  if (what.outputs.empty())
    for (void* output : what.moved.writes)
      std::memset(output, 0xff, static_cast<std::size_t>(what.moved.bytes));
  run();
  return what.error();
}

// Rounding of long sums grows with the input, so the bound for ours is four times the least error
// of the loops, or 32 ulp where that is more. The bound for the loops is 1000 times 32 ulp.
double checked_error(contest const& what) {
  double const ulp = what.in_double ? std::numeric_limits<double>::epsilon()
                                    : double(std::numeric_limits<float>::epsilon());
  double const ours = error_of(what.ours, what);
  double theirs = std::numeric_limits<double>::infinity();
  for (auto const& r : what.rivals)
    if (r.is_loop) {
      double const error = error_of(r.run, what);
      if (!(error < 32000 * ulp))
        throw std::runtime_error(r.counter + ": the loop is wrong, its error is " +
                                 std::to_string(error));
      theirs = std::min(theirs, error);
    }
  double const bound = std::max(32 * ulp, theirs < 1 ? 4 * theirs : 0);
  if (!(ours <= bound)) {
    char text[96];
    std::snprintf(text, sizeof text, "disagrees with the oracle: error %.3g, bound %.3g", ours,
                  bound);
    throw std::runtime_error(text);
  }
  return ours;
}

// Runs all entrants in every round until the time is up. The entrant that runs first changes from
// round to round.
void hold(std::vector<entrant>& entrants, int threads) {
  for (auto& e : entrants) {
    e.run();
    double const once = std::max(seconds_of(e.run, 1, threads), 1e-9);
    e.repetitions = std::max(1, static_cast<int>(seconds_at_least(threads) / once));
  }
  double const begin = seconds_now(0);
  for (std::size_t round = 0; round < rounds_at_most; ++round) {
    if (round >= rounds_at_least && seconds_now(0) - begin > seconds_a_row) break;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      auto& e = entrants[(i + round) % entrants.size()];
      if (e.repetitions > 1) e.run();  // its data back into the cache
      e.seconds.push_back(seconds_of(e.run, e.repetitions, threads));
    }
  }
}

// The median of a over b, round by round.
double ratio(entrant const& a, entrant const& b) {
  std::vector<double> ratios(a.seconds.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = a.seconds[i] / b.seconds[i];
  return median(ratios);
}

}  // namespace

std::map<std::string, double> held(contest const& what) {
  std::map<std::string, double> counters{{"max_rel_error", checked_error(what)}};
  int const threads = what.moved.threads;
  index const rounds = multiply_add_rounds(threads);
  bool const wide = what.in_double || what.computes_in_double;
  double const peak_flops = multiply_adds(rounds, threads, wide);
  std::vector<entrant> entrants{{what.ours}, {[&] { multiply_adds(rounds, threads, wide); }}};
  for (auto const& r : what.rivals) entrants.push_back({r.run});
  std::size_t const first_reference = entrants.size();
  // Within the cache, streaming stores would only evict the data.
  bool const cached = what.moved.total_bytes() <= static_cast<double>(second_level_bytes());
  for (auto const& how : manners)
    if (!what.moved.reads.empty() && !(how.stream && cached))
      entrants.push_back({[&] { carry_out(what.moved, how); }});
  hold(entrants, threads);

  entrant const &ours = entrants[0], &peak = entrants[1];
  if (first_reference < entrants.size()) {
    entrant const* triad = &entrants[first_reference];
    for (std::size_t i = first_reference; i < entrants.size(); ++i)
      if (median(entrants[i].seconds) < median(triad->seconds)) triad = &entrants[i];
    counters["of_triad"] = ratio(*triad, ours);
  }
  counters["of_fma"] = what.flops / peak_flops * ratio(peak, ours);
  counters["tokens_per_second"] = what.tokens / median(ours.seconds);
  for (std::size_t i = 0; i < what.rivals.size(); ++i) {
    rival const& r = what.rivals[i];
    counters[r.counter] = r.is_loop ? ratio(entrants[2 + i], ours) : ratio(ours, entrants[2 + i]);
  }
  return counters;
}

}  // namespace wane::bench
