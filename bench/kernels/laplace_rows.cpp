// The rows of laplace: S nodes in each of C:512 channels, without a window or with Hann's.
// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "kernels/laplace_loops.hpp"
#include "kernels/laplace_nodes.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"
#include "wane/operators/laplace.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

using spectra::window_shape;

constexpr index channels = laplace_case::channels;
constexpr float width = laplace_case::width;

template <window_shape Window>
struct laplace_problem {
  using operation = laplace<float, Window>;
  using number = accumulate_type<operation>;
  using real = real_type<number>;
  static constexpr bool hann = Window == window_shape::hann;

  laplace_case row;
  index tokens = row.tokens();
  numbers next;
  laplace_nodes all{row, next}, nodes = all.active();
  mutable laplace_nodes gradients = nodes;
  buffers memory;
  float *values, *output, *output_gradient = nullptr;
  recurrent_state<number> state{0, 0, 0, 0};

  explicit laplace_problem(laplace_case const& r) : row(r) {
    index const n = tokens * channels;
    values = memory.add<float>(n), output = memory.add<float>(n);
    for (index i = 0; i < n; ++i) values[i] = static_cast<float>(next(-1, 1));
    if (row.what == pass::backward) {
      output_gradient = memory.add<float>(n);
      for (index i = 0; i < n; ++i) output_gradient[i] = static_cast<float>(next(-1, 1));
    }
    state = recurrent_state<number>(bank(nodes, false, every(values)));
  }

  template <class Value>
  sequence_view<Value> every(Value* x) const {
    return {x, 1, tokens, 1, channels};
  }
  operation bank(laplace_nodes const& of, bool masked, sequence_view<float const> const& x) const {
    return {{.value = x}, of.nodes<float const>(of, hann, masked)};
  }
  void forward(laplace_nodes const& of, bool masked) {
    timed_run(bank(of, masked, every(values)), every(output),
              run_options<number>{.threads = row.threads});
  }
  void step_by_step() {
    auto const x = every(values), y = every(output);
    for (index t = 0; t < tokens; ++t)
      timed_step(bank(nodes, false, x.tokens(t, t + 1)), y.tokens(t, t + 1),
                 state_view<number>(state));
  }
  // `output` takes the gradient of value.
  void backward() {
    typename operation::gradients const to{
        .value = every(output), .nodes = nodes.template nodes<float>(gradients, hann, false)};
    timed_adjoint(bank(nodes, false, every(values)), every(output_gradient), to,
                  adjoint_options<number>{.threads = row.threads});
  }

  // Compares channels first, first + stride, ...
  template <class T>
  laplace_loop<T> loop(index first = 0, index stride = 1) const {
    laplace_loop<T> of{(channels - first + stride - 1) / stride, hann ? index(width) : 0,
                       row.by_column};
    for (std::size_t k = 0; k < nodes.sigma.size(); ++k)
      for (auto const& term : spectra::window_terms(Window)) {
        std::complex<double> const rate = -std::complex<double>(nodes.sigma[k], nodes.omega[k]) +
                                          (hann ? term.exponent / double(width) : 0.);
        of.pole.emplace_back(std::exp(rate));
        of.leaving.emplace_back(hann ? std::exp(rate * double(width)) : 0.);
        for (index j = first; j < (row.by_column ? channels : first + 1); j += stride)
          of.weight.emplace_back(term.weight * std::complex<double>(read_out(k, j)));
      }
    return of;
  }
  std::complex<float> read_out(std::size_t k, index j) const {
    return nodes.read_out[k * std::size_t(nodes.columns) + std::size_t(row.by_column ? j : 0)];
  }

  void plain() {
    plain_laplace(loop<real>(), order(), read(), output);
    if (output_gradient)
      give(plain_laplace_gradients(loop<real>(), tokens, values, output_gradient));
  }
  void eigen() {
    eigen_laplace(loop<real>(), order(), read(), output);
    if (output_gradient)
      give(eigen_laplace_gradients(loop<real>(), tokens, values, output_gradient));
  }
  // Compares some channels of the outputs and of the values' gradients.
  double error() const {
    constexpr index apart = 61, some = (channels + apart - 1) / apart;
    std::vector<double> in(static_cast<std::size_t>(tokens * some)), right(in);
    for (index i = 0; i < tokens * some; ++i)
      in[std::size_t(i)] = read()[i / some * channels + i % some * apart];
    plain_laplace(loop<double>(0, apart), order(), in.data(), right.data());
    difference found;
    for (index i = 0; i < tokens * some; ++i)
      found.add(double(output[i / some * channels + i % some * apart]), right[std::size_t(i)]);
    double largest = found.relative();
    if (!output_gradient) return largest;
    auto const must_be =
        of_nodes(plain_laplace_gradients(loop<double>(), tokens, values, output_gradient));
    auto const is = results();
    for (std::size_t n = 0; n < must_be.size(); ++n) {
      difference of_one;
      for (std::size_t i = 0; i < must_be[n].size(); ++i)
        of_one.add(double(is[n][i]), must_be[n][i]);
      if (!must_be[n].empty()) largest = larger(largest, of_one.relative());
    }
    return largest;
  }
  std::vector<std::span<float>> outputs() {
    std::vector<std::span<float>> found{{output, static_cast<std::size_t>(tokens * channels)}};
    if (output_gradient)
      for (auto const& one : results()) found.push_back(one);
    return found;
  }

