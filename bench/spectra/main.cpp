// wane-spectra: compares decay spectra against a kernel, given in closed form or measured.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "spectra/compare.hpp"
#include "spectra/gnuplot.hpp"
#include "spectra/input.hpp"
#include "spectra/json.hpp"
#include "spectra/measure.hpp"
#include "spectra/options.hpp"
#include "spectra/picture.hpp"
#include "spectra/progress.hpp"
#include "spectra/report.hpp"
#include "spectra/summary.hpp"
#include "spectra/table.hpp"
#include "spectra/target.hpp"
#include "wane/core/error.hpp"

namespace wane::bench {
namespace {

// One line on stderr, whatever the message holds.
void say(std::string const& message) {
  std::string line = "wane-spectra: " + message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "%s\n", line.c_str());
}

void write_picture(report const& found) {
  options const& asked = found.asked;
  if (draw(picture(found), asked.plot)) return;
  std::string data = asked.csv.empty() ? asked.json : asked.csv;
  if (data.empty()) {
    data = asked.plot + ".csv";
    write_file(data, comparison_csv(found.rows));
  }
  say("gnuplot is not installed (gnuplot-nox), so " + in_quotes(asked.plot) +
      " was not drawn; its data are in " + in_quotes(data));
}

void write_files(report const& found) {
  options const& asked = found.asked;
  if (!asked.json.empty()) write_file(asked.json, json_text(found));
  if (!asked.csv.empty()) write_file(asked.csv, comparison_csv(found.rows));
  if (!asked.plot.empty()) write_picture(found);
}

void run(options const& asked) {
  progress shown;
  report found = measured(asked, shown);
  found.rows = compare(found.asked, found.goal, shown);
  found.sums = find_sums(found.asked, found.goal);
  shown.wipe();
  std::string const text = summary(found);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("writing the table failed");
  }
  write_files(found);
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  using namespace wane::bench;
  try {
    if (auto const asked = parse_options(argc, argv)) run(*asked);
    return 0;
  } catch (input_error const& problem) {
    say(problem.what());
    return 2;
  } catch (wane::error const& problem) {
    say(problem.what());
    return 2;
  } catch (std::exception const& problem) {
    say(problem.what());
    return 1;
  }
}
