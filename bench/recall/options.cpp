// The command line of wane-recall.
// SPDX-License-Identifier: MIT
#include "recall/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "recall/tables/tables.hpp"
#include "shared/argument.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"

namespace wane::recall {
namespace {

constexpr char const* purpose =
    "wane-recall: trains small models around each memory, with wane's own adjoints, and tests\n"
    "what they recall of fresh examples.\n\n"
    "Without --table the model is that of the VLA paper: 2 layers of width 128 with 4 heads,\n"
    "learned positions, a feed-forward part of 256, AdamW with warm-up, cosine decay and\n"
    "clipping, batches of 64. The same seed gives the same bits for any number of threads.";

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
  std::string tables, task = "mqar", memories, pairs = "8", length, mixing, seeds = "42", steps,
                      width = "128", heads = "4", layers = "2", rate, embedding = "0.02", weights,
                      threads, text;
  bool all = false, quick = false, no_positions = false, output_norm = false;
};

mixing mixing_named(std::string const& name) {
  bench::one_of("--mixing", name, {"none", "shift", "convolution"});
  for (mixing const mix : {mixing::none, mixing::shift})
    if (name == name_of(mix)) return mix;
  return mixing::convolution;
}

index whole(char const* option, std::string const& text, index low, index high) {
  return bench::whole_number(option, text, low, high);
}

text prose_of(command_line const& asked) {
  if (asked.text.empty()) return {};
  text const found(bench::read_file(asked.text, "--text"));
  if (std::ssize(*found.last) < 20'000)
    throw bench::input_error("--text " + bench::in_quotes(asked.text) +
                             " is short; it must have 200 000 bytes or more");
  return found;
}

std::vector<table const*> chosen_tables(command_line const& asked) {
  std::vector<std::string> names;
  for (table const& t : tables()) names.push_back(t.name);
  std::vector<table const*> found;
  if (asked.all) {
    for (table const& t : tables())
      if (!t.of_text || !asked.text.empty()) found.push_back(&t);
  } else if (!asked.tables.empty()) {
    for (std::string const& name : names_in("--table", asked.tables, names))
      for (table const& t : tables())
        if (name == t.name) found.push_back(&t);
  }
  for (table const* t : found)
    if (t->of_text && asked.text.empty())
      throw bench::input_error("--table " + std::string(t->name) +
                               " needs --text, a file of prose");
  return found;
}

// The experiments of a table, or of the options, for the seed of `asked`.
std::vector<experiment> of_table(table const& t, std::vector<std::string> const& memories,
                                 wishes const& asked) {
  std::vector<experiment> all;
  for (std::string const& memory : memories.empty() ? t.memories : memories)
    for (experiment& e : t.experiments(memory, asked)) all.push_back(std::move(e));
  return all;
}

std::vector<experiment> of_options(command_line const& asked, wishes const& wish,
                                   std::vector<std::string> const& memories) {
  experiment own = wish.base;
  own.model.mix = wish.mix.value_or(mixing::none);
  own.model.width = whole("--width", asked.width, 1, 4096);
  own.model.heads = whole("--heads", asked.heads, 1, 256);
  own.model.layers = whole("--layers", asked.layers, 1, 64);
  own.model.feed_forward = 2 * own.model.width;
  own.model.positions = !asked.no_positions, own.model.output_norm = asked.output_norm;
  own.model.embedding_size = positive("--embedding", asked.embedding);
  if (!asked.weights.empty()) own.model.weight_size = positive("--weights", asked.weights);
  own.how.learning_rate = wish.rate.value_or(3e-4);
  own.how.steps = wish.steps_or(1000, 300);
  task of;
  of.name = bench::one_of("--task", asked.task,
                          {"mqar", "copy", "zipf", "labels", "parity", "s3", "text"});
  if (of.name == "text" && asked.text.empty())
    throw bench::input_error("--task text needs --text, a file of prose");
  std::vector<experiment> all;
  for (std::string const& memory : memories)
    for (auto const pairs : bench::whole_numbers("--pairs", asked.pairs, 1, 1000)) {
      of.pairs = static_cast<int>(pairs);
      of.time = !asked.length.empty() ? whole("--length", asked.length, 1, 1 << 20)
                : of.name == "mqar"   ? of.least_time()
                : of.is_of_lags()     ? 1000
                                      : 64;
      experiment& e = all.emplace_back(own);
      e.model.memory = memory, e.model.time = of.time;
      test fresh{"", of};
      if (of.name == "text") {
        of = wish.prose.trained_on(of.time), fresh.of = wish.prose.tested_on(of.time);
        e.model.vocabulary = wish.prose.vocabulary;
      }
      e.stages = {of}, e.tests = {fresh};
      if (!of.is_of_pairs()) break;
    }
  return all;
}

std::vector<experiment> experiments_of(command_line const& asked) {
  auto const chosen = chosen_tables(asked);
  auto const memories =
      asked.memories.empty() && !chosen.empty()
          ? std::vector<std::string>()
          : names_in("--memories",
                     asked.memories.empty() ? "softmax,linear,vla-delta,vla" : asked.memories,
                     memory_names());
  wishes wish;
  if (!asked.mixing.empty()) wish.mix = mixing_named(asked.mixing);
  if (!asked.steps.empty()) wish.steps = whole("--steps", asked.steps, 1, 10'000'000);
  if (!asked.rate.empty()) wish.rate = positive("--learning-rate", asked.rate);
  wish.quick = asked.quick, wish.prose = prose_of(asked);
  wish.base.how.threads = asked.threads.empty()
                              ? std::max(1u, std::thread::hardware_concurrency())
                              : static_cast<unsigned>(whole("--threads", asked.threads, 1, 1024));
  auto const seeds = bench::whole_numbers("--seed", asked.seeds, 0, 0xffffffff);
  std::vector<experiment> all;
  auto const add = [&](std::vector<experiment> const& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (table const* t : chosen)
    for (auto const seed : t->has_seeds ? decltype(seeds){0} : seeds) {  // which it replaces
      wish.base.model.seed = static_cast<unsigned>(seed);
      add(of_table(*t, memories, wish));
    }
  for (auto const seed : chosen.empty() ? seeds : decltype(seeds)()) {
    wish.base.model.seed = static_cast<unsigned>(seed);
    add(of_options(asked, wish, memories));
  }
  return all;
}

// Options that would have no effect.
void refuse_idle_options(CLI::App const& app, command_line const& asked) {
  auto const refuse = [&](char const* option, std::string const& why) {
    if (app.count(option) > 0) throw bench::input_error(std::string(option) + " is given " + why);
  };
  auto const chosen = chosen_tables(asked);
  if (asked.all) refuse("--table", "with --all, which has all tables; leave one of them out");
  bool reads_text = asked.task == "text" && chosen.empty();
  for (table const* t : chosen) {
    std::string const why =
        "with --table " + std::string(t->name) + ", which has its own; leave one of them out";
    for (char const* option : {"--task", "--pairs", "--length", "--width", "--heads", "--layers",
                               "--embedding", "--weights", "--no-positions", "--output-norm"})
      refuse(option, why);
    if (t->has_seeds && !asked.all) refuse("--seed", why);
    reads_text |= t->of_text;
  }
  if (!reads_text) refuse("--text", "with tasks that read no text; leave it out");
  if (chosen.size() > 1) refuse("--plot", "with several tables; a picture is of one");
  if (asked.task != "mqar" && asked.task != "zipf" && asked.task != "labels")
    refuse("--pairs", "with --task " + asked.task + ", which has none; leave it out");
}

}  // namespace

std::optional<options> read_options(int argc, char const* const* argv) {
  CLI::App app(purpose);
  command_line asked;
  options found;
  std::string names, memories;
  for (table const& t : tables())
    names += (names.empty() ? "" : "\n") + std::string(t.name) + ": " + t.what;
  for (std::size_t line = 0; std::string const& name : memory_names()) {
    bool const fits = memories.size() + name.size() < line + 72;
    if (!fits) line = memories.size();
    memories += (memories.empty() ? "" : fits ? ", " : ",\n") + name;
  }
  app.add_option("--table", asked.tables,
                 "Tables of papers, a list, their numbers beside:\n" + names);
  app.add_flag("--all", asked.all, "All tables; those of prose where there is a --text");
  app.add_option("--task", asked.task,
                 "mqar: the values of keys; copy; zipf, labels: of keys far back; parity, s3:\n"
                 "products; text [mqar]");
  app.add_option("--text", asked.text, "A file of prose, for the task text; a tenth is for tests");
  app.add_option("--memories", asked.memories,
                 "A list [softmax,linear,vla-delta,vla, or those of the table] of:\n" + memories);
  app.add_option("--pairs", asked.pairs, "Pairs of a key and a value, a list [8]");
  app.add_option("--length", asked.length,
                 "Tokens of a sequence [3 pairs + 1; lags: 1000; else 64]");
  app.add_option(
      "--mixing", asked.mixing,
      "What a token sees of its neighbours before the memory: none, shift (keys are\n"
      "those of the token before), convolution (of 4 tokens, and SiLU) [none, or that of\n"
      "the table]");
  app.add_option("--steps", asked.steps, "Steps of training [1000, or the table's]");
  app.add_option("--seed", asked.seeds, "A list [42]");
  app.add_option("--width", asked.width, "[128]");
  app.add_option("--heads", asked.heads, "[4]");
  app.add_option("--layers", asked.layers, "[2]");
  app.add_option("--learning-rate", asked.rate, "[3e-4, or the table's]");
  app.add_option("--embedding", asked.embedding, "Size of the first embeddings [0.02]");
  app.add_option("--weights", asked.weights, "Size of the first weights [1/sqrt(3 inputs)]");
  app.add_flag("--no-positions", asked.no_positions, "No learned positions");
  app.add_flag("--output-norm", asked.output_norm, "Outputs of heads have one length");
  app.add_option("--threads", asked.threads, "[all cores]");
  app.add_flag("--quick", asked.quick, "A small version: fewer columns, tokens and steps");
  app.add_option("--json", found.json, "Also write results and curves to this file");
  app.add_flag("--resume", found.resume,
               "Do not repeat the experiments that are in the --json file");
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
  if (found.resume && !found.json)
    throw bench::input_error("--resume needs --json, the file of the run that it continues");
  refuse_idle_options(app, asked);
  found.experiments = experiments_of(asked);
  for (experiment const& e : found.experiments) e.check();  // before any work is done
  return found;
}

}  // namespace wane::recall
