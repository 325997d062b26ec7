// wane-recall: small models trained with wane's adjoints, compared by what they recall.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "recall/options.hpp"
#include "recall/picture.hpp"
#include "recall/report.hpp"
#include "recall/seeds.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"
#include "shared/progress.hpp"

namespace wane::recall {
namespace {

std::atomic<bool> stopped = false;

// Every step takes and frees the same matrices. By default glibc hands large ones back to the
// system, which then clears their pages anew: a sixth of the processor's time.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0), mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

// The rows of the --json file: those of the run that this one continues, and its own.
class document {
 public:
  // Without `continues` it begins empty. Throws bench::input_error for a file of another kind.
  document(std::optional<std::string> const& file, bool continues) : file_(file) {
    if (!continues || !std::filesystem::exists(*file)) return;
    json const found =
        json::parse(bench::read_file(*file, "--json"), nullptr, /*allow_exceptions=*/false);
    if (!found.is_object() || found.value("program", "") != "wane-recall" ||
        !found.contains("experiments") || !found["experiments"].is_array())
      throw bench::input_error("--resume: " + bench::in_quotes(*file) +
                               " is no document of wane-recall");
    rows_ = found["experiments"];
  }

  std::optional<outcome> found_of(experiment const& of) const {
    nlohmann::json const settings = settings_of(of);  // equal in any order
    for (json const& row : rows_)
      if (nlohmann::json(row.value("settings", json())) == settings) return outcome_in(row);
    return std::nullopt;
  }
  // The file is whole at every moment.
  void add(measured const& m) {
    if (!file_) return;
    rows_.push_back(json_of(m));
    json const all{{"program", "wane-recall"}, {"experiments", rows_}};
    bench::write_file(*file_ + ".part", all.dump(1) + "\n");
    std::filesystem::rename(*file_ + ".part", *file_);
  }

 private:
  std::optional<std::string> file_;
  json rows_ = json::array();
};

// An experiment whose numbers overflow is a row of NaN; the others go on.
outcome run_or_diverge(experiment const& e, bench::progress& shown) {
  try {
    return run(e, [&](index) {
      shown.advance();
      return !stopped;
    });
  } catch (wane::error const& problem) {
    std::fprintf(stderr, "wane-recall: %s diverged: %s\n", e.model.memory.c_str(), problem.what());
    return {.steps = e.how.steps, .seconds = NAN, .tests = std::vector<tested>(e.tests.size())};
  }
}

int train_all(options const& asked) {
  for (int const signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { stopped = true; });
  document kept(asked.json, asked.resume);
  std::vector<measured> rows;
  auto const add = [&](measured m) {
    m.found.weights.clear();
    rows.push_back(std::move(m));
    if (asked.csv) bench::write_file(*asked.csv, csv_of(rows));
  };
  bench::progress shown;
  for (experiment const& e : asked.experiments) {
    std::string const weights = asked.save ? *asked.save + "/" + file_name_of(e) : "";
    auto known = kept.found_of(e);
    if (known && (weights.empty() || std::filesystem::exists(weights))) {
      add({e, std::move(*known)});
      continue;
    }
    std::string const what = e.model.memory + ", " + description_of(e.trained_on()) + ", seed " +
                             std::to_string(e.model.seed);
    shown.begin(what, static_cast<std::size_t>(e.how.steps));
    measured m{e, run_or_diverge(e, shown)};
    if (stopped) break;
    if (!known) kept.add(m);
    if (!weights.empty() && !m.found.weights.empty()) save_weights(weights, m);
    add(std::move(m));
  }
  shown.wipe();
  if (!rows.empty()) {
    std::fputs(table_of(rows).c_str(), stdout);
    for (std::string const& more : {seeds_of(rows), orders_of(rows)})
      if (!more.empty()) std::fputs(("\n" + more).c_str(), stdout);
  }
  if (asked.plot && !rows.empty() && !bench::draw(picture_of(rows), *asked.plot))
    throw bench::input_error("--plot needs gnuplot, which is not installed");
  if (!stopped) return 0;
  std::fprintf(stderr, "wane-recall: stopped; %zu of %zu experiments were done\n", rows.size(),
               asked.experiments.size());
  return 130;
}

}  // namespace
}  // namespace wane::recall

int main(int argc, char** argv) {
  wane::recall::keep_freed_memory();
  return wane::bench::exit_status("wane-recall", [&] {
    auto const asked = wane::recall::read_options(argc, argv);
    return asked ? wane::recall::train_all(*asked) : 0;
  });
}
