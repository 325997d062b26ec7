// The rows of retention and retrieval: S:16 nodes, V channels, and F features of a key.
// SPDX-License-Identifier: MIT
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/buffers.hpp"
#include "kernels/passes.hpp"
#include "kernels/retention_loops.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"
#include "wane/operators/retention.hpp"
#include "wane/operators/retrieval.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace wane::bench {
namespace {

using plain_retrieval = retrieval<float, normaliser::none>;

spectra::shared_rates const& rates() {
  static spectra::shared_rates const found(16, 1000000);
  return found;
}

struct retention_case {
  pass what;
  index features, columns, tokens = 1;  // no features: retention
  int threads = 1;

  std::string name() const {
    std::string const features_of = features ? "/F:" + std::to_string(features) : std::string();
    return (features ? "retrieval" : "retention") + name_of(what) + "/S:16" + features_of +
           "/V:" + std::to_string(columns) + "/T:" + std::to_string(tokens) +
           "/threads:" + std::to_string(threads);
  }
  index rows() const { return 16 * (features ? features : 1); }
};

// Orders of all sizes; keys and queries about as long as their product is 1.
struct retention_problem {
  retention_case row;
  spectra::order_weights<float> nodes{rates()};
  spectra::order_weights<double> nodes_of_oracle{rates()};
  retention_arrays<float> in, gradients;
  keyed_matrix<float> output, output_gradient, initial, loop_states, states;
  numbers next;

  explicit retention_problem(retention_case const& r) : row(r) {
    index const n = r.tokens;
    in.query = in.key = keyed_matrix<float>::Ones(n, 1);
    if (r.features)
      in.query = filled(n, r.features, 0, 0.2), in.key = filled(n, r.features, 0, 0.2);
    in.value = filled(n, r.columns, -1, 1), in.alpha = filled(n, 1, 0.1, 1);
    gradients = in, output = in.value, output_gradient = filled(n, r.columns, -1, 1);
    initial = filled(r.rows(), r.columns, -1, 1);
    if (r.what != pass::step) initial.setZero();
    loop_states = states = initial;
  }
  keyed_matrix<float> filled(index rows, index columns, double low, double high) {
    return keyed_matrix<float>::NullaryExpr(rows, columns,
                                            [&] { return static_cast<float>(next(low, high)); });
  }

  template <class Rows>
  static auto of(Rows& x) {
    using T = std::remove_reference_t<decltype(*x.data())>;
    return sequence_view<T>(x.data(), 1, x.rows(), 1, x.cols());
  }
  template <class Rows>
  static auto by_token(Rows& x) {
    using T = std::remove_reference_t<decltype(*x.data())>;
    return token_view<T>(x.data(), 1, x.rows(), 1);
  }
  // use(operator, where its gradients go)
  void with_operator(auto const& use) {
    auto const& x = in;
    if (row.features)
      use(plain_retrieval({.query = of(x.query),
                           .key = of(x.key),
                           .value = of(x.value),
                           .alpha = by_token(x.alpha)},
                          nodes.table()),
          plain_retrieval::gradients{.query = of(gradients.query),
                                     .key = of(gradients.key),
                                     .value = of(gradients.value),
                                     .alpha = by_token(gradients.alpha)});
    else
      use(retention<float>({.value = of(x.value), .alpha = by_token(x.alpha)}, nodes.table()),
          retention<float>::gradients{.value = of(gradients.value),
                                      .alpha = by_token(gradients.alpha)});
  }
  void ours() {
    with_operator([&](auto const& op, auto const& to) {
      if (row.what == pass::forward)
        timed_run(op, of(output), run_options<float>{.threads = row.threads});
      else if (row.what == pass::step)
        timed_step(op, of(output),
                   state_view<float>{{states.data(), 1, 1, row.rows(), row.columns}});
      else
        timed_adjoint(op, of(output_gradient), to, adjoint_options<float>{.threads = row.threads});
    });
  }
  // The loop has its own state and writes its results to the arrays of ours.
  void loop() {
    if (row.what == pass::backward)
      return retention_backward(in, nodes.table(), output_gradient, gradients);
    if (row.what == pass::forward) loop_states = initial;
    retention_forward(in, nodes.table(), loop_states, output);
  }
  double error() const {
    auto const wide = in.cast<double>();
    if (row.what != pass::backward) {
      keyed_matrix<double> s = initial.cast<double>(), y = output.cast<double>();
      retention_forward(wide, nodes_of_oracle.table(), s, y);
      return apart(output, y);
    }
    auto to = wide;
    retention_backward<double>(wide, nodes_of_oracle.table(), output_gradient.cast<double>(), to);
    double const found = larger(apart(gradients.value, to.value), apart(gradients.alpha, to.alpha));
    if (!row.features) return found;
    return larger(found, larger(apart(gradients.query, to.query), apart(gradients.key, to.key)));
  }
  std::vector<std::span<float>> outputs() {
    auto const all = [](keyed_matrix<float>& x) {
      return std::span<float>(x.data(), static_cast<std::size_t>(x.size()));
    };
    if (row.what != pass::backward) return {all(output)};
    std::vector<std::span<float>> found{all(gradients.value), all(gradients.alpha)};
    if (row.features) found.push_back(all(gradients.query)), found.push_back(all(gradients.key));
    return found;
  }
};

void add(retention_case const& row) {
  add_row(row.name(), [row] {
    auto const problem = std::make_shared<retention_problem>(row);
    index const state = row.rows() * row.columns;
    contest c;
    c.ours = [problem] { problem->ours(); };
    c.rivals = {{"vs_naive", [problem] { problem->loop(); }}};
    c.tokens = static_cast<double>(row.tokens);
    c.flops = 4 * static_cast<double>(row.tokens * state);
    if (row.what == pass::backward) c.flops *= 2.5;
    c.moved.threads = row.threads;
    if (row.what == pass::step) {
      c.moved.reads = {problem->states.data()}, c.moved.writes = {problem->states.data()};
      c.moved.bytes = state * index(sizeof(float));
    }
    c.outputs = problem->outputs();
    c.error = [problem] { return problem->error(); };
    return c;
  });
}

}  // namespace

void add_retention_rows() {
  for (pass const what : {pass::forward, pass::step, pass::backward}) {
    bool const one = what == pass::step;
    add({what, 0, 512, one ? 1 : 4096});
    add({what, 64, 64, one ? 1 : 512});
  }
  add({pass::forward, 0, 512, 128});
  add({pass::forward, 0, 512, 32768});
  add({pass::forward, 64, 64, 4096});
}

}  // namespace wane::bench
