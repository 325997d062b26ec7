// wane-recall: small models trained with wane's adjoints, compared by what they recall.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "recall/options.hpp"
#include "recall/picture.hpp"
#include "recall/report.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"
#include "shared/progress.hpp"

namespace wane::recall {
namespace {

std::atomic<bool> stopped = false;

// Files are whole after every experiment, so that a long run leaves what it has measured.
void write_files(options const& asked, std::vector<measured> const& rows) {
  if (asked.json) bench::write_file(*asked.json, json_of(rows).dump(1) + "\n");
  if (asked.csv) bench::write_file(*asked.csv, csv_of(rows));
  if (asked.save)
    bench::write_file(*asked.save + "/" + file_name_of(rows.back().of), weights_of(rows.back()));
}

int train_all(options const& asked) {
  for (int const signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { stopped = true; });
  std::vector<measured> rows;
  bench::progress shown;
  for (experiment const& e : asked.experiments) {
    std::string const what = e.model.memory + ", " + std::to_string(e.train.pairs) + " pairs";
    shown.begin(what, static_cast<std::size_t>(e.how.steps));
    outcome const found = run(e, [&](index) {
      shown.advance();
      return !stopped;
    });
    if (stopped) break;
    rows.push_back({e, found});
    write_files(asked, rows);
  }
  shown.wipe();
  if (!rows.empty()) std::fputs(table_of(rows).c_str(), stdout);
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
  return wane::bench::exit_status("wane-recall", [&] {
    auto const asked = wane::recall::read_options(argc, argv);
    return asked ? wane::recall::train_all(*asked) : 0;
  });
}
