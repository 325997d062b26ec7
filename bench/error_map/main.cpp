// wane-error-map: how far float is from double, over tokens, decays and cuts.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "error_map/measure.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-error-map: how far gla, gated_delta_net and rwkv7 in float are from double.\n\n"
    "An error is the largest difference from a loop in double over the largest value of that\n"
    "loop. All tokens have the same log decay, 0 to -inf. Runs are cut into chunks of 1 (step),\n"
    "4 and 64 tokens, the state carried on, or not at all. The table has the largest error of the\n"
    "outputs over these four; the JSON has each, and those of the final state.";

struct options {
  index tokens = 65536;
  std::optional<std::string> json;
};

// 64, 256, ... up to most, and most.
std::vector<index> lengths(index most) {
  std::vector<index> found;
  for (index tokens = 64; tokens < most; tokens *= 4) found.push_back(tokens);
  found.push_back(most);
  return found;
}

nlohmann::ordered_json number_or_name(float log_decay) {
  if (std::isinf(log_decay)) return "-inf";
  return log_decay;
}

// Without a cut, JSON has null.
nlohmann::ordered_json chunk_or_null(index chunk) {
  if (chunk == 0) return nullptr;
  return chunk;
}

void map(options const& asked) {
  if (asked.json) require_writable(*asked.json, "--json");
  auto const tokens = lengths(asked.tokens);
  bool const progress = isatty(STDERR_FILENO) == 1;
  std::printf("%-16s %10s", "operator", "log decay");
  for (index const count : tokens) std::printf(" %8s%lld", "T ", static_cast<long long>(count));
  std::printf("\n");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (memory const which : memories)
    for (float const log_decay : log_decays()) {
      char text[32];
      std::snprintf(text, sizeof text, "%-16s %10g", name_of(which),
                    static_cast<double>(log_decay));
      std::string row = text;
      for (index const count : tokens) {
        double largest = 0;
        for (index const chunk : chunks) {
          if (progress)
            std::fprintf(stderr, "\r%s, log decay %g, T %lld ", name_of(which),
                         static_cast<double>(log_decay), static_cast<long long>(count));
          errors const found = measure(which, count, log_decay, chunk);
          largest = std::isnan(found.output) ? found.output : std::max(largest, found.output);
          rows.push_back({{"operator", name_of(which)},
                          {"tokens", count},
                          {"log_decay", number_or_name(log_decay)},
                          {"chunk", chunk_or_null(chunk)},
                          {"max_rel_error", found.output},
                          {"max_rel_error_of_state", found.state}});
        }
        std::snprintf(text, sizeof text, " %*.2e",
                      static_cast<int>(8 + std::to_string(count).size()), largest);
        row += text;
      }
      if (progress) std::fprintf(stderr, "\r%60s\r", "");
      std::printf("%s\n", row.c_str());
      std::fflush(stdout);
    }
  if (!asked.json) return;
  nlohmann::ordered_json const document{{"program", "wane-error-map"}, {"errors", rows}};
  write_file(*asked.json, document.dump(1) + "\n");
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  using namespace wane::bench;
  return exit_status("wane-error-map", [&] {
    CLI::App app(purpose);
    options asked;
    app.add_option("--tokens", asked.tokens, "The longest run [65536]")
        ->check(CLI::Range(wane::index{1}, wane::index{1} << 22));
    app.add_option("--json", asked.json, "Also write every error to this file");
    if (parse(app, argc, argv)) map(asked);
    return 0;
  });
}
