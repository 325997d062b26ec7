// Training: batches in shards on threads, AdamW with warm-up, cosine decay and clipping.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "recall/model.hpp"
#include "shared/parallel.hpp"

namespace wane::recall {

// Loshchilov and Hutter 2019. The rate rises over the first `warm_up` of all steps, and then falls
// as a cosine.
template <class T>
class adamw {
 public:
  adamw(parameters<T> const& of, training const& how)
      : how_(how), mean_(of.zeros()), square_(of.zeros()) {}

  void step(parameters<T>& of, std::vector<matrix<T>> const& gradients) {
    ++taken_;
    double norm = 0;
    for (auto const& g : gradients) norm += g.template cast<double>().squaredNorm();
    auto const clipped = T(std::min(1., how_.most_gradient / (std::sqrt(norm) + 1e-6)));
    double const n = static_cast<double>(taken_), rate = this->rate();
    auto const first = T(rate / (1 - std::pow(0.9, n))), second = T(1 / (1 - std::pow(0.999, n)));
    for (std::size_t i = 0; i < of.size(); ++i) {
      auto w = of[i].value.array(), m = mean_[i].array(), v = square_[i].array();
      auto const g = gradients[i].array() * clipped;
      m += T(0.1) * (g - m), v += T(0.001) * (g.square() - v);
      if (of[i].decays) w -= T(rate * how_.weight_decay) * w;
      w -= first * m / ((second * v).sqrt() + T(1e-8));
    }
  }
  double rate() const {
    double const n = static_cast<double>(taken_), all = static_cast<double>(how_.steps);
    double const warm = how_.warm_up * all, pi = 3.14159265358979323846;
    return how_.learning_rate *
           (n < warm ? n / warm : 0.5 * (1 + std::cos(pi * (n - warm) / (all - warm))));
  }

 private:
  training how_;
  index taken_ = 0;
  std::vector<matrix<T>> mean_, square_;
};

template <class T>
class trainer {
 public:
  trainer(model_settings const& of, training const& how)
      : how_(how), model_(of), steps_(model_.weights, how), gradients_(shards) {
    for (auto& own : gradients_) own = model_.weights.zeros();
  }

  // Takes one step, and returns the score before it.
  score learn(examples const& of) {
    score const found = of_shards(of, true);
    for (std::size_t i = 0; i < model_.weights.size(); ++i)
      for (std::size_t s = 1; s < gradients_.size(); ++s) gradients_[0][i] += gradients_[s][i];
    steps_.step(model_.weights, gradients_[0]);
    return found;
  }
  score test(examples const& of) { return of_shards(of, false); }

  recall::model<T> const& model() const { return model_; }

 private:
  score of_shards(examples const& of, bool learns) {
    double asked = 0;
    for (int const answer : of.answers) asked += answer >= 0;
    score found[shards];
    bench::for_each_task(shards, how_.threads, [&](std::size_t n) {
      auto const s = static_cast<index>(n);
      auto& own = gradients_[n];
      if (learns)
        for (auto& g : own) g.setZero();
      examples const part = of.part(of.batch * s / shards, of.batch * (s + 1) / shards);
      found[n] = model_(part, learns ? &own : nullptr, T(1 / asked));
    });
    for (index s = 1; s < shards; ++s) found[0] += found[s];
    return found[0];
  }

  training how_;
  recall::model<T> model_;
  adamw<T> steps_;
  std::vector<std::vector<matrix<T>>> gradients_;
};

}  // namespace wane::recall
