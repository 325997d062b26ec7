// An experiment: one memory, trained on tasks, and how it answers fresh examples.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "recall/settings.hpp"
#include "recall/tasks/task.hpp"

namespace wane::recall {

// Fresh examples, and what the paper says of them: an accuracy, or bits a symbol of a text.
struct test {
  std::string name;
  task of;
  double paper = NAN;
};

struct experiment {
  model_settings model;
  training how;
  std::vector<task> stages;  // trained on one after the other, for equal numbers of steps
  std::vector<test> tests;
  index test_batches = 15;  // of as many tokens as those of the training

  task const& trained_on() const { return stages.back(); }

  // Throws wane::error where parts do not fit.
  void check() const {
    model.check(), how.check();
    for (task const& t : stages) t.check();
    for (task const& t : stages) check_model(t);
    for (test const& t : tests) {
      t.of.check(), check_model(t.of);
      require(!model.positions || t.of.time <= model.time, "a model with positions is trained at ",
              model.time, " tokens and tested at ", t.of.time, "; leave positions out");
    }
  }

 private:
  void check_model(task const& t) const {
    require(!t.asks_in_first_quarter() || model.memory != "laplace-adaptive",
            "the gates of laplace-adaptive read the first quarter of a sequence, where ", t.name,
            " asks");
    require(t.vocabulary == model.vocabulary, "a task has ", t.vocabulary,
            " symbols; the model has ", model.vocabulary);
  }
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
// What a test found, and what the model carries behind the last token of a sequence.
struct tested {
  score found = {};
  carried state = {};
};
struct outcome {
  index steps = 0, tokens = 0;
  double seconds = 0;  // of training
  std::vector<tested> tests = {};
  std::vector<point> curve = {};
  std::vector<trained> weights = {};

  double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
};

// Trains and tests. advance(step) is called after every step; where it returns false, all ends
// there. Throws wane::error where the parts do not fit, or a parameter is no longer a number.
outcome run(experiment const& of, std::function<bool(index)> const& advance);

}  // namespace wane::recall
