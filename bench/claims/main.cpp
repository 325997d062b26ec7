// wane-claims: the statements of the papers that can be checked by number, measured now.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/decay_layers.hpp"
#include "claims/claim.hpp"
#include "shared/exit_status.hpp"
#include "shared/input.hpp"

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
  std::vector<claim> all;
  for (auto const& part :
       {vort_kernel_claims(),     vort_quadrature_claims(), vort_mixture_claims(),
        vort_bank_claims(),       vort_output_claims(),     vort_retrieval_claims(),
        vort_cost_claims(),       vort_table_claims(),      stlt_absolute_claims(),
        stlt_bound_claims(),      stlt_gate_claims(),       stlt_relevance_claims(),
        post_rate_claims(),       post_position_claims(),   post_initial_claims(),
        post_invariance_claims(), post_condition_claims(),  vla_norm_claims(),
        vla_jacobian_claims(),    vla_recall_claims(),      vla_capacity_claims()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct options {
  std::string only;
  std::optional<std::string> json;
  std::string trained;
  bool timings = false, takes_long = false;
  std::vector<std::string> checkpoint;
  std::int64_t trained_on = 2048;  // as PoST's models
};

void run(options const& asked) {
  if (asked.json) require_writable(*asked.json, "--json");
  std::vector<claim> claims = all_claims();
  if (!asked.checkpoint.empty()) {
    auto const layers = decay_layers(checkpoint(asked.checkpoint), {});
    for (auto const& one : post_trained_claims(layers, asked.trained_on)) claims.push_back(one);
  }
  if (!asked.trained.empty())
    for (auto const& one : recall_claims(read_file(asked.trained, "--trained")))
      claims.push_back(one);
  auto const both = [](std::vector<claim> first, std::vector<claim> const& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  struct {
    std::string what, option;
    bool asked;
    std::vector<claim> claims;
  } const on_demand[] = {
      {"claims about time are", "--timings", asked.timings,
       both(both(post_overhead_claims(), stlt_cost_claims()), vla_cost_claims())},
      {"claims of a million tokens are", "--long", asked.takes_long,
       both(vort_long_claims(), stlt_long_claims())}};
  for (auto const& some : on_demand) {
    if (some.asked) claims.insert(claims.end(), some.claims.begin(), some.claims.end());
    for (claim const& c : some.claims)
      if (c.id == asked.only && !some.asked)
        throw input_error(in_quotes(asked.only) + " needs " + some.option);
  }
  if (!asked.only.empty())
    std::erase_if(claims, [&](claim const& c) { return c.id != asked.only; });
  if (claims.empty()) throw input_error("no claim is called " + in_quotes(asked.only));
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
  for (auto const& some : on_demand)
    if (!some.asked && asked.only.empty())
      std::printf("%zu %s left out; %s measures them\n", some.claims.size(), some.what.c_str(),
                  some.option.c_str());
  if (asked.json) {
    nlohmann::ordered_json const document{{"program", "wane-claims"}, {"claims", rows}};
    write_file(*asked.json, document.dump(2) + "\n");
  }
}

}  // namespace
}  // namespace wane::bench

int main(int argc, char** argv) {
  using namespace wane::bench;
  return exit_status("wane-claims", [&] {
    CLI::App app(purpose);
    options asked;
    app.add_option("--only", asked.only, "The claim of this id alone");
    app.add_flag("--timings", asked.timings,
                 "Also the claims about time: for an otherwise idle machine");
    app.add_option("--json", asked.json, "Also write the rows to this file");
    app.add_flag("--long", asked.takes_long, "Also the claims that take most of a minute");
    auto* const files =
        app.add_option("--checkpoint", asked.checkpoint,
                       "Also the claims about trained models, of this one (docs/wane-spectra.md)");
    app.add_option("--trained-on", asked.trained_on, "Its tokens in a sequence [2048]")
        ->needs(files)
        ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 53));
    app.add_option("--trained", asked.trained,
                   "Also the claims about models that wane-recall trained, from its --json file\n"
                   "(docs/recall.md)");
    if (parse(app, argc, argv)) run(asked);
    return 0;
  });
}
