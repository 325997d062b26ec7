// The rows of exponential_bank: S:16 states in each of C:512 channels.
// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <vector>

#include "kernels/buffers.hpp"
#include "kernels/caches.hpp"
#include "kernels/exponential_bank_loops.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

constexpr index states = 16, channels = 512;
// The backward loops keep every state; beyond this number of tokens they are not timed.
constexpr index kept_bytes_at_most = index{512} << 20;

struct bank_row {
  pass what;
  room where;
  int threads = 1;
  bool in_double = false;

  index tokens() const {
    index const bytes = in_double ? 8 : 4, arrays = what == pass::backward ? 3 : 2;
    return elements(where, arrays, bytes) / channels;
  }
  std::string name() const {
    std::string text = "exponential_bank" + name_of(what) + "/S:" + std::to_string(states) +
                       "/C:" + std::to_string(channels) + "/T:" + std::to_string(tokens());
    if (in_double) text += "/type:double";
    return text + "/threads:" + std::to_string(threads);
  }
};

// Timescales from one token to a thousand, each with its own weight.
template <class T>
struct nodes_of_bank {
  std::vector<T> log_decay, factor, key, query;
  std::vector<T> log_decay_gradient = std::vector<T>(states), key_gradient = log_decay_gradient,
                 query_gradient = log_decay_gradient;

  nodes_of_bank() {
    for (index s = 0; s < states; ++s) {
      double const at = static_cast<double>(s);
      log_decay.push_back(static_cast<T>(-std::pow(10, -3 + 3 * at / states)));
      factor.push_back(std::exp(log_decay.back()));
      key.push_back(static_cast<T>(0.3 + 0.05 * at));
      query.push_back(static_cast<T>(1 - 0.03 * at));
    }
  }
};

template <class T>
struct bank_problem {
  bank_row row;
  buffers memory;
  nodes_of_bank<T> nodes;
  bank_arrays<T> p;
  recurrent_state<T> state{1, 1, states, channels};

  explicit bank_problem(bank_row const& r) : row(r) {
    index const tokens = r.tokens(), n = tokens * channels;
    T* const values = memory.add<T>(n);
    numbers next;
    for (index i = 0; i < n; ++i) values[i] = static_cast<T>(next(-1, 1));
    p = {tokens,
         channels,
         states,
         values,
         nodes.factor.data(),
         nodes.key.data(),
         nodes.query.data(),
         nullptr,
         memory.add<T>(n),
         nullptr,
         nodes.log_decay_gradient.data(),
         nodes.key_gradient.data(),
         nodes.query_gradient.data(),
         nullptr};
    if (r.what != pass::backward) return;
    for (index i = 0; i < n; ++i) p.output[i] = static_cast<T>(next(-1, 1));
    p.gradient = p.output;  // dL/dy
    p.output = nullptr;
    p.values_gradient = memory.add<T>(n);
    if (n * states * index(sizeof(T)) <= kept_bytes_at_most) p.kept = memory.add<T>(n * states);
  }

  template <class Value>
  sequence_view<Value> all(Value* values) const {
    return {values, 1, p.tokens, 1, channels};
  }
  exponential_bank<T> bank(sequence_view<T const> value) const {
    return exponential_bank<T>({.value = value,
                                .log_decay = {nodes.log_decay.data(), 1, states},
                                .key = {p.key, 1, states},
                                .query = {p.query, 1, states}});
  }
  void forward() {
    timed_run(bank(all(p.values)), all(p.output), run_options<T>{.threads = row.threads});
  }
  void step_by_step() {
    auto const values = all(p.values);
    auto const output = all(p.output);
    for (index t = 0; t < p.tokens; ++t)
      timed_step(bank(values.tokens(t, t + 1)), output.tokens(t, t + 1), state_view<T>(state));
  }
  void backward() {
    typename exponential_bank<T>::gradients const gradients{
        .value = all(p.values_gradient),
        .log_decay = {p.log_decay_gradient, 1, states},
        .key = {p.key_gradient, 1, states},
        .query = {p.query_gradient, 1, states}};
    timed_adjoint(bank(all(p.values)), all(p.gradient), gradients,
                  adjoint_options<T>{.threads = row.threads});
  }
};

