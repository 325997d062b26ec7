// What the programs for a GPU have in common: wrong options, exit statuses, JSON.
// SPDX-License-Identifier: MIT
#include "cuda/shared/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

namespace wane::bench {
namespace {

int say(char const* program, std::string message, int status) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "%s: %s\n", program, message.c_str());
  return status;
}

std::string date_now() {
  char text[32];
  std::time_t const now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace

int exit_status(char const* program, std::function<int()> const& body) {
  try {
    return body();
  } catch (wrong_option const& problem) {
    return say(program, problem.what(), 2);
  } catch (no_device const& problem) {
    return say(program, problem.what(), 2);
  } catch (std::exception const& problem) {
    return say(program, problem.what(), 1);
  }
}

bool parse(CLI::App& app, int argc, char const* const* argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (CLI::CallForHelp const& help) {
    app.exit(help);
    return false;
  } catch (CLI::ParseError const& problem) {
    throw wrong_option(problem.what());
  }
}

void check_writable(std::string const& file) {
  if (!file.empty() && !std::ofstream(file, std::ios::app))
    throw wrong_option("cannot write to '" + file + "'");
}

void write_json(std::string const& file, nlohmann::json const& document) {
  if (file.empty()) return;
  std::ofstream to(file);
  to << document.dump(2) << "\n";
  to.flush();
  if (!to) throw std::runtime_error("writing '" + file + "' failed");
}

nlohmann::json head_of_report(gpu const& found) {
  return {{"date", date_now()},
          {"gpu",
           {{"name", found.name},
            {"compute_capability", std::to_string(found.major) + "." + std::to_string(found.minor)},
            {"memory_bytes", found.memory_bytes},
            {"multiprocessors", found.processors}}},
          {"cuda", {{"driver", found.driver}, {"runtime", found.runtime}}}};
}

std::string line_of(gpu const& found) {
  return found.name + ", compute capability " + std::to_string(found.major) + "." +
         std::to_string(found.minor) + ", " + std::to_string(found.processors) +
         " multiprocessors, " + std::to_string(found.memory_bytes >> 30) +
         " GiB, driver for CUDA " + found.driver + ", runtime " + found.runtime;
}

}  // namespace wane::bench
