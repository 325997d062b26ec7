// The machine's own figures, in absolute units, for the head of the report.
// SPDX-License-Identifier: MIT
#include "kernels/machine.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <utility>

#include "kernels/buffers.hpp"
#include "kernels/caches.hpp"
#include "kernels/fma_peak.hpp"
#include "kernels/traffic.hpp"
#include "kernels/vectors.hpp"
#include "shared/stopwatch.hpp"

namespace wane::bench {
namespace {

// Work done a second, in units of 1e9, as text.
template <class Work>
std::string rate(double amount, int repetitions, int threads, Work const& work) {
  std::vector<double> seconds;
  for (int round = 0; round < 9; ++round) {
    if (repetitions > 1) work();
    seconds.push_back(seconds_of(work, repetitions, threads));
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", amount / median(seconds) / 1e9);
  return text;
}

void describe_triad(char const* name, room where, int threads) {
  buffers memory;
  index const count = elements(where, 3, sizeof(float));
  float const *a = memory.add<float>(count), *b = memory.add<float>(count);
  traffic const triad{
      {a, b}, {memory.add<float>(count)}, count * static_cast<index>(sizeof(float)), threads};
  std::string text;
  for (auto const& how : manners) {
    text += text.empty() ? "" : ", ";
    text += rate(triad.total_bytes(), where == room::cache ? 20 : 1, threads,
                 [&] { carry_out(triad, how); });
    text += std::string(" ") + how.name;
  }
  std::string const label = std::string("triad ") + name;
  benchmark::AddCustomContext(label + ", " + std::to_string(threads) + " thread(s)",
                              text + " GB/s");
}

void describe_peak(int threads) {
  std::string text;
  for (bool const in_double : {false, true}) {
    index const rounds = threads == 1 ? 200000 : 2000000;
    double const flops = multiply_adds(rounds, threads, in_double);
    text += rate(flops, 1, threads, [&] { multiply_adds(rounds, threads, in_double); });
    text += in_double ? " double" : " float, ";
  }
  benchmark::AddCustomContext("multiply-add, " + std::to_string(threads) + " thread(s)",
                              text + " GFLOP/s");
}

}  // namespace

void describe_machine() {
  benchmark::AddCustomContext("widest vectors", name_of(widest_vectors()));
  benchmark::AddCustomContext("second-level cache",
                              std::to_string(second_level_bytes() >> 10) + " KiB");
  benchmark::AddCustomContext("clock", "threads:1 CPU time of the thread, threads:2 time");
  for (int const threads : {1, 2}) {
    if (threads == 1) describe_triad("in cache", room::cache, threads);
    describe_triad("in memory", room::memory, threads);
    describe_peak(threads);
  }
}

}  // namespace wane::bench