template <class T>
double bank_error(bank_problem<T> const& problem, bool backward) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  auto const& p = problem.p;
  auto const n = static_cast<std::size_t>(p.tokens);
  std::vector<Wide> factor, key(p.key, p.key + states), query(p.query, p.query + states);
  for (T const log : problem.nodes.log_decay) factor.push_back(std::exp(Wide(log)));
  difference of_columns;
  std::vector<Wide> sums[3];
  for (auto& sum : sums) sum.resize(states);
// Gradients of the nodes sum over all channels; the other results are compared in a few.
#pragma omp parallel for schedule(dynamic, 1)
  for (index c = 0; c < channels; ++c) {
    if (!backward && c % 61 != 0) continue;
    std::vector<Wide> v(n), dy(n), y(n), kept(backward ? n * states : 0), d[3];
    for (auto& sum : d) sum.resize(states);
    for (index t = 0; t < p.tokens; ++t) {
      auto const k = static_cast<std::size_t>(t);
      v[k] = p.values[t * channels + c];
      if (backward) dy[k] = p.gradient[t * channels + c];
    }
    bank_arrays<Wide> const wide{
        p.tokens,  1,        states,   v.data(),    factor.data(), key.data(),  query.data(),
        dy.data(), y.data(), y.data(), d[0].data(), d[1].data(),   d[2].data(), kept.data()};
    backward ? plain_bank_backward(wide) : plain_bank_forward(wide);
    T const* const result = backward ? p.values_gradient : p.output;
#pragma omp critical
    {
      for (index t = 0; t < p.tokens; ++t)
        of_columns.add(Wide(result[t * channels + c]), y[static_cast<std::size_t>(t)]);
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t s = 0; s < states; ++s) sums[i][s] += d[i][s];
    }
  }
  if (!backward) return of_columns.relative();
  double largest = of_columns.relative();
  T const* const found[] = {p.log_decay_gradient, p.key_gradient, p.query_gradient};
  for (std::size_t i = 0; i < 3; ++i) {
    difference of_nodes;
    for (std::size_t s = 0; s < states; ++s) of_nodes.add(Wide(found[i][s]), sums[i][s]);
    largest = larger(largest, of_nodes.relative());
  }
  return largest;
}

template <class T>
contest prepare(bank_row const& row) {
  auto const problem = std::make_shared<bank_problem<T>>(row);
  auto const& p = problem->p;
  double const count = static_cast<double>(p.tokens * channels * states);
  bool const backward = row.what == pass::backward;
  contest c;
  c.tokens = static_cast<double>(p.tokens), c.in_double = row.in_double;
  // Forward h and y; backward h, g, dv and three sums over tokens.
  c.flops = (backward ? 12 : 4) * count;
  c.moved = {{p.values}, {p.output}, p.tokens * channels * index(sizeof(T)), row.threads};
  c.error = [problem, backward] { return bank_error(*problem, backward); };
  if (backward) {
    c.moved.reads.push_back(p.gradient);
    c.moved.writes = {p.values_gradient};
    c.ours = [problem] { problem->backward(); };
    if (p.kept)
      c.rivals = {{"vs_naive", [problem] { eigen_bank_backward(problem->p); }},
                  {"vs_sequential", [problem] { plain_bank_backward(problem->p); }}};
    return c;
  }
  if (row.what == pass::step)
    c.ours = [problem] { problem->step_by_step(); };
  else
    c.ours = [problem] { problem->forward(); };
  c.rivals = {{"vs_naive", [problem] { eigen_bank_forward(problem->p); }},
              {"vs_sequential", [problem] { plain_bank_forward(problem->p); }}};
  return c;
}

void add(bank_row const& row) {
  add_row(row.name(), [row] { return row.in_double ? prepare<double>(row) : prepare<float>(row); });
}

}  // namespace

void add_exponential_bank_rows() {
  for (pass const what : {pass::forward, pass::backward}) {
    add({what, room::cache});
    add({what, room::memory});
    add({what, room::memory, 2});
  }
  add({.what = pass::forward, .where = room::cache, .in_double = true});
  add({pass::step, room::cache});
}

}  // namespace wane::bench
