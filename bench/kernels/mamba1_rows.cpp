// The rows of mamba1: C channels, each with N:16 states.
// SPDX-License-Identifier: MIT
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/buffers.hpp"
#include "kernels/linear_recurrence_loops.hpp"
#include "kernels/mamba1_loops.hpp"
#include "kernels/passes.hpp"
#include "kernels/row.hpp"
#include "shared/larger.hpp"
#include "wane/core/numbers/softmax.hpp"
#include "wane/operators/mamba1.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

constexpr index channels = 1024, states = 16;

struct mamba1_case {
  pass what;
  index tokens = 1;
  int threads = 1;

  std::string name() const {
    return "mamba1" + name_of(what) + "/C:" + std::to_string(channels) +
           "/N:" + std::to_string(states) + "/T:" + std::to_string(tokens) +
           "/threads:" + std::to_string(threads);
  }
};

// Delta is about 0.01 to 0.13, the rates 1 to 16: timescales from half a token to 100.
struct mamba1_problem {
  mamba1_case row;
  mamba1_arrays<float> in, gradients;
  mamba1_rows<float> output, output_gradient;
  mamba1_rows<float> initial, loop_state, state;  // [C, N], [C, N] and [N, C]
  mamba1_rows<float> rates_gradient;
  std::vector<mamba1_rows<float>> kept;  // room for the loop backward
  numbers next;

  explicit mamba1_problem(mamba1_case const& r) : row(r) {
    index const n = r.tokens;
    in = {filled(n, channels, -1, 1), filled(n, channels, -4.5, -2), filled(channels, states, 0, 0),
          filled(n, states, -1, 1), filled(n, states, -1, 1)};
    for (index i = 0; i < states; ++i) in.rates.col(i) = -static_cast<float>(i + 1);
    initial = filled(channels, states, -1, 1);
    if (r.what != pass::step) initial.setZero();
    output = in.x;
    loop_state = initial, state = initial.transpose();
    gradients = in;
    output_gradient = filled(n, channels, -1, 1);
    rates_gradient = mamba1_rows<float>::Zero(states, channels);
  }
  mamba1_rows<float> filled(index rows, index columns, double low, double high) {
    return mamba1_rows<float>::NullaryExpr(rows, columns,
                                           [&] { return static_cast<float>(next(low, high)); });
  }

  template <class Rows>
  static auto of(Rows& x) {
    using T = std::remove_reference_t<decltype(*x.data())>;
    return sequence_view<T>(x.data(), 1, x.rows(), 1, x.cols());
  }
  mamba1<float> op() const {
    return mamba1<float>({.x = of(in.x),
                          .dt = of(in.dt),
                          .A = {in.rates.data(), {1, channels, states}, {0, states, 1}},
                          .B = of(in.keys),
                          .C = of(in.queries)},
                         {.dt_softplus = true});
  }
  void ours() {
    if (row.what == pass::forward) {
      timed_run(op(), of(output), run_options<float>{.threads = row.threads});
    } else if (row.what == pass::step) {
      timed_step(op(), of(output), state_view<float>{{state.data(), 1, 1, states, channels}});
    } else {
      mamba1<float>::gradients const to{
          .x = of(gradients.x),
          .dt = of(gradients.dt),
          .A = {rates_gradient.data(), {1, channels, states}, {0, 1, channels}},
          .B = of(gradients.keys),
          .C = of(gradients.queries)};
      timed_adjoint(op(), of(output_gradient), to, adjoint_options<float>{.threads = row.threads});
    }
  }
  // The loop has its own state and writes its results to the arrays of ours.
  void loop() {
    if (row.what == pass::backward) {
      mamba1_backward(in, output_gradient, kept, gradients);
      rates_gradient = gradients.rates.transpose();
      return;
    }
    if (row.what == pass::forward) loop_state = initial;
    mamba1_forward(in, loop_state, output);
  }
  // As many exponentials as there are states and tokens, and nothing else.
  void exponentials() {
    using vector = simd<float, simd_width<float>>;
    for (index t = 0; t < row.tokens; ++t)
      for (index c = 0; c < channels; c += vector::width) {
        vector const step = vector::load(&in.dt(t, c));
        vector sum(0.f);
        for (index i = 0; i < states; ++i)
          sum += impl::exponential(step * vector(static_cast<float>(i + 1)));
        sum.store(&output(t, c));
      }
  }
  double error() const {
    mamba1_arrays<double> const wide = in.cast<double>();
    if (row.what != pass::backward) {
      mamba1_rows<double> h = initial.cast<double>(), y = output.cast<double>();
      mamba1_forward(wide, h, y);
      return apart(output.cast<double>(), y);
    }
    mamba1_arrays<double> to = wide;
    std::vector<mamba1_rows<double>> states_of_oracle;
    mamba1_backward<double>(wide, output_gradient.cast<double>(), states_of_oracle, to);
    mamba1_arrays<double> const found = gradients.cast<double>();
    double largest = apart(rates_gradient.cast<double>().transpose(), to.rates);
    for (double const each : {apart(found.x, to.x), apart(found.dt, to.dt),
                              apart(found.keys, to.keys), apart(found.queries, to.queries)})
      largest = larger(largest, each);
    return largest;
  }
  static double apart(mamba1_rows<double> const& is, mamba1_rows<double> const& must_be) {
    difference found;
    for (index i = 0; i < is.size(); ++i) found.add(is.data()[i], must_be.data()[i]);
    return found.relative();
  }
  std::vector<std::span<float>> outputs() {
    auto const all = [](mamba1_rows<float>& x) {
      return std::span<float>(x.data(), static_cast<std::size_t>(x.size()));
    };
    if (row.what != pass::backward) return {all(output)};
    return {all(gradients.x), all(gradients.dt), all(gradients.keys), all(gradients.queries)};
  }
};

void add(mamba1_case const& row) {
  add_row(row.name(), [row] {
    auto const problem = std::make_shared<mamba1_problem>(row);
    contest c;
    c.ours = [problem] { problem->ours(); };
    c.rivals = {{"vs_sequential", [problem] { problem->loop(); }}};
    if (row.what == pass::forward && row.threads == 1)
      c.rivals.push_back({"vs_exponentials", [problem] { problem->exponentials(); }, false});
    c.tokens = static_cast<double>(row.tokens);
    c.flops = 4.5 * static_cast<double>(row.tokens * channels * states);
    if (row.what == pass::backward) c.flops *= 2.5;
    c.moved.threads = row.threads;
    if (row.what == pass::step) {
      c.moved.reads = {problem->state.data()}, c.moved.writes = {problem->state.data()};
      c.moved.bytes = channels * states * index(sizeof(float));
    }
    c.outputs = problem->outputs();
    c.error = [problem] { return problem->error(); };
    return c;
  });
}

}  // namespace

void add_mamba1_rows() {
  add({pass::forward, 512});
  add({pass::forward, 4096});
  add({pass::forward, 4096, 2});
  add({pass::step});
  add({pass::backward, 512});
}

}  // namespace wane::bench
