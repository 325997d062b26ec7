// The run of an experiment.
// SPDX-License-Identifier: MIT
#include "recall/experiment.hpp"

#include <algorithm>
#include <chrono>

#include "recall/trainer.hpp"

namespace wane::recall {

outcome run(experiment const& of, std::function<bool(index)> const& advance) {
  trainer<float> learner(of.model, of.how);
  bench::random_bits bits(of.model.seed + 1);
  index const between = std::max<index>(1, of.how.steps / 20);
  outcome found;
  score recent;
  auto const start = std::chrono::steady_clock::now();
  for (bool goes_on = true; goes_on && found.steps < of.how.steps;) {
    recent += learner.learn(of.train.draw(of.how.batch, bits));
    if (++found.steps % between == 0) {
      found.curve.push_back({found.steps, recent.mean_loss(), recent.accuracy()});
      recent = {};
    }
    goes_on = advance(found.steps);
  }
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (index n = 0; n < of.tests; ++n) {
    found.fresh += learner.test(of.train.draw(of.how.batch, bits));
    if (of.other) found.of_other += learner.test(of.other->draw(of.how.batch, bits));
  }
  for (auto const& p : learner.model().weights)
    found.weights.push_back({p.name,
                             p.value.rows(),
                             p.value.cols(),
                             {p.value.data(), p.value.data() + p.value.size()}});
  return found;
}

}  // namespace wane::recall
