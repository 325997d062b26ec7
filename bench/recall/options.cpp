// The command line of wane-recall.
// SPDX-License-Identifier: MIT
#include "recall/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "recall/tables.hpp"
#include "shared/argument.hpp"
#include "shared/exit_status.hpp"

namespace wane::recall {
namespace {

constexpr char const* purpose =
    "wane-recall: trains small models that differ in nothing but their memory, with wane's own\n"
    "adjoints, and tests what they recall of fresh examples.\n\n"
    "The model is that of the VLA paper: 2 layers of width 128 with 4 heads, learned positions, a\n"
    "feed-forward part of 256, AdamW with warm-up, cosine decay and clipping, batches of 64. The\n"
    "same seed gives the same bits for any number of threads.";

// The names in a list with commas, each one of `allowed`.
std::vector<std::string> names_in(std::string const& option, std::string const& text,
                                  std::vector<std::string> const& allowed) {
  std::vector<std::string> names;
  for (std::string const& part : bench::parts_of(text, ','))
    names.push_back(bench::one_of(option, part, allowed));
  bench::require_distinct(option, names, text);
  return names;
}

double positive(std::string const& option, std::string const& text) {
  auto const x = bench::number_in(text);
  if (!x || !(*x > 0) || std::isinf(*x))
    throw bench::input_error(option + " " + bench::in_quotes(text) + " is not a positive number");
  return *x;
}

struct command_line {
  std::string table, task = "mqar", memories = "softmax,linear,vla-delta,vla", pairs = "8", length,
                     mixing = "none", seeds = "42", steps, width = "128", heads = "4", layers = "2",
                     rate = "3e-4", embedding = "0.02", threads;
  bool quick = false, no_positions = false;
};

mixing mixing_named(std::string const& name) {
  bench::one_of("--mixing", name, {"none", "shift", "convolution"});
  return name == "none" ? mixing::none : name == "shift" ? mixing::shift : mixing::convolution;
}

index whole(char const* option, std::string const& text, index low, index high) {
  return bench::whole_number(option, text, low, high);
}

experiment base_of(command_line const& asked) {
  experiment base;
  base.model.mix = mixing_named(asked.mixing);
  base.model.width = whole("--width", asked.width, 1, 4096);
  base.model.heads = whole("--heads", asked.heads, 1, 256);
  base.model.layers = whole("--layers", asked.layers, 1, 64);
  base.model.feed_forward = 2 * base.model.width;
  base.model.positions = !asked.no_positions;
  base.model.embedding_size = positive("--embedding", asked.embedding);
  base.how.learning_rate = positive("--learning-rate", asked.rate);
  base.how.threads = asked.threads.empty()
                         ? std::max(1u, std::thread::hardware_concurrency())
                         : static_cast<unsigned>(whole("--threads", asked.threads, 1, 1024));
  base.how.steps = asked.steps.empty() ? 0 : whole("--steps", asked.steps, 1, 10'000'000);
  return base;
}

std::vector<experiment> experiments_of(command_line const& asked) {
  experiment const base = base_of(asked);
  auto const memories = names_in("--memories", asked.memories, memory_names());
  auto const seeds = bench::whole_numbers("--seed", asked.seeds, 0, 0xffffffff);
  std::vector<experiment> all;
  for (auto const seed : seeds) {
    experiment own = base;
    own.model.seed = static_cast<unsigned>(seed);
    if (!asked.table.empty()) {
      bench::one_of("--table", asked.table, table_names());
      for (experiment& e : recall::experiments_of(asked.table, own, memories))
        if (!asked.quick || all.empty() || all.back().model.memory != e.model.memory ||
            all.back().model.seed != own.model.seed)
          all.push_back(std::move(e));
      continue;
    }
    own.train.name = bench::one_of("--task", asked.task, {"mqar", "copy"});
    if (own.how.steps == 0) own.how.steps = 1000;
    for (std::string const& memory : memories)
      for (auto const pairs : bench::whole_numbers("--pairs", asked.pairs, 1, 1000)) {
        experiment& e = all.emplace_back(own);
        e.model.memory = memory;
        e.train.pairs = static_cast<int>(pairs);
        bool const copies = own.train.name == "copy";
        e.train.time = e.model.time = asked.length.empty()
                                          ? (copies ? 64 : 3 * pairs + 1)
                                          : whole("--length", asked.length, 1, 1 << 20);
      }
  }
  return all;
}

}  // namespace

std::optional<options> read_options(int argc, char const* const* argv) {
  CLI::App app(purpose);
  command_line asked;
  options found;
  app.add_option("--table", asked.table,
                 "A table of a paper, its numbers beside: vla-7, vla-9, vla-11, vla-13, vla-fig6");
  app.add_option("--task", asked.task, "mqar: the values of keys; copy [mqar]");
  app.add_option(
      "--memories", asked.memories,
      "A list of softmax, linear, delta, gated-delta, gla, mamba2, vla-delta (eq. 4 of the VLA\n"
      "paper), vla (rls), vla-unit, vla-quotient (eq. 11) [" +
          asked.memories + "]");
  app.add_option("--pairs", asked.pairs, "Pairs of a key and a value, a list [8]");
  app.add_option("--length", asked.length, "Tokens of a sequence [3 pairs + 1; copy: 64]");
  app.add_option("--mixing", asked.mixing,
                 "What a token sees of its neighbours before the memory: none, shift (keys are\n"
                 "those of the token before), convolution (of 4 tokens, and SiLU) [none]");
  app.add_option("--steps", asked.steps, "Steps of training [1000, or the table's]");
  app.add_option("--seed", asked.seeds, "A list [42]");
  app.add_option("--width", asked.width, "[128]");
  app.add_option("--heads", asked.heads, "[4]");
  app.add_option("--layers", asked.layers, "[2]");
  app.add_option("--learning-rate", asked.rate, "[3e-4]");
  app.add_option("--embedding", asked.embedding, "Size of the first embeddings [0.02]");
  app.add_flag("--no-positions", asked.no_positions, "No learned positions");
  app.add_option("--threads", asked.threads, "[all cores]");
  app.add_flag("--quick", asked.quick, "The first column of a table alone, and 300 steps");
  app.add_option("--json", found.json, "Also write results and curves to this file");
  app.add_option("--csv", found.csv, "Also write results to this file");
  app.add_option("--plot", found.plot, "Also draw accuracies to this file (SVG, by gnuplot)");
  app.add_option("--save", found.save,
                 "Also write the weights of each model to a safetensors file in this directory,\n"
                 "for wane-spectra --checkpoint");
  if (!bench::parse(app, argc, argv)) return std::nullopt;
  if (found.json) bench::require_writable(*found.json, "--json");
  if (found.csv) bench::require_writable(*found.csv, "--csv");
  if (found.plot) bench::require_writable(*found.plot, "--plot");
  if (found.save && !std::filesystem::is_directory(*found.save))
    throw bench::input_error("--save " + bench::in_quotes(*found.save) +
                             " is no directory; give one that exists");
  if (asked.quick && asked.steps.empty()) asked.steps = "300";
  for (char const* const option : {"--task", "--pairs", "--length", "--seed"}) {
    bool const sets = asked.table == "vla-9" || std::string(option) != "--seed";
    if (!asked.table.empty() && sets && app.count(option) > 0)
      throw bench::input_error(std::string(option) + " is given with --table " + asked.table +
                               ", which has its own; leave one of them out");
  }
  found.experiments = experiments_of(asked);
  for (experiment const& e : found.experiments) {
    e.train.check(), e.model.check(), e.how.check();
    if (e.other) e.other->check();
  }
  return found;
}

}  // namespace wane::recall
