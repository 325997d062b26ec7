// The row of retention on VORT's banks: K:10 banks of S:15 nodes, V:512 channels.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <memory>
#include <string>

#include "kernels/buffers.hpp"
#include "kernels/passes.hpp"
#include "kernels/retention_loops.hpp"
#include "kernels/row.hpp"
#include "wane/operators/retention.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/order_banks.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace wane::bench {
namespace {

constexpr index banks = 10, nodes = 15, channels = 512, tokens = 1024;
constexpr double least = 0.1;

spectra::exponential_sum bank_of(double order) {
  return spectra::sum_of_terms(spectra::gruenwald_letnikov(order), 1000000, nodes);
}

// The paper's banks have S nodes each; order 1 needs one, and its other nodes stay empty.
template <class T>
vort_banks<T> as_printed() {
  vort_banks<T> all;
  for (double order : spectra::vort_orders(banks, least)) {
    auto sum = bank_of(order);
    sum.rates.resize(nodes, 0), sum.weights.resize(nodes, 0);
    all.order.push_back(static_cast<T>(order));
    for (double rate : sum.rates) all.factor.push_back(static_cast<T>(std::exp(-rate)));
    for (double weight : sum.weights) all.weight.push_back(static_cast<T>(weight));
  }
  return all;
}

struct banks_problem {
  spectra::order_banks<float> in_banks{spectra::vort_orders(banks, least), least, bank_of,
                                       spectra::lag_zero::of_sum};
  spectra::order_weights<float> shared{spectra::shared_rates(16, 1000000, least)};
  vort_banks<float> printed = as_printed<float>();
  keyed_matrix<float> value{tokens, channels}, alpha{tokens, 1}, output{tokens, channels},
      states{banks * nodes, channels};

  banks_problem() {
    numbers next;
    for (float& v : value.reshaped()) v = static_cast<float>(next(-1, 1));
    for (float& a : alpha.reshaped()) a = static_cast<float>(next(least, 1));
  }
  void ours(auto const& with) {
    timed_run(retention(retention_inputs<float>{.value = {value.data(), 1, tokens, 1, channels},
                                                .alpha = {alpha.data(), 1, tokens, 1}},
                        with),
              sequence_view<float>(output.data(), 1, tokens, 1, channels),
              run_options<float>{.threads = 1});
  }
  void loop() {
    states.setZero();
    vort_forward(value, alpha, printed, states, output);
  }
  double error() const {
    keyed_matrix<double> s = keyed_matrix<double>::Zero(banks * nodes, channels),
                         y = keyed_matrix<double>::Zero(tokens, channels);
    vort_forward<double>(value.cast<double>(), alpha.cast<double>(), as_printed<double>(), s, y);
    return apart(output, y);
  }
};

}  // namespace

void add_retention_banks_rows() {
  std::string const name = "retention/forward/K:" + std::to_string(banks) +
                           "/S:" + std::to_string(nodes) + "/V:" + std::to_string(channels) +
                           "/T:" + std::to_string(tokens) + "/threads:1";
  add_row(name, [] {
    auto const problem = std::make_shared<banks_problem>();
    auto const routed = problem->in_banks.table(spectra::routing::nearest);
    contest c;
    c.ours = [=] { problem->ours(routed); };
    c.rivals = {{"vs_sequential", [=] { problem->loop(); }},
                {"vs_shared", [=] { problem->ours(problem->shared.table()); }, false}};
    c.tokens = double(tokens);
    c.flops = 4 * double(tokens * channels * routed.nodes());
    c.moved.threads = 1;
    c.outputs = {{problem->output.data(), std::size_t(problem->output.size())}};
    c.error = [=] { return problem->error(); };
    return c;
  });
}

}  // namespace wane::bench
