// The common parts of the programs for a GPU: their device and their JSON.
// SPDX-License-Identifier: MIT
#include "cuda/shared/program.hpp"

#include <ctime>
#include <nlohmann/json.hpp>

namespace wane::bench {
namespace {

std::string date_now() {
  char text[32];
  std::time_t const now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace

void check_writable(std::string const& file) {
  if (!file.empty()) require_writable(file, "--json");
}

void write_json(std::string const& file, nlohmann::json const& document) {
  if (file.empty()) return;
  write_file(file, document.dump(2) + "\n");
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
