// Attention, gates, two-sided transforms and streams whose requests for memory fail, each in turn.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/failing_calls.hpp"
#include "support/gate_problem.hpp"
#include "support/laplace_problem.hpp"
#include "wane/operators/softmax_attention.hpp"
#include "wane/run/attention/attend_adjoint.hpp"
#include "wane/run/two_sided/adjoint.hpp"
#include "wane/run/two_sided/stream.hpp"

namespace {

using support::bytes_of, support::expect_to_survive_failures;
using wane::index;
using numbers = std::vector<float>;

// Query, key and value of 2 x 20 tokens with 3 heads of 5 numbers, the output and three gradients.
struct attention_numbers {
  static constexpr index size = 2 * 20 * 3 * 5;
  numbers input[3], output, gradient[3];

  attention_numbers() {
    support::random_values random(7);
    for (numbers& x : input)
      for (index i = 0; i < size; ++i) x.push_back(static_cast<float>(random.uniform(-1, 1)));
    clear();
  }
  void clear() {
    output.assign(size, -7);
    for (numbers& g : gradient) g = output;
  }
  template <class X>
  static wane::view<X, 4> view(X* x) {
    return {x, 2, 20, 3, 5};
  }
  wane::softmax_attention<float> op() const {
    return {{.query = view(input[0].data()),
             .key = view(input[1].data()),
             .value = view(input[2].data())},
            {}};
  }
};

TEST(WithoutMemory, AttentionThrows) {
  attention_numbers all;
  for (int const threads : {1, 3}) {
    auto const forward = expect_to_survive_failures(
        {[&] { all.clear(); },
         [&] { wane::attend(all.op(), all.view(all.output.data()), {.threads = threads}); },
         [&] { return bytes_of(all.output); }});
    auto const backward = expect_to_survive_failures(
        {[&] { all.clear(); },
         [&] {
           wane::attend_adjoint(all.op(), all.view(all.input[0].data()),
                                {.query = all.view(all.gradient[0].data()),
                                 .key = all.view(all.gradient[1].data()),
                                 .value = all.view(all.gradient[2].data())},
                                {.threads = threads});
         },
         [&] {
           return bytes_of(all.gradient[0]) + bytes_of(all.gradient[1]) + bytes_of(all.gradient[2]);
         }});
    EXPECT_GT(forward.requests, 0);
    EXPECT_GT(backward.requests, 0);
  }
}

TEST(WithoutMemory, GradientsOfGatesThrow) {
  support::gate_problem<double> p;
  auto const clear = [&] {
    for (auto* x : {&p.raw, &p.log_rate, &p.bias, &p.alpha})
      x->gradient.assign(x->gradient.size(), -7);
  };
  for (int const threads : {1, 3}) {
    auto const found = expect_to_survive_failures(
        {clear,
         [&] {
           wane::gate_adjoint(
               wane::softplus_gate(p.raw_heads(), {.log_rate = p.of_heads(p.log_rate.values),
                                                   .bias = p.of_heads(p.bias.values),
                                                   .taper = {p.of_heads(p.alpha.values)}}),
               p.by_head(p.weight),
               {.raw = p.by_head(p.raw.gradient),
                .log_rate = p.of_heads(p.log_rate.gradient),
                .bias = p.of_heads(p.bias.gradient),
                .taper = p.of_heads(p.alpha.gradient)},
               {.threads = threads});
         },
         [&] {
           return bytes_of(p.raw.gradient) + bytes_of(p.log_rate.gradient) +
                  bytes_of(p.bias.gradient) + bytes_of(p.alpha.gradient);
         }});
    EXPECT_GT(found.requests, 0);
  }
}

using transform = support::laplace_problem<float, wane::spectra::window_shape::hann>;

TEST(WithoutMemory, TwoSidedTransformsThrow) {
  transform const pristine({.tokens = 21});
  transform p = pristine;
  numbers y(p.x.size());
  wane::sequence_view<float> const output(y.data(), p.batch, p.tokens, p.heads, p.columns);
  for (int const threads : {1, 3}) {
    auto const op = pristine.make(0, 21);
    auto const forward =
        expect_to_survive_failures({[&] { y.assign(y.size(), -7); },
                                    [&] {
                                      wane::run_options<transform::state_number> options;
                                      options.threads = threads;
                                      wane::run_two_sided(op, op.future(), output, options);
                                    },
                                    [&] { return bytes_of(y); }});
    auto const backward = expect_to_survive_failures(
        {[&] { p = pristine; },
         [&] {
           wane::adjoint_options<transform::state_number> options;
           options.threads = threads;
           wane::adjoint_two_sided(op, op.future(), output, p.gradients(), options);
         },
         [&] {
           std::string all;
           for (auto const& gradient : p.input_gradients()) all += bytes_of(gradient);
           return all;
         }});
    EXPECT_GT(forward.requests, 0);
    EXPECT_GT(backward.requests, 0);
  }
}

// Pushes that fail leave the stream in an unknown state; a new one is right.
TEST(WithoutMemory, StreamsThrow) {
  transform const p({.tokens = 21});
  auto const op = p.make(0, 21);
  numbers y(p.x.size());
  wane::sequence_view<float const> const x(p.x.data(), p.batch, p.tokens, p.heads, p.columns);
  wane::sequence_view<float> const output(y.data(), p.batch, p.tokens, p.heads, p.columns);
  auto const found =
      expect_to_survive_failures({[&] { y.assign(y.size(), -7); },
                                  [&] {
                                    wane::two_sided_stream stream(op, op.future(), 1);
                                    index const ready = stream.ready(21);
                                    stream.push(x, output.tokens(0, ready));
                                    stream.finish(output.tokens(ready, 21));
                                  },
                                  [&] { return bytes_of(y); }});
  EXPECT_GT(found.requests, 10);
}

}  // namespace
