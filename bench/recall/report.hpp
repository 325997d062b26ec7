// What was measured, as a table of text, as CSV and as JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "recall/experiment.hpp"
#include "shared/fnv.hpp"
#include "shared/number_text.hpp"
#include "shared/text_table.hpp"
#include "wane/files/write_safetensors.hpp"

namespace wane::recall {

struct measured {
  experiment of;
  outcome found;
};

inline double bits_of(score const& of) { return of.mean_loss() / std::numbers::ln2; }
// "mqar, 8 pairs", "text".
inline std::string description_of(task const& of) {
  return of.name + (of.is_of_pairs() ? ", " + std::to_string(of.pairs) + " pairs" : "") +
         (of.name == "zipf" ? ", lag^-" + bench::formatted("%g", of.exponent) : "");
}

// Calls use(row, test, tested) for every test of every experiment.
template <class Use>
void for_each_test(std::vector<measured> const& rows, Use const& use) {
  for (measured const& m : rows)
    for (std::size_t i = 0; i < m.of.tests.size(); ++i) use(m, m.of.tests[i], m.found.tests[i]);
}

// A line for each test. The paper's number is an accuracy, or for a text bits.
inline std::string table_of(std::vector<measured> const& rows) {
  auto const fraction = [](double x) {
    return std::isnan(x) ? std::string("-") : bench::formatted("%.3f", x);
  };
  bench::table_cells lines{{"memory", "state", "mixing", "task", "tokens", "test", "seed", "steps",
                            "accuracy", "bits", "paper", "tokens/s", "seconds"}};
  for_each_test(rows, [&](measured const& m, test const& t, tested const& x) {
    score const& s = x.found;
    std::string state = "-";  // not known
    if (x.state.bytes > 0) state = bench::formatted("%.1f KB", double(x.state.bytes) / 1000);
    if (x.state.nodes > 0) state += bench::formatted(", %.1f nodes", x.state.nodes);
    lines.push_back({m.of.model.memory, state, name_of(m.of.model.mix), description_of(t.of),
                     std::to_string(t.of.time), t.name.empty() ? "fresh" : t.name,
                     std::to_string(m.of.model.seed), std::to_string(m.found.steps),
                     fraction(s.accuracy()), fraction(bits_of(s)), fraction(t.paper),
                     bench::formatted("%.0f", m.found.tokens_per_second()),
                     bench::formatted("%.1f", m.found.seconds)});
  });
  return bench::aligned(lines);
}

// Mean orders of the kinds of symbols, in a task of labels behind keys.
struct orders_by_kind {
  double keys, labels, others;
};
inline orders_by_kind by_kind(std::vector<double> const& orders, task const& of) {
  auto const mean = [&](int begin, int end) {
    double sum = 0, seen = 0;
    for (int n = begin; n < end; ++n)
      if (double const x = orders[static_cast<std::size_t>(n)]; !std::isnan(x)) sum += x, ++seen;
    return sum / seen;
  };
  int const labels = of.keys, others = labels + task::labels;
  return {mean(0, labels), mean(labels, others), mean(others, of.vocabulary)};
}
// A line for each memory that learned orders in such a task. "" where there is none.
inline std::string orders_of(std::vector<measured> const& rows) {
  bench::table_cells lines{{"memory", "task", "seed", "order of keys", "labels", "others"}};
  for (measured const& m : rows) {
    task const& t = m.of.trained_on();
    std::vector<double> const& all = m.found.tests[0].state.orders;
    if (all.empty() || !t.is_of_lags()) continue;
    orders_by_kind const mean = by_kind(all, t);
    std::vector<std::string> line{m.of.model.memory, description_of(t),
                                  std::to_string(m.of.model.seed)};
    for (double const x : {mean.keys, mean.labels, mean.others})
      line.push_back(bench::formatted("%.3f", x));
    lines.push_back(std::move(line));
  }
  return lines.size() > 1 ? bench::aligned(lines) : "";
}

inline std::string csv_of(std::vector<measured> const& rows) {
  std::string text =
      "memory,state_bytes,mixing,task,pairs,tokens,test,seed,steps,accuracy,bits,paper,"
      "tokens_per_second,seconds\n";
  auto const number = [](double x) { return std::isnan(x) ? std::string() : bench::exact(x); };
  for_each_test(rows, [&](measured const& m, test const& t, tested const& x) {
    score const& s = x.found;
    text += m.of.model.memory + ',' + (x.state.bytes > 0 ? std::to_string(x.state.bytes) : "") +
            ',' + name_of(m.of.model.mix) + ',' + t.of.name + ',' +
            (t.of.is_of_pairs() ? std::to_string(t.of.pairs) : "") + ',' +
            std::to_string(t.of.time) + ',' + t.name + ',' + std::to_string(m.of.model.seed) + ',' +
            std::to_string(m.found.steps) + ',' + number(s.accuracy()) + ',' + number(bits_of(s)) +
            ',' + number(t.paper) + ',' + number(m.found.tokens_per_second()) + ',' +
            number(m.found.seconds) + '\n';
  });
  return text;
}

// Writes the weights of an experiment as a safetensors file, [in, out]; A_log and dt_bias, which
// have one number for each head, are [H], as wane-spectra --checkpoint reads them.
inline void save_weights(std::string const& path, measured const& m) {
  std::vector<stored_tensor> all;
  for (trained const& w : m.found.weights) {
    std::vector<index> shape{w.rows, w.columns};
    if (w.rows == 1) shape.erase(shape.begin());
    all.push_back(stored_tensor::of(w.name, shape, w.values));
  }
  write_safetensors(path, all);
}
inline std::string file_name_of(experiment const& of) {
  task const& t = of.trained_on();
  return of.model.memory + '-' + name_of(of.model.mix) + '-' + t.name +
         (t.is_of_pairs() ? '-' + std::to_string(t.pairs) + "-pairs" : "") +
         (t.name == "zipf" ? bench::formatted("-%g", t.exponent) : "") + '-' +
         std::to_string(t.time) + "-tokens-" + std::to_string(of.model.heads) + "-heads-" +
         std::to_string(of.how.steps) + "-steps-seed-" + std::to_string(of.model.seed) +
         ".safetensors";
}

using json = nlohmann::ordered_json;

// Everything that an experiment's results follow from.
inline json settings_of(experiment const& of) {
  auto const task_json = [](task const& t) {
    json one{{"task", t.name}, {"tokens", t.time}};
    if (t.is_of_pairs()) one["pairs"] = t.pairs, one["keys"] = {t.first_key, t.keys};
    if (t.name == "zipf") one["exponent"] = t.exponent;
    if (t.name == "labels") one["mentions"] = t.mentions;
    if (t.is_of_lags() || t.name == "text") one["lags"] = {t.least_lag, t.most_lag};
    if (t.prose) one["text"] = bench::fnv_1a(*t.prose);
    return one;
  };
  json stages = json::array(), tests = json::array();
  for (task const& t : of.stages) stages.push_back(task_json(t));
  for (test const& t : of.tests) tests.push_back(task_json(t.of));
  return {{"memory", of.model.memory},
          {"mixing", name_of(of.model.mix)},
          {"seed", of.model.seed},
          {"steps", of.how.steps},
          {"batch", of.how.batch},
          {"learning_rate", of.how.learning_rate},
          {"weight_decay", of.how.weight_decay},
          {"width", of.model.width},
          {"heads", of.model.heads},
          {"layers", of.model.layers},
          {"feed_forward", of.model.feed_forward},
          {"vocabulary", of.model.vocabulary},
          {"positions", of.model.positions},
          {"output_norm", of.model.output_norm},
          {"embedding_size", of.model.embedding_size},
          {"weight_size", of.model.weight_size},
          {"stages", stages},
          {"tested_on", tests},
          {"test_batches", of.test_batches}};
}

inline json json_of(measured const& m) {
  json curve = json::array(), tests = json::array();
  for (point const& p : m.found.curve)
    curve.push_back({{"step", p.step}, {"loss", p.loss}, {"accuracy", p.accuracy}});
  for (std::size_t i = 0; i < m.of.tests.size(); ++i) {
    test const& t = m.of.tests[i];
    auto const& [s, state] = m.found.tests[i];
    json row{{"test", t.name}, {"tokens", t.of.time}};
    if (t.of.is_of_pairs()) row["pairs"] = t.of.pairs;
    row["accuracy"] = s.accuracy(), row["loss"] = s.mean_loss(), row["questions"] = s.asked;
    if (state.bytes > 0) row["state_bytes"] = state.bytes;
    if (state.nodes > 0) row["active_nodes"] = state.nodes;
    if (!state.orders.empty()) {
      row["orders_of_symbols"] = state.orders;
      if (t.of.is_of_lags()) {
        orders_by_kind const mean = by_kind(state.orders, t.of);
        row["orders"] = {{"keys", mean.keys}, {"labels", mean.labels}, {"others", mean.others}};
      }
    }
    row["paper"] = std::isnan(t.paper) ? json() : json(t.paper);
    tests.push_back(std::move(row));
  }
  return {{"task", m.of.trained_on().name},
          {"settings", settings_of(m.of)},
          {"seconds", m.found.seconds},
          {"tokens_trained_on", m.found.tokens},
          {"tests", tests},
          {"training", curve}};
}

// What a row of such a document found, without weights.
inline outcome outcome_in(json const& row) {
  auto const number = [](json const& x) { return x.is_null() ? NAN : x.get<double>(); };
  outcome found{.steps = row.at("settings").at("steps"),
                .tokens = row.at("tokens_trained_on"),
                .seconds = number(row.at("seconds"))};
  for (json const& t : row.at("tests")) {
    double const asked = number(t.at("questions"));
    found.tests.push_back({{number(t.at("loss")) * asked, number(t.at("accuracy")) * asked, asked},
                           {t.value("state_bytes", index(0)), t.value("active_nodes", 0.)}});
    if (t.contains("orders_of_symbols"))
      for (json const& x : t["orders_of_symbols"])
        found.tests.back().state.orders.push_back(number(x));
  }
  for (json const& p : row.at("training"))
    found.curve.push_back({p.at("step"), number(p.at("loss")), number(p.at("accuracy"))});
  return found;
}

}  // namespace wane::recall
