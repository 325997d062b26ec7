// The gradients of wane-recall's models are the derivatives of their loss, whatever the memory.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "recall/model.hpp"
#include "recall/tasks/draw.hpp"

namespace wane::recall {
namespace {

// The largest error of gradients of `weight` times the loss, at some numbers of every parameter,
// relative to the difference of the losses on both sides.
double error_of(model_settings const& asked, task const& of, std::string& where) {
  model<double> learner(asked);
  bench::random_bits bits(3);
  for (std::size_t i = 0; i < learner.weights.size(); ++i)  // away from where all are alike
    for (index n = 0; n < learner.weights[i].value.size(); ++n)
      learner.weights[i].value.data()[n] += 0.05 * (static_cast<int>(bits() % 200) - 100) / 100;
  examples const drawn = draw(of, 2, bits);
  double const weight = 0.25, step = 1e-5;
  auto gradients = learner.weights.zeros();
  learner(drawn, &gradients, weight);
  double largest = 0;
  for (std::size_t i = 0; i < learner.weights.size(); ++i)
    for (int n = 0; n < 4; ++n) {
      auto& value = learner.weights[i].value;
      index const at = static_cast<index>(bits() % static_cast<unsigned>(value.size()));
      auto const loss_at = [&](double x) {
        double const before = std::exchange(value.data()[at], x);
        double const loss = learner(drawn).loss;
        value.data()[at] = before;
        return loss;
      };
      double const x = value.data()[at];
      double const difference = weight * (loss_at(x + step) - loss_at(x - step)) / (2 * step);
      double const error =
          std::abs(gradients[i].data()[at] - difference) / (1e-3 + std::abs(difference));
      if (!(error <= largest) && !std::isnan(largest))
        largest = error, where = learner.weights[i].name;
    }
  return largest;
}

task const small_task{.vocabulary = 20, .pairs = 4, .keys = 8, .time = 14};

model_settings small_model(std::string const& memory) {
  return {.memory = memory,
          .vocabulary = 20,
          .width = 12,
          .heads = 3,
          .layers = 2,
          .feed_forward = 10,
          .time = 14,
          .embedding_size = 0.5};
}

TEST(RecallGradients, AreThoseOfTheLossForEveryMemoryAndMixing) {
  for (std::string const& memory : memory_names())
    for (mixing const mix : {mixing::none, mixing::shift, mixing::convolution}) {
      model_settings asked = small_model(memory);
      asked.mix = mix;
      std::string where;
      EXPECT_LT(error_of(asked, small_task, where), 1e-5)
          << memory << ", mixing " << name_of(mix) << ", " << where;
    }
}

TEST(RecallGradients, AreThoseOfTheLossWithoutPositionsAndWithNormedOutputs) {
  model_settings asked = small_model("mamba2-post");
  asked.heads = 4, asked.feed_forward = 0, asked.weight_size = 0.5;
  asked.positions = false, asked.output_norm = true;
  std::string where;
  EXPECT_LT(error_of(asked, small_task, where), 1e-5) << where;
}

// The question stands right behind the first quarter, which gates of adaptive nodes read.
TEST(RecallMemories, SeeNothingOfLaterTokens) {
  for (std::string const& memory : memory_names()) {
    model<double> const learner(small_model(memory));
    bench::random_bits bits(5);
    examples drawn = draw(small_task, 1, bits);
    index const asked = small_task.time / 4;
    std::fill(drawn.answers.begin(), drawn.answers.end(), -1);
    drawn.answers[static_cast<std::size_t>(asked)] = 1;
    double const loss = learner(drawn).loss;
    std::fill(drawn.tokens.begin() + asked + 1, drawn.tokens.end(), 0);
    EXPECT_EQ(learner(drawn).loss, loss) << memory;
  }
}

// Without queries the softmax is even: what is left is the retention of all values.
TEST(RecallMemories, PowerLawAttentionHasTheWeightsOfRetention) {
  token_shape const s{2, 9, 2, 3};
  parameters<double> const none(1);
  tape<double> on(none);
  auto const drawn = [&](char const* name) {
    return constant(on, none.even(name, s.batch * s.time, s.width()));
  };
  tensor const query = constant(on, matrix<double>::Zero(s.batch * s.time, s.width()).eval()),
               key = drawn("key"), value = drawn("value");
  matrix<double> const found = on[power_law_attention<double>()(on, {query, key, value, value}, s)];
  spectra::gruenwald_letnikov const w(0.7);
  for (index b = 0; b < s.batch; ++b)
    for (index t = 0; t < s.time; ++t) {
      matrix<double> sum = matrix<double>::Zero(1, s.width());
      for (index i = 0; i <= t; ++i) sum += w(t - i) * on[value].row(b * s.time + i);
      EXPECT_LT((found.row(b * s.time + t) - sum / double(t + 1)).norm(), 1e-12) << t;
    }
}

}  // namespace
}  // namespace wane::recall
