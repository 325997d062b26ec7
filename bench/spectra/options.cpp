// The command line of wane-spectra: its options and its checks.
// SPDX-License-Identifier: MIT
#include "spectra/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "checkpoint/decay_layers.hpp"
#include "shared/argument.hpp"
#include "shared/input.hpp"
#include "spectra/help.hpp"
#include "spectra/spectrum_list.hpp"

namespace wane::bench {
namespace {

constexpr std::int64_t longest = 1'000'000'000'000;
constexpr std::int64_t most_channels = 256;

// The arguments as they were typed.
struct words {
  std::string kernel, series, laplace, column, horizon,
      fit_from = "1", fit_to = "measured", channels, at, spectra = "all", metric = "absolute",
      seed = "0", threads, accuracy, json, csv, plot;
  std::string head_size, coherence, layer;
  std::vector<std::string> text, checkpoint, patterns;
  bool rates = false, octaves = false;
};

void add_options(CLI::App& app, words& w) {
  app.add_option("--kernel", w.kernel, "power:BETA (beta in (0, 10]) or gl:ALPHA (alpha in (0, 1])")
      ->type_name("KERNEL");
  app.add_option("--text", w.text, "files whose bytes are tokens; may be repeated")
      ->type_name("FILE...");
  app.add_flag("--octaves", w.octaves,
               "of a text: the information that each doubling of the window adds");
  app.add_option("--series", w.series, "a CSV file with a column of numbers")->type_name("FILE");
  app.add_option("--column", w.column, "which column of --series: its name, or its number from 1")
      ->type_name("NAME");
  app.add_option("--checkpoint", w.checkpoint,
                 "files of one trained model: .safetensors, .npy, .csv")
      ->type_name("FILE...");
  app.add_option("--laplace", w.laplace, "Laplace nodes as JSON: sigma, omega, window, mask")
      ->type_name("FILE.json");
  app.add_option("--pattern", w.patterns, "tensors of the checkpoint that hold decays")
      ->type_name("REGEX=READING")
      ->expected(1);
  app.add_option("--head-size", w.head_size,
                 "channels of a head, where the checkpoint does not tell")
      ->type_name("N");
  app.add_option("--coherence", w.coherence,
                 "above it two channels of the checkpoint are alike [0.99]")
      ->type_name("MU");
  app.add_option("--layer", w.layer,
                 "the layer of the checkpoint that the picture shows: its name or number")
      ->type_name("NAME");
  app.add_option("--horizon", w.horizon,
                 "longest lag T in steps [100000; with data at most a tenth of them]")
      ->type_name("T");
  app.add_option("--fit-from", w.fit_from, "first lag of the power law through data [1]")
      ->type_name("LAG");
  app.add_option("--fit-to", w.fit_to,
                 "with data, what is fitted: measured or law (see below) [measured]")
      ->type_name("WHAT");
  app.add_option("--channels", w.channels, "numbers of channels N [8,16,32]")->type_name("N,N,...");
  app.add_option("--at", w.at, "positions t of post and post-static [sqrt(T)]")
      ->type_name("t,t,...");
  app.add_option("--spectra", w.spectra, "which spectra, or all [all]")->type_name("LIST");
  app.add_option("--metric", w.metric, "what a fit makes small: absolute or relative [absolute]")
      ->type_name("ERROR");
  app.add_option("--accuracy", w.accuracy, "also find the fewest exponentials with no larger error")
      ->type_name("E");
  app.add_flag("--rates", w.rates, "print the rates of every row");
  app.add_option("--seed", w.seed, "of the random spectra and the shuffled baseline [0]")
      ->type_name("S");
  app.add_option("--threads", w.threads, "at most so many; results do not depend on it [all cores]")
      ->type_name("N");
  app.add_option("--json", w.json, "write everything found as JSON")->type_name("FILE");
  app.add_option("--csv", w.csv, "write the table as CSV")->type_name("FILE");
  app.add_option("--plot", w.plot, "draw the picture (needs gnuplot)")->type_name("FILE.svg");
}

kernel_choice kernel_in(std::string const& text) {
  std::string const wrong = "--kernel " + in_quotes(text);
  bool const power = text.starts_with("power:");
  if (!power && !text.starts_with("gl:")) {
    throw input_error(wrong + " is unknown; give power:BETA or gl:ALPHA, for example power:0.5");
  }
  auto const value = number_in(text.substr(text.find(':') + 1));
  if (power && !(value && *value > 0 && *value <= 10)) {
    throw input_error(wrong + ": BETA must be a number above 0 and at most 10, as in power:0.5");
  }
  if (!power && !(value && *value > 0 && *value <= 1)) {
    throw input_error(wrong + ": ALPHA must be a number above 0 and at most 1, as in gl:0.5");
  }
  return {power ? kernel_kind::power : kernel_kind::gruenwald_letnikov, *value};
}

double accuracy_in(std::string const& text) {
  auto const value = number_in(text);
  if (!value || !(*value >= 1e-13 && *value < 1)) {
    throw input_error("--accuracy " + in_quotes(text) +
                      " is not a number of at least 1e-13 and below 1");
  }
  return *value;
}

std::vector<std::string> spectra_in(std::string const& text) {
  std::vector<std::string> names;
  for (auto const& s : spectrum_list()) names.push_back(s.name);
  if (text == "all") return names;
  auto const chosen = parts_of(text, ',');
  for (auto const& name : chosen) one_of("--spectra", name, names, " or all, alone");
  require_distinct("--spectra", chosen, text);
  return chosen;
}

decay_pattern pattern_in(std::string const& text) {
  std::string const wrong = "--pattern " + in_quotes(text);
  auto const parted = text.rfind('=');
  if (parted == std::string::npos || parted == 0) {
    throw input_error(wrong + " is not REGEX=READING, as in 'decay$=log-rate'");
  }
  std::vector<std::string> names;
  for (auto const& reading : decay_readings()) names.push_back(reading.name);
  std::string const reading = one_of(wrong + ": reading", text.substr(parted + 1), names);
  return {name_pattern(text.substr(0, parted)), reading};
}

double coherence_in(std::string const& text) {
  auto const value = number_in(text);
  if (!value || !(*value > 0 && *value < 1)) {
    throw input_error("--coherence " + in_quotes(text) + " is not a number between 0 and 1");
  }
  return *value;
}

void read_checkpoint_options(CLI::App const& app, words const& w, options& o) {
  o.checkpoint = w.checkpoint;
  for (auto const& pattern : w.patterns) o.layers.patterns.push_back(pattern_in(pattern));
  if (app.count("--head-size") > 0) {
    o.layers.head_size = whole_number("--head-size", w.head_size, 1, 1'000'000);
  }
  if (app.count("--coherence") > 0) o.coherence = coherence_in(w.coherence);
  o.layer = w.layer;
}

// An option that has no effect here is refused as a mistake.
void require_meaning(CLI::App const& app) {
  bool const checkpoint = app.count("--checkpoint") > 0, laplace = app.count("--laplace") > 0,
             octaves = app.count("--octaves") > 0;
  if (octaves && app.count("--text") == 0) {
    throw input_error("--octaves needs --text FILE, whose octaves it measures");
  }
  for (char const* const option : {"--pattern", "--head-size", "--coherence", "--layer"}) {
    if (!checkpoint && app.count(option) > 0) {
      throw input_error(std::string(option) + " needs --checkpoint FILE");
    }
  }
  std::string const source = checkpoint ? "--checkpoint" : laplace ? "--laplace" : "--octaves";
  for (std::string const option :
       {"--column", "--fit-from", "--fit-to", "--channels", "--at", "--spectra", "--metric",
        "--accuracy", "--rates", "--seed", "--horizon"}) {
    bool const read = laplace || ((checkpoint || octaves) && option != "--horizon");
    if (read && app.count(option) > 0) {
      throw input_error(option + " means nothing with " + source + "; leave it out");
    }
  }
}

void require_data(CLI::App const& app, options const& o) {
  for (char const* const option : {"--fit-from", "--fit-to"}) {
    if (o.kernel && app.count(option) > 0) {
      throw input_error(std::string(option) + " needs data; give --text or --series, not --kernel");
    }
  }
  if (app.count("--column") > 0 && o.series.empty()) {
    throw input_error("--column needs --series FILE, whose column it names");
  }
  if (app.count("--at") > 0 && std::none_of(o.spectra.begin(), o.spectra.end(), is_positional)) {
    throw input_error("--at needs the spectrum post or post-static in --spectra");
  }
}

void require_files(CLI::App const& app, options const& o) {
  std::vector<std::string> const names{"--json", "--csv", "--plot"};
  std::vector<std::string> const files{o.json, o.csv, o.plot};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (app.count(names[i]) == 0) continue;
    require_writable(files[i], names[i]);
    auto inputs = o.text.empty() ? o.checkpoint : o.text;
    if (!o.series.empty()) inputs.push_back(o.series);
    if (o.laplace) inputs.push_back(*o.laplace);
    for (auto const& input : inputs) {
      std::error_code none;
      // Where there is no gnuplot the data of the picture go beside it.
      std::string const beside = names[i] == "--plot" ? files[i] + ".csv" : files[i];
      if (std::filesystem::equivalent(files[i], input, none) ||
          std::filesystem::equivalent(beside, input, none)) {
        throw input_error(names[i] + " " + in_quotes(files[i]) +
                          " is a file to be read; give another name");
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!files[j].empty() && std::filesystem::absolute(files[i]).lexically_normal() ==
                                   std::filesystem::absolute(files[j]).lexically_normal()) {
        throw input_error(names[j] + " and " + names[i] + " both name " + in_quotes(files[i]) +
                          "; give two files");
      }
    }
  }
}

options checked(CLI::App const& app, words const& w) {
  auto const sources = app.count("--kernel") + (app.count("--text") > 0) + app.count("--series") +
                       (app.count("--checkpoint") > 0) + app.count("--laplace");
  if (sources != 1) {
    throw input_error(std::string(sources == 0 ? "nothing to fit" : "more than one thing to fit") +
                      "; give one of --kernel power:0.5, --text FILE, --series FILE.csv, "
                      "--checkpoint FILE.safetensors, --laplace FILE.json (--help explains)");
  }
  require_meaning(app);
  options o;
  read_checkpoint_options(app, w, o);
  if (app.count("--kernel") > 0) o.kernel = kernel_in(w.kernel);
  o.text = w.text;
  o.octaves = w.octaves;
  o.series = w.series;
  if (app.count("--laplace") > 0) o.laplace = w.laplace;
  o.column = w.column;
  if (app.count("--horizon") > 0) o.horizon = whole_number("--horizon", w.horizon, 2, longest);
  o.fit_from = whole_number("--fit-from", w.fit_from, 1, longest);
  o.fit_law = one_of("--fit-to", w.fit_to, {"measured", "law"}) == "law";
  if (app.count("--channels") > 0) {
    o.channels = whole_numbers("--channels", w.channels, 1, most_channels);
  }
  std::sort(o.channels.begin(), o.channels.end());
  if (app.count("--at") > 0) o.at = whole_numbers("--at", w.at, 2, longest);
  o.spectra = spectra_in(w.spectra);
  if (o.has_data() && !o.fit_law && std::erase(o.spectra, "soe") > 0 && w.spectra != "all") {
    throw input_error("--spectra soe needs a kernel in closed form: --kernel, or --fit-to law");
  }
  bool const absolute = one_of("--metric", w.metric, {"absolute", "relative"}) == "absolute";
  o.metric = absolute ? spectra::metric::absolute : spectra::metric::relative;
  if (app.count("--accuracy") > 0) o.accuracy = accuracy_in(w.accuracy);
  o.rates = w.rates;
  o.seed = static_cast<std::uint64_t>(whole_number("--seed", w.seed, 0, 1LL << 53));
  o.threads = std::max(1u, std::thread::hardware_concurrency());
  if (app.count("--threads") > 0) {
    o.threads = static_cast<unsigned>(whole_number("--threads", w.threads, 1, 1024));
  }
  o.json = w.json;
  o.csv = w.csv;
  o.plot = w.plot;
  require_data(app, o);
  require_files(app, o);
  return o;
}

}  // namespace

std::optional<options> parse_options(int argc, char const* const* argv) {
  CLI::App app{purpose, "wane-spectra"};
  app.footer(lesson());
  app.get_formatter()->column_width(26);
  words w;
  add_options(app, w);
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    std::fputs(app.help().c_str(), stdout);
    return std::nullopt;
  } catch (CLI::ParseError const& problem) {
    throw input_error(std::string(problem.what()) + "; --help lists the options");
  }
  return checked(app, w);
}

}  // namespace wane::bench
