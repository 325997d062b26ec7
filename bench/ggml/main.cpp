// wane-ggml-shapes: tokens a second on tensors in the layout of ggml's recurrent operations.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ggml/operation.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"
#include "shared/larger.hpp"
#include "shared/stopwatch.hpp"

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-ggml-shapes: tokens a second on the tensors of ggml's recurrent operations.\n\n"
    "The inputs are float tensors in ggml's element order and state orientation, which wane takes\n"
    "as strided views; nothing is copied or converted. So a row can be held against the same\n"
    "operation of ggml (GGML_OP_...) on the same machine: one sequence, 16 heads of D x D, and "
    "for\n"
    "SSM_SCAN 16 heads of D channels with 128 states (Mamba-2) or 16 D channels with 16 states\n"
    "(Mamba-1). Each is first held against a plain loop in double in ggml's order, on short\n"
    "sequences. Times are medians: of the thread's processor time, with more threads of the clock.";

struct options {
  std::string only;
  int threads = 1;
  bool untimed = false;
  std::optional<std::string> json;
};

// The larger of the errors of outputs and of states, relative to the largest of each.
double error_of(named_operation const& which, ggml_shape const& shape, int threads) {
  auto const made = which.make(shape);
  auto const found = made->dst();
  std::fill(found.begin(), found.end(), std::numeric_limits<float>::quiet_NaN());
  made->take(threads);
  std::vector<double> const expected = made->expected();
  double worst = 0;
  std::size_t const outputs = made->outputs();
  for (auto const& [first, last] : {std::pair{std::size_t{0}, outputs}, {outputs, found.size()}}) {
    double apart = 0, largest = 0;
    for (std::size_t i = first; i < last; ++i) {
      apart = larger(apart, std::abs(double(found[i]) - expected[i]));
      largest = std::max(largest, std::abs(expected[i]));
    }
    worst = larger(worst, apart / largest);
  }
  return worst;
}

double seconds_a_run(operation& what, int threads) {
  constexpr double enough = 0.5;
  constexpr std::size_t least = 5, most = 101;
  auto const take = [&] { what.take(threads); };
  take();
  std::vector<double> seconds;
  double const begin = seconds_now(0);
  while (seconds.size() < least || (seconds.size() < most && seconds_now(0) - begin < enough))
    seconds.push_back(seconds_of(take, 1, threads));
  return median(seconds);
}

std::vector<named_operation> choose(std::string const& only) {
  std::vector<named_operation> chosen = operations();
  std::string known;
  for (auto const& each : chosen) known += (known.empty() ? "" : ", ") + each.name;
  std::erase_if(chosen, [&](auto const& each) { return !only.empty() && each.name != only; });
  if (chosen.empty())
    throw input_error("--only " + in_quotes(only) + " is unknown; choose from " + known);
  return chosen;
}

int run(options const& asked) {
  auto const chosen = choose(asked.only);
  // 32 roundings, as in wane-bench.
  constexpr double bound = 32 * double(std::numeric_limits<float>::epsilon());
  if (asked.json) require_writable(*asked.json, "--json");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  int failed = 0;
  std::printf("%-62s %13s %10s\n", "operation", "tokens/s", "error");
  for (auto const& which : chosen) {
    double const error = std::max(error_of(which, {3, 24, 37}, asked.threads),
                                  error_of(which, {16, 64, 70}, asked.threads));
    if (!(error <= bound)) {
      std::fprintf(stderr, "wane-ggml-shapes: %s disagrees with the loop in double: %.2g\n",
                   which.name.c_str(), error);
      ++failed;
      continue;
    }
    if (asked.untimed) {
      std::printf("%-62s %13s %10.1e\n", which.name.c_str(), "", error);
      rows.push_back({{"name", which.name}, {"max_rel_error", error}});
      continue;
    }
    for (index const size : {64, 128})
      for (index const tokens : {512, 4096}) {
        std::string const name = which.name + "/H:16/D:" + std::to_string(size) +
                                 "/T:" + std::to_string(tokens) +
                                 "/threads:" + std::to_string(asked.threads);
        auto const made = which.make({16, size, tokens});
        double const rate = static_cast<double>(tokens) / seconds_a_run(*made, asked.threads);
        std::printf("%-62s %13.0f %10.1e\n", name.c_str(), rate, error);
        std::fflush(stdout);
        rows.push_back({{"name", name}, {"tokens_per_second", rate}, {"max_rel_error", error}});
      }
  }
  if (asked.json) {
    nlohmann::ordered_json const document{{"program", "wane-ggml-shapes"}, {"rows", rows}};
    write_file(*asked.json, document.dump(2) + "\n");
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  using namespace wane::bench;
  return exit_status("wane-ggml-shapes", [&] {
    CLI::App app(purpose);
    options asked;
    app.add_option("--only", asked.only, "The operation of this name alone");
    app.add_option("--threads", asked.threads, "Threads [1]")->check(CLI::Range(1, 1024));
    app.add_flag("--untimed", asked.untimed, "Only compare with the loop in double");
    app.add_option("--json", asked.json, "Also write the rows to this file");
    return parse(app, argc, argv) ? run(asked) : 0;
  });
}
