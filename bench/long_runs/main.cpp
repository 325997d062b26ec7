// wane-long-runs: how far float is from double after a hundred million tokens.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "long_runs/measure.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-long-runs: every operator over many tokens, one head with keys and values of 4 "
    "numbers.\n\n"
    "The tokens come in pieces that share one buffer and carry the state on. Each piece goes\n"
    "through run and through step in float and through step in double. An error is the largest of\n"
    "all pieces: the largest difference from double over the largest value of double, or the same\n"
    "of norms. The exit status is 1 if an error is beyond its bound (docs/numerics.md), a step\n"
    "has allocated where none may, or the resident memory has grown by more than 1 MB since a\n"
    "hundredth of the tokens, but at least two pieces. The row vla ends after 100,000 tokens:\n"
    "longer runs of it need an accumulator of double.";

constexpr long most_growth = 1 << 20;

struct options {
  index tokens = 1000000, piece = 20000;
  std::vector<std::string> operators;
  std::optional<std::string> json;
};

std::vector<long_row> all_rows() {
  std::vector<long_row> rows;
  for (auto const& of_file : {channel_rows(), gated_rows(), delta_rows(), selective_rows()})
    rows.insert(rows.end(), of_file.begin(), of_file.end());
  return rows;
}

// The rows that are asked for, all where none is. Throws input_error for a name that no row has.
std::vector<long_row> rows_of(std::vector<std::string> const& names) {
  auto const all = all_rows();
  if (names.empty()) return all;
  std::vector<long_row> rows;
  for (std::string const& name : names) {
    auto const found = std::ranges::find(all, name, &long_row::name);
    if (found == all.end()) {
      std::string known;
      for (auto const& each : all) known += (known.empty() ? "" : ", ") + each.name;
      throw input_error("--operator " + in_quotes(name) + " is unknown; it must be one of " +
                        known);
    }
    rows.push_back(*found);
  }
  return rows;
}

bool within(long_row const& row, long_run const& of) {
  double const bound = row.bound(of.tokens);
  return of.run_error <= bound && of.step_error <= bound && of.growth <= most_growth &&
         (row.step_allocates || of.step_news == 0);
}

int measure(options const& asked) {
  if (asked.json) require_writable(*asked.json, "--json");
  auto const rows = rows_of(asked.operators);
  nlohmann::ordered_json found = nlohmann::ordered_json::array();
  std::printf("%-30s %10s %10s %10s %10s %9s %9s %8s %8s\n", "operator", "tokens", "run", "step",
              "bound", "run ns", "step ns", "news", "growth");
  bool right = true;
  for (long_row const& row : rows) {
    index const tokens = std::min(asked.tokens, row.most_tokens),
                settled = std::min(std::max(tokens / 100, 2 * asked.piece), tokens);
    row.measure({tokens, asked.piece, settled, [&](long_run const& of) {
                   bool const good = within(row, of);
                   right &= good;
                   double const each = 1e9 / static_cast<double>(of.tokens);
                   std::printf("%-30s %10lld %10.2e %10.2e %10.2e %9.1f %9.1f %8ld %8ld%s\n",
                               row.name.c_str(), static_cast<long long>(of.tokens), of.run_error,
                               of.step_error, row.bound(of.tokens), of.run_seconds * each,
                               of.step_seconds * each, of.step_news, of.growth,
                               good ? "" : "  BROKEN");
                   std::fflush(stdout);
                   found.push_back({{"operator", row.name},
                                    {"tokens", of.tokens},
                                    {"run_error", of.run_error},
                                    {"step_error", of.step_error},
                                    {"bound", row.bound(of.tokens)},
                                    {"run_seconds", of.run_seconds},
                                    {"step_seconds", of.step_seconds},
                                    {"step_news", of.step_news},
                                    {"growth_bytes", of.growth},
                                    {"within", good}});
                 }});
  }
  if (asked.json) {
    nlohmann::ordered_json const document{{"program", "wane-long-runs"}, {"runs", found}};
    write_file(*asked.json, document.dump(1) + "\n");
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  using namespace wane::bench;
  return exit_status("wane-long-runs", [&] {
    CLI::App app(purpose);
    options asked;
    app.add_option("--tokens", asked.tokens, "The length of the runs [1000000]")
        ->check(CLI::Range(wane::index{1}, wane::index{1} << 40));
    app.add_option("--piece", asked.piece, "Tokens of a call of run [20000]")
        ->check(CLI::Range(wane::index{1}, wane::index{1} << 24));
    app.add_option("--operator", asked.operators,
                   "Only this one, by the name of its row; again for more");
    app.add_option("--json", asked.json, "Also write every row to this file");
    return parse(app, argc, argv) ? measure(asked) : 0;
  });
}
