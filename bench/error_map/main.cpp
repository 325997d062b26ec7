// wane-error-map: how far float is from double, over operators, tokens, decays and cuts.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "error_map/map.hpp"
#include "error_map/picture.hpp"
#include "error_map/report.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"
#include "shared/parallel.hpp"
#include "shared/progress.hpp"

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-error-map: how far every operator with a float state is from double, and whether that\n"
    "is within the bound of docs/numerics.md.\n\n"
    "One batch of 2 heads of 16 x 16; the same log decay for all tokens, 0 to -inf. Runs are cut\n"
    "into pieces of 1 (step), 4 and 64 tokens, the state carried on, or not at all. An error is\n"
    "the largest difference over the largest right output, of the outputs since the length\n"
    "before; of a bfloat16, what is left of the difference beyond the rounding of the output. The\n"
    "table has the largest error over the cuts; the JSON has each.\n\n"
    "Exit status 1: an error is above its bound. One line for each tells which.";

struct options {
  index tokens = 4096;
  std::string only;
  std::optional<std::string> json, plot;
  double allowance = 1;
  bool bits = false;
};

struct task {
  mapped_operator const* of;
  io_type io;
  double log_decay;
};

std::vector<task> tasks_of(std::vector<mapped_operator> const& operators) {
  std::vector<task> all;
  for (auto const& each : operators)
    for (io_type const io : {io_type::float32, io_type::bfloat16})
      for (double const log_decay : log_decays_of(each)) all.push_back({&each, io, log_decay});
  return all;
}

unsigned threads() { return std::max(1u, std::thread::hardware_concurrency()); }

// Checksums of the outputs: prints of two builds can be compared line by line.
void print_bits(std::vector<mapped_operator> const& operators, options const& asked) {
  auto const tasks = tasks_of(operators);
  std::vector<std::string> lines(tasks.size());
  for_each_task(tasks.size(), threads(), [&](std::size_t n) {
    auto const& [of, io, log_decay] = tasks[n];
    for (index const chunk : {0, 64, 4, 1})
      lines[n] += line_of_bits(*of, io, asked.tokens, log_decay, chunk);
  });
  for (auto const& line : lines) std::fputs(line.c_str(), stdout);
}

int map(std::vector<mapped_operator> const& operators, options const& asked) {
  auto const tasks = tasks_of(operators);
  std::vector<std::vector<map_cell>> found(tasks.size());
  {
    progress shown;
    shown.begin("operators, types and decays", tasks.size());
    for_each_task(tasks.size(), threads(), [&](std::size_t n) {
      auto const& [of, io, log_decay] = tasks[n];
      found[n] = cells_of(*of, io, log_decay, asked.tokens, asked.allowance);
      shown.advance();
    });
  }
  std::vector<map_cell> cells;
  for (auto const& some : found) cells.insert(cells.end(), some.begin(), some.end());
  std::fputs(table_of(cells, lengths(asked.tokens)).c_str(), stdout);
  if (asked.json) write_file(*asked.json, json_of(cells).dump(1) + "\n");
  if (asked.plot && !draw(picture_of(cells), *asked.plot))
    throw std::runtime_error("gnuplot was not found; --plot needs it");
  return count_violations(cells) == 0 ? 0 : 1;
}

int run(options const& asked) {
  if (asked.json) require_writable(*asked.json, "--json");
  if (asked.plot) require_writable(*asked.plot, "--plot");
  auto operators = all_operators();
  if (!asked.only.empty())
    std::erase_if(operators, [&](auto const& each) { return each.name != asked.only; });
  if (operators.empty()) throw input_error("no operator is called " + in_quotes(asked.only));
  if (asked.bits) {
    print_bits(operators, asked);
    return 0;
  }
  return map(operators, asked);
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  using namespace wane::bench;
  return exit_status("wane-error-map", [&] {
    CLI::App app(purpose);
    options asked;
    app.add_option("--tokens", asked.tokens, "The longest run [4096]; 1000000 takes minutes")
        ->check(CLI::Range(wane::index{1}, wane::index{1} << 22));
    app.add_option("--only", asked.only, "The operator of this name alone");
    app.add_option("--json", asked.json, "Also write every error to this file");
    app.add_option("--plot", asked.plot, "Also draw the errors of float, with gnuplot, as SVG");
    app.add_option("--allowance", asked.allowance,
                   "Multiply every bound by this [1]; a small one shows what a violation looks "
                   "like")
        ->check(CLI::PositiveNumber);
    app.add_flag("--bits", asked.bits,
                 "Print a checksum of the outputs of every run, not the map: the prints of two\n"
                 "builds are the same where the bits are");
    return parse(app, argc, argv) ? run(asked) : 0;
  });
}
