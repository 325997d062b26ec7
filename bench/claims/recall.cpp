// What the papers say of trained models, against the models that wane-recall trained.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "claims/claim.hpp"
#include "shared/input.hpp"
#include "shared/interval.hpp"

namespace wane::bench {
namespace {

using nlohmann::json;

// Accuracies of a memory in a test, with their seeds.
using accuracies = std::vector<std::pair<unsigned, double>>;

struct wanted {
  std::string memory, mixing, task, test;
  int pairs = 0, steps = 0;  // 0: any
};

accuracies found_in(json const& experiments, wanted const& of) {
  accuracies all;
  for (json const& e : experiments) {
    json const& settings = e.at("settings");
    if (settings.at("memory") != of.memory || settings.at("mixing") != of.mixing ||
        e.at("task") != of.task || (of.steps != 0 && settings.at("steps") != of.steps))
      continue;
    for (json const& t : e.at("tests"))
      if (t.at("test") == of.test && (of.pairs == 0 || t.value("pairs", 0) == of.pairs))
        all.emplace_back(settings.at("seed"), t.at("accuracy"));
  }
  return all;
}

double mean_of(accuracies const& of) {
  double sum = 0;
  for (auto const& [seed, accuracy] : of) sum += accuracy;
  return sum / static_cast<double>(of.size());
}

std::string text_of(accuracies const& of) {
  std::string text;
  char one[60];
  for (auto const& [seed, accuracy] : of) {
    std::snprintf(one, sizeof one, "%s%.3f (seed %u)", text.empty() ? "" : ", ", accuracy, seed);
    text += one;
  }
  return text;
}

// Table 11 of the VLA paper: what the baselines reach, and what they reach once a key is that of
// the token before.
void add_vla(std::vector<claim>& claims, json const& experiments) {
  struct {
    char const *id, *memory, *statement;
    int pairs;
    double paper;
  } const rows[] = {
      {"vla-trained-8", "softmax", "accuracy of softmax attention, 8 pairs, 1000 steps", 8, .152},
      {"vla-trained-16", "vla-unit", "accuracy of VLA, 16 pairs, 1000 steps", 16, .990},
      {"vla-trained-24", "vla-unit", "accuracy of VLA, 24 pairs, 1000 steps", 24, .994},
      {"vla-trained-32", "vla-unit", "accuracy of VLA, 32 pairs, 1000 steps", 32, .623}};
  for (auto const& row : rows) {
    auto const plain = found_in(experiments, {row.memory, "none", "mqar", "", row.pairs, 1000});
    if (plain.empty()) continue;
    auto const shifted = found_in(experiments, {row.memory, "shift", "mqar", "", row.pairs, 1000});
    std::string remark = text_of(plain) + " without mixing";
    if (!shifted.empty()) remark += "; with the keys of the token before " + text_of(shifted);
    double const ours = mean_of(plain);
    claims.push_back({row.id, "VLA, Table 11", row.statement, row.paper, [=, paper = row.paper] {
                        return finding{ours, std::abs(ours - paper) <= 0.1, false, remark};
                      }});
  }
}

// Table 2 of the PoST paper: what PoST adds at four times the length trained at.
void add_post(std::vector<claim>& claims, json const& experiments) {
  struct {
    char const* memory;
    double paper;
  } const rows[] = {{"mamba2", .441 - .312}, {"rwkv7", .709 - .460}, {"gated-delta", .357 - .317}};
  for (auto const& row : rows) {
    std::string const memory = row.memory;
    std::vector<double> added;
    auto const with = found_in(experiments, {memory + "-post", "shift", "mqar", "4 T"});
    for (auto const& [seed, without] : found_in(experiments, {memory, "shift", "mqar", "4 T"}))
      for (auto const& [other, accuracy] : with)
        if (seed == other) added.push_back(accuracy - without);
    if (added.size() < 2) continue;
    interval const of = interval_of(added);
    char remark[160];
    std::snprintf(remark, sizeof remark,
                  "%zu seeds, the mean within %.3f (95 %%); trained at 64 tokens, state 3K",
                  added.size(), of.half_width);
    claims.push_back({"post-trained-" + memory, "PoST, Table 2",
                      "accuracy that PoST adds at 4 times the length, state 16K", row.paper,
                      [of, remark = std::string(remark)] {
                        return finding{of.mean, of.mean > of.half_width, false, remark};
                      }});
  }
}

// Tables 1 and 2 of the VORT paper: accuracies at the longest lags.
void add_vort(std::vector<claim>& claims, json const& experiments) {
  struct {
    char const *id, *place, *memory, *task;
    double paper;
  } const rows[] = {{"vort-trained-1", "VORT, Table 1", "power-law", "zipf", .794},
                    {"vort-trained-1-exp", "VORT, Table 1", "exponential", "zipf", .523},
                    {"vort-trained-2", "VORT, Table 2", "power-law", "labels", .827},
                    {"vort-trained-2-exp", "VORT, Table 2", "exponential", "labels", .584}};
  for (auto const& row : rows) {
    bool const zipf = row.task == std::string("zipf");
    auto const all = found_in(
        experiments, {row.memory, "shift", row.task, zipf ? "lag above 1000" : "lag above 500"});
    if (all.empty()) continue;
    bool const power_law = row.memory == std::string("power-law");
    double const ours = mean_of(all);
    claims.push_back({row.id, row.place,
                      std::string(power_law ? "the power law keeps" : "an exponential falls to") +
                          " this accuracy at the longest lags",
                      row.paper, [=, paper = row.paper, remark = text_of(all)] {
                        return finding{ours, power_law ? ours >= paper - 0.05 : ours <= paper + 0.1,
                                       false, remark};
                      }});
  }
}

// Figure 5 of the VORT paper: the learned orders of what is worth keeping, here labels, against
// those of all else but keys.
void add_orders(std::vector<claim>& claims, json const& experiments) {
  std::vector<double> apart;
  for (json const& e : experiments) {
    json const& test = e.at("tests").at(0);
    if (e.at("settings").at("memory") != "power-law-orders" || e.at("task") != "labels" ||
        !test.contains("orders"))
      continue;
    json const& mean = test["orders"];
    apart.push_back(mean.at("labels").get<double>() - mean.at("others").get<double>());
  }
  if (apart.empty()) return;
  double const ours = interval_of(apart).mean;
  claims.push_back({"vort-trained-fig5", "VORT, Figure 5",
                    "learned orders of what is worth keeping are higher by", .85 - .35, [=] {
                      return finding{ours, ours >= .4, false,
                                     "the labels of keys, against symbols that ask for nothing"};
                    }});
}

}  // namespace

std::vector<claim> recall_claims(std::string const& document) {
  json const all = json::parse(document, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object() || all.value("program", "") != "wane-recall")
    throw input_error("--trained takes the file that wane-recall --json writes; this is none");
  json const experiments = all.at("experiments");
  std::vector<claim> claims;
  add_vla(claims, experiments), add_post(claims, experiments), add_vort(claims, experiments);
  add_orders(claims, experiments);
  return claims;
}

}  // namespace wane::bench
