// The gradients of wane-recall's models are the derivatives of their loss, whatever the memory.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "recall/model.hpp"

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
  examples const drawn = of.draw(2, bits);
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
      if (!(error <= largest)) largest = error, where = learner.weights[i].name;
    }
  return largest;
}

TEST(RecallGradients, AreThoseOfTheLossForEveryMemoryAndMixing) {
  for (std::string const& memory : memory_names())
    for (mixing const mix : {mixing::none, mixing::shift, mixing::convolution}) {
      task const of{.vocabulary = 20, .pairs = 4, .keys = 8, .time = 14};
      std::string where;
      double const error = error_of({.memory = memory,
                                     .mix = mix,
                                     .vocabulary = 20,
                                     .width = 12,
                                     .heads = 2,
                                     .layers = 2,
                                     .feed_forward = 10,
                                     .time = 14,
                                     .embedding_size = 0.5},
                                    of, where);
      EXPECT_LT(error, 1e-5) << memory << ", mixing " << static_cast<int>(mix) << ", " << where;
    }
}

TEST(RecallTasks, AskForWhatTheySay) {
  bench::random_bits bits(1);
  task const pairs{.pairs = 5, .time = 20};
  examples const drawn = pairs.draw(3, bits);
  for (index b = 0; b < 3; ++b) {
    auto const token = [&](index t) { return drawn.tokens[static_cast<std::size_t>(b * 20 + t)]; };
    auto const asked = [&](index t) { return drawn.answers[static_cast<std::size_t>(b * 20 + t)]; };
    for (index t = 0; t < 15; ++t) EXPECT_EQ(asked(t), -1);
    for (index t = 15; t < 20; ++t) {
      index pair = 0;
      while (pair < 5 && token(2 * pair) != token(t)) ++pair;
      ASSERT_LT(pair, 5) << "a key that was not stored";
      EXPECT_EQ(asked(t), token(2 * pair + 1));
      EXPECT_GE(asked(t), pairs.keys);
    }
    for (index t = 10; t < 15; ++t) EXPECT_EQ(token(t), 127) << "the separator fills";
  }
  task const copy{.name = "copy", .time = 9};
  examples const copied = copy.draw(1, bits);
  EXPECT_EQ(copied.tokens[4], 127);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(copied.answers[4 + t], copied.tokens[t]);
    EXPECT_EQ(copied.tokens[5 + t], copied.tokens[t]);
  }
}

}  // namespace
}  // namespace wane::recall
