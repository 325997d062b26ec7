// An experiment: one memory, trained on one task, and how it answers fresh examples.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recall/settings.hpp"
#include "recall/tasks.hpp"

namespace wane::recall {

struct experiment {
  model_settings model;
  training how;
  task train;
  std::optional<task> other = {};  // a second task to test on, with other keys
  index tests = 15;                // batches of fresh examples
  double paper = NAN, paper_of_other = NAN;
};

struct point {
  index step;
  double loss, accuracy;  // of the training since the point before
};
// A parameter as it was trained.
struct trained {
  std::string name;
  index rows, columns;
  std::vector<float> values;
};
struct outcome {
  index steps = 0;
  double seconds = 0;  // of training
  score fresh = {}, of_other = {};
  std::vector<point> curve = {};
  std::vector<trained> weights = {};

  double tokens_per_second(experiment const& of) const {
    return static_cast<double>(steps * of.how.batch * of.train.time) / seconds;
  }
};

// Trains and tests; the tasks and settings fit (their check()). advance(step) is called after every
// step; where it returns false, training ends there and the model is tested as it is.
outcome run(experiment const& of, std::function<bool(index)> const& advance);

}  // namespace wane::recall