 private:
  laplace_order order() const {
    return {tokens, hann ? index(width) : 0, output_gradient != nullptr};
  }
  float const* read() const { return output_gradient ? output_gradient : values; }
  // Of sigma, omega, width and read_out, whose parts take turns.
  std::array<std::span<float>, 4> results() const {
    auto* const parts = reinterpret_cast<float*>(gradients.read_out.data());
    return {std::span(gradients.sigma), std::span(gradients.omega),
            std::span(gradients.widths).first(hann ? 1 : 0),
            std::span(parts, 2 * gradients.read_out.size())};
  }
  template <class T>
  std::array<std::vector<double>, 4> of_nodes(laplace_sums<T> const& sums) const {
    auto const terms = spectra::window_terms(Window);
    std::array<std::vector<double>, 4> found;
    found[2].assign(hann ? 1 : 0, 0.);
    for (std::size_t k = 0, i = 0; k < nodes.sigma.size(); ++k) {
      std::complex<double> of_rate = 0;
      std::vector<std::complex<double>> of_read_out(static_cast<std::size_t>(nodes.columns));
      for (auto const& term : terms) {
        std::complex<double> const of_log(sums.log_pole[i]);
        of_rate += of_log;
        if (hann) found[2][0] -= (term.exponent * of_log).real() / (double(width) * double(width));
        for (std::size_t j = 0; j < std::size_t(channels); ++j)
          of_read_out[row.by_column ? j : 0] +=
              term.weight * std::complex<double>(sums.weight[i * std::size_t(channels) + j]);
        ++i;
      }
      found[0].push_back(-of_rate.real()), found[1].push_back(of_rate.imag());
      for (auto const& z : of_read_out) found[3].push_back(z.real()), found[3].push_back(-z.imag());
    }
    return found;
  }
  template <class T>
  void give(laplace_sums<T> const& sums) {
    auto const found = of_nodes(sums);
    auto const to = results();
    for (std::size_t n = 0; n < found.size(); ++n)
      for (std::size_t i = 0; i < found[n].size(); ++i) to[n][i] = static_cast<float>(found[n][i]);
  }
};

template <window_shape Window>
contest prepare(laplace_case const& row) {
  auto const problem = std::make_shared<laplace_problem<Window>>(row);
  bool const backward = row.what == pass::backward;
  double const poles =
      static_cast<double>(row.active * laplace_problem<Window>::operation::terms());
  contest c;
  c.tokens = static_cast<double>(problem->tokens);
  // For each pole, token and channel there are two multiply-adds to read, two to write, and two to
  // remove what leaves. The work of chunks for their carries is not counted. A loop that turns
  // every state at every token has 12 flops (16). Backward counts 2.5 times as much.
  c.flops = (problem->hann ? 12 : 8) * poles * static_cast<double>(channels) * c.tokens;
  if (backward) c.flops *= 2.5;
  c.computes_in_double = problem->hann;
  c.moved = {{problem->values},
             {problem->output},
             problem->tokens * channels * index(sizeof(float)),
             row.threads};
  if (backward) c.moved.reads.push_back(problem->output_gradient);
  // Streaming stores would evict the data from the third-level cache.
  if (row.length) c.moved.reads.clear();
  c.outputs = problem->outputs();
  c.error = [problem] { return problem->error(); };
  if (backward)
    c.ours = [problem] { problem->backward(); };
  else if (row.what == pass::step)
    c.ours = [problem] { problem->step_by_step(); };
  else
    c.ours = [problem] { problem->forward(problem->nodes, false); };
  // From memory the loops take minutes backward.
  if (!backward || row.where == room::cache)
    c.rivals = {{"vs_naive", [problem] { problem->eigen(); }},
                {"vs_sequential", [problem] { problem->plain(); }}};
  if (row.active < row.nodes)
    c.rivals.push_back({"vs_all", [problem] { problem->forward(problem->all, true); }, false});
  return c;
}

void add(laplace_case const& row) {
  add_row(row.name(), [row] {
    return row.window == window_shape::hann ? prepare<window_shape::hann>(row)
                                            : prepare<window_shape::none>(row);
  });
}

}  // namespace

void add_laplace_rows() {
  for (pass const what : {pass::forward, pass::step, pass::backward}) {
    add({.what = what});
    add({.what = what, .by_column = true});
    add({.what = what, .window = window_shape::hann});
  }
  // In the third level of caches; so long that finding powers of the poles no longer shows.
  add({.what = pass::forward, .length = 1000});
  add({.what = pass::forward, .window = window_shape::hann, .length = 1000});
  for (index const half : {8, 16})
    add({.what = pass::forward, .nodes = 2 * half, .active = half, .length = 1000});
  for (pass const what : {pass::forward, pass::backward})
    add({.what = what, .where = room::memory});
  add({.what = pass::forward, .where = room::memory, .by_column = true});
  add({.what = pass::forward, .where = room::memory, .window = window_shape::hann});
  for (room const where : {room::cache, room::memory})
    add({.what = pass::forward, .where = where, .nodes = 16, .active = 8});
}

}  // namespace wane::bench
