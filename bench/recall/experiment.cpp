// The run of an experiment.
// SPDX-License-Identifier: MIT
#include "recall/experiment.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "recall/tasks/draw.hpp"
#include "recall/trainer.hpp"

namespace wane::recall {

outcome run(experiment const& of, std::function<bool(index)> const& advance) {
  of.check();
  trainer<float> learner(of.model, of.how);
  bench::random_bits bits((std::uint64_t{1} << 32) + of.model.seed);  // not those of weights
  index const between = std::max<index>(1, of.how.steps / 20);
  // As many tokens in each batch as in one of the last stage.
  auto const batch_of = [tokens = of.how.batch * of.trained_on().time](task const& t) {
    return std::max<index>(1, tokens / (t.time * shards)) * shards;
  };
  outcome found;
  score recent;
  auto const start = std::chrono::steady_clock::now();
  for (bool goes_on = true; goes_on && found.steps < of.how.steps;) {
    auto const stage = static_cast<std::size_t>(found.steps * std::ssize(of.stages) / of.how.steps);
    task const& now = of.stages[stage];
    recent += learner.learn(draw(now, batch_of(now), bits));
    found.tokens += batch_of(now) * now.time;
    if (++found.steps % between == 0) {
      found.curve.push_back({found.steps, recent.mean_loss(), recent.accuracy()});
      recent = {};
    }
    goes_on = advance(found.steps);
  }
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (found.steps < of.how.steps) return found;
  for (test const& t : of.tests) {
    score all;
    for (index n = 0; n < of.test_batches; ++n)
      all += learner.test(draw(t.of, batch_of(t.of), bits));
    auto same = bits;  // the tests behind this one do not depend on what is drawn here
    found.tests.push_back({all, learner.model().carried_behind(draw(t.of, 8, same))});
  }
  auto const add = [&](std::string const& name, matrix<float> const& of_all) {
    found.weights.push_back(
        {name, of_all.rows(), of_all.cols(), {of_all.data(), of_all.data() + of_all.size()}});
  };
  matrix<float> theta;
  for (auto const& p : learner.model().weights) {
    add(p.name, p.value);
    if (p.name.ends_with(".theta")) theta = p.value;
    if (!p.name.ends_with(".delta")) continue;
    // PoST's log rates, under the name that they have in models as published.
    spectra::post_parameters post{theta(0), {p.value.data(), p.value.data() + p.value.size()}};
    add(p.name.substr(0, p.name.rfind('.')) +
            (of.model.memory.starts_with("rwkv7") ? ".w0" : ".A_log"),
        row_of<float>(spectra::log_rates(post)));
  }
  return found;
}

}  // namespace wane::recall
