// wane-spectra: compares decay spectra against a kernel, given in closed form or measured.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shared/gnuplot.hpp"
#include "shared/input.hpp"
#include "shared/progress.hpp"
#include "spectra/checkpoint_json.hpp"
#include "spectra/checkpoint_picture.hpp"
#include "spectra/checkpoint_report.hpp"
#include "spectra/checkpoint_summary.hpp"
#include "spectra/compare.hpp"
#include "spectra/json.hpp"
#include "spectra/laplace_json.hpp"
#include "spectra/laplace_picture.hpp"
#include "spectra/laplace_report.hpp"
#include "spectra/laplace_summary.hpp"
#include "spectra/measure.hpp"
#include "spectra/octaves/json.hpp"
#include "spectra/octaves/picture.hpp"
#include "spectra/octaves/report.hpp"
#include "spectra/octaves/summary.hpp"
#include "spectra/options.hpp"
#include "spectra/picture.hpp"
#include "spectra/report.hpp"
#include "spectra/summary.hpp"
#include "spectra/table.hpp"
#include "spectra/target.hpp"
#include "wane/core/error.hpp"

namespace wane::bench {
namespace {

// One line on stderr, for any message.
void say(std::string const& message) {
  std::fprintf(stderr, "wane-spectra: %s\n", printable(message).c_str());
}

// Writes a report in each requested form.
struct outputs {
  std::string summary;
  std::function<std::string()> csv, json, picture;
};

void draw_picture(options const& asked, outputs const& found) {
  if (draw(found.picture(), asked.plot)) return;
  std::string data = asked.csv.empty() ? asked.json : asked.csv;
  if (data.empty()) {
    data = asked.plot + ".csv";
    write_file(data, found.csv());
  }
  say("gnuplot is not installed (gnuplot-nox), so " + in_quotes(asked.plot) +
      " was not drawn; its data are in " + in_quotes(data));
}

void put_out(options const& asked, outputs const& found) {
  std::string const& text = found.summary;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("writing the table failed");
  }
  if (!asked.json.empty()) write_file(asked.json, found.json());
  if (!asked.csv.empty()) write_file(asked.csv, found.csv());
  if (!asked.plot.empty()) draw_picture(asked, found);
}

outputs compared_spectra(options const& asked, progress& shown) {
  report found = measured(asked, shown);
  found.rows = compare(found.asked, found.goal, shown);
  found.sums = find_sums(found.asked, found.goal);
  found.fewest = fewest_exponentials(found);
  return {summary(found), [found] { return comparison_csv(found.rows); },
          [found] { return json_text(found); }, [found] { return picture(found); }};
}

outputs read_checkpoint(options const& asked, progress& shown) {
  auto const found = std::make_shared<checkpoint_report const>(report_on_checkpoint(asked, shown));
  return {summary(*found), [found] { return checkpoint_csv(*found); },
          [found] { return json_text(*found); }, [found] { return picture(*found); }};
}

outputs read_laplace(std::string const& file) {
  laplace_report const found = report_on_laplace(file);
  return {summary(found), [found] { return laplace_csv(found); },
          [found] { return json_text(found); }, [found] { return picture(found); }};
}

outputs read_octaves(options const& asked, progress& shown) {
  auto const found = std::make_shared<octave_report const>(report_on_octaves(asked, shown));
  return {summary(*found), [found] { return octave_csv(*found); },
          [found] { return json_text(*found); }, [found] { return picture(*found); }};
}

void run(options const& asked) {
  progress shown;
  outputs const found = asked.laplace               ? read_laplace(*asked.laplace)
                        : !asked.checkpoint.empty() ? read_checkpoint(asked, shown)
                        : asked.octaves             ? read_octaves(asked, shown)
                                                    : compared_spectra(asked, shown);
  shown.wipe();
  put_out(asked, found);
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
