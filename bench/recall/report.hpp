// What was measured, as a table of text, as CSV and as JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/safetensors_writer.hpp"
#include "recall/experiment.hpp"
#include "shared/number_text.hpp"
#include "shared/text_table.hpp"

namespace wane::recall {

struct measured {
  experiment of;
  outcome found;
};

inline char const* name_of(mixing mix) {
  return mix == mixing::none ? "none" : mix == mixing::shift ? "shift" : "convolution";
}

// Accuracies stand beside the paper's, where it has them.
inline std::string table_of(std::vector<measured> const& rows) {
  auto const fraction = [](double x) {
    return std::isnan(x) ? std::string("-") : bench::formatted("%.3f", x);
  };
  bool other = false, paper = false;
  for (measured const& m : rows) other |= m.of.other.has_value(), paper |= !std::isnan(m.of.paper);
  bench::table_cells lines{{"memory", "mixing", "task", "pairs", "tokens", "seed", "steps"}};
  auto const head = [&](char const* name, bool present) {
    if (present) lines[0].push_back(name);
  };
  head("accuracy", true), head("paper", paper), head("other keys", other);
  head("paper ", paper && other), head("loss", true), head("tokens/s", true), head("seconds", true);
  for (auto const& [of, found] : rows) {
    std::vector<std::string> cells{of.model.memory,
                                   name_of(of.model.mix),
                                   of.train.name,
                                   std::to_string(of.train.pairs),
                                   std::to_string(of.train.time),
                                   std::to_string(of.model.seed),
                                   std::to_string(found.steps),
                                   fraction(found.fresh.accuracy())};
    if (paper) cells.push_back(fraction(of.paper));
    if (other) cells.push_back(of.other ? fraction(found.of_other.accuracy()) : "-");
    if (paper && other) cells.push_back(fraction(of.paper_of_other));
    cells.push_back(bench::formatted("%.3f", found.fresh.mean_loss()));
    cells.push_back(bench::formatted("%.0f", found.tokens_per_second(of)));
    cells.push_back(bench::formatted("%.1f", found.seconds));
    lines.push_back(std::move(cells));
  }
  return bench::aligned(lines);
}

inline std::string csv_of(std::vector<measured> const& rows) {
  std::string text =
      "memory,mixing,task,pairs,tokens,seed,steps,accuracy,paper,accuracy_other_keys,"
      "paper_other_keys,loss,tokens_per_second,seconds\n";
  auto const number = [](double x) { return std::isnan(x) ? std::string() : bench::exact(x); };
  for (auto const& [of, found] : rows)
    text += of.model.memory + ',' + name_of(of.model.mix) + ',' + of.train.name + ',' +
            std::to_string(of.train.pairs) + ',' + std::to_string(of.train.time) + ',' +
            std::to_string(of.model.seed) + ',' + std::to_string(found.steps) + ',' +
            number(found.fresh.accuracy()) + ',' + number(of.paper) + ',' +
            (of.other ? number(found.of_other.accuracy()) : "") + ',' + number(of.paper_of_other) +
            ',' + number(found.fresh.mean_loss()) + ',' + number(found.tokens_per_second(of)) +
            ',' + number(found.seconds) + '\n';
  return text;
}

// The weights of an experiment as a safetensors file, [in, out]; A_log and dt_bias, which have one
// number for each head, are [H], as wane-spectra --checkpoint reads them.
inline std::string weights_of(measured const& m) {
  std::vector<bench::named_numbers> all;
  for (trained const& w : m.found.weights) {
    std::vector<std::int64_t> shape{w.rows, w.columns};
    if (w.rows == 1) shape.erase(shape.begin());
    all.push_back({w.name, shape, w.values});
  }
  return bench::safetensors_of(all);
}
inline std::string file_name_of(experiment const& of) {
  return of.model.memory + '-' + name_of(of.model.mix) + '-' + of.train.name + '-' +
         std::to_string(of.train.pairs) + "-pairs-" + std::to_string(of.train.time) +
         "-tokens-seed-" + std::to_string(of.model.seed) + ".safetensors";
}

inline nlohmann::ordered_json json_of(std::vector<measured> const& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  auto const number = [](double x) -> nlohmann::ordered_json {
    if (std::isnan(x)) return nullptr;
    return x;
  };
  for (auto const& [of, found] : rows) {
    nlohmann::ordered_json curve = nlohmann::ordered_json::array();
    for (point const& p : found.curve)
      curve.push_back({{"step", p.step}, {"loss", p.loss}, {"accuracy", p.accuracy}});
    nlohmann::ordered_json row{{"memory", of.model.memory},
                               {"mixing", name_of(of.model.mix)},
                               {"task", of.train.name},
                               {"pairs", of.train.pairs},
                               {"tokens", of.train.time},
                               {"seed", of.model.seed},
                               {"width", of.model.width},
                               {"heads", of.model.heads},
                               {"layers", of.model.layers},
                               {"embedding_size", of.model.embedding_size},
                               {"learning_rate", of.how.learning_rate},
                               {"batch", of.how.batch},
                               {"steps", found.steps},
                               {"accuracy", found.fresh.accuracy()},
                               {"paper", number(of.paper)},
                               {"loss", found.fresh.mean_loss()},
                               {"seconds", found.seconds},
                               {"training", curve}};
    if (of.other) {
      row["accuracy_other_keys"] = found.of_other.accuracy();
      row["paper_other_keys"] = number(of.paper_of_other);
    }
    all.push_back(std::move(row));
  }
  return {{"program", "wane-recall"}, {"experiments", all}};
}

}  // namespace wane::recall
