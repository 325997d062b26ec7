// wane-claims: the statements of the papers that can be checked by number, measured now.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "claims/claim.hpp"

namespace wane::bench {
namespace {

constexpr char const* purpose =
    "wane-claims: what the papers say, and what is measured.\n\n"
    "Each row is measured when it is printed. `holds`: as the paper has it. `corrected`: not as\n"
    "printed; wane has the form that holds, and it was measured too. `fails`: neither.";

char const* name_of(verdict judged) {
  return judged == verdict::holds ? "holds" : judged == verdict::fails ? "fails" : "corrected";
}

std::vector<claim> all_claims() {
  std::vector<claim> all = vort_claims();
  for (claim const& c : post_claims()) all.push_back(c);
  return all;
}

int run(std::string const& only, std::string const& json) {
  std::vector<claim> claims = all_claims();
  if (!only.empty()) std::erase_if(claims, [&](claim const& c) { return c.id != only; });
  if (claims.empty()) {
    std::fprintf(stderr, "wane-claims: no claim is called '%s'\n", only.c_str());
    return 2;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::printf("%-18s %-22s %11s %11s  %-9s  %s\n", "id", "place", "paper", "measured", "verdict",
              "statement; what was measured");
  for (claim const& c : claims) {
    finding const found = c.measure();
    std::printf("%-18s %-22s %11.6g %11.6g  %-9s  %s; %s\n", c.id.c_str(), c.place.c_str(), c.paper,
                found.ours, name_of(found.judged()), c.statement.c_str(), found.remark.c_str());
    std::fflush(stdout);
    rows.push_back({{"id", c.id},
                    {"place", c.place},
                    {"statement", c.statement},
                    {"paper", c.paper},
                    {"measured", found.ours},
                    {"verdict", name_of(found.judged())},
                    {"remark", found.remark}});
  }
  if (json.empty()) return 0;
  std::ofstream file(json);
  file << nlohmann::ordered_json{{"program", "wane-claims"}, {"claims", rows}}.dump(2) << '\n';
  if (file.flush()) return 0;
  std::fprintf(stderr, "wane-claims: '%s' cannot be written\n", json.c_str());
  return 2;
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  CLI::App app(wane::bench::purpose);
  std::string only, json;
  app.add_option("--only", only, "The claim of this id alone");
  app.add_option("--json", json, "Also write the rows to this file");
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const& help) {
    return app.exit(help);
  } catch (CLI::ParseError const& problem) {
    std::fprintf(stderr, "wane-claims: %s\n", problem.what());
    return 2;
  }
  try {
    return wane::bench::run(only, json);
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "wane-claims: %s\n", problem.what());
    return 1;
  }
}
