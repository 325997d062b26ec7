// The tasks that models are trained on, drawn from a seed.
// SPDX-License-Identifier: MIT
#pragma once

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "shared/random.hpp"
#include "wane/core/error.hpp"
#include "wane/core/recurrence/place.hpp"

namespace wane::recall {

// `batch` sequences of `time` tokens, one after the other. The answer of a token is what the model
// has to name there, or -1.
struct examples {
  index batch, time;
  std::vector<int> tokens, answers;

  // The sequences begin <= b < end.
  examples part(index begin, index end) const {
    auto const of = [&](std::vector<int> const& x) {
      return std::vector<int>(x.begin() + begin * time, x.begin() + end * time);
    };
    return {end - begin, time, of(tokens), of(answers)};
  }
};

// Sums over questions: of losses, in nats, and of right answers.
struct score {
  double loss = 0, right = 0, asked = 0;

  score& operator+=(score const& other) {
    loss += other.loss, right += other.right, asked += other.asked;
    return *this;
  }
  double mean_loss() const { return asked > 0 ? loss / asked : 0; }
  double accuracy() const { return asked > 0 ? right / asked : 0; }
};

// Symbols are 0 to vocabulary - 1; the last one parts a context from its questions.
//   mqar  `pairs` keys, each with a value, a separator, and the keys in another order, at the end
//         of the sequence: the answer is the value of the key. Keys are distinct, from `first_key`
//         on; values are any of the `keys` symbols that follow the first `keys`, or, where keys are
//         not the first symbols, any symbol but the separator (VLA, Figure 1 and Table 13)
//   copy  random symbols, a separator, and the same symbols again: each answer is the next of them
struct task {
  std::string name = "mqar";
  int vocabulary = 128, pairs = 8, keys = 64, first_key = 0;
  index time = 25;

  // The least tokens that a sequence needs.
  index least_time() const { return name == "copy" ? 4 : 3 * pairs + 1; }

  // Throws wane::error where the task does not fit its symbols or tokens.
  void check() const {
    require(pairs > 0 && keys >= pairs, "pairs is ", pairs, "; it must be from 1 to the keys, ",
            keys);
    require(first_key >= 0 && first_key + keys < vocabulary, "keys ", first_key, " to ",
            first_key + keys - 1, " are asked for; symbols are 0 to ", vocabulary - 2,
            " and the separator");
    require(time >= least_time(), "length is ", time, "; it must be at least ", least_time());
  }

  examples draw(index batch, bench::random_bits& bits) const {
    examples all{batch, time, std::vector<int>(static_cast<std::size_t>(batch * time), last()),
                 std::vector<int>(static_cast<std::size_t>(batch * time), -1)};
    for (index b = 0; b < batch; ++b) {
      int *const tokens = all.tokens.data() + b * time, *const answers =
                                                            all.answers.data() + b * time;
      name == "copy" ? draw_copy(tokens, answers, bits) : draw_pairs(tokens, answers, bits);
    }
    return all;
  }

 private:
  int last() const { return vocabulary - 1; }
  static int below(int n, bench::random_bits& bits) {
    return static_cast<int>(bench::below(bits, static_cast<std::uint64_t>(n)));
  }

  void draw_pairs(int* tokens, int* answers, bench::random_bits& bits) const {
    std::vector<int> key(static_cast<std::size_t>(keys)), order(static_cast<std::size_t>(pairs));
    std::iota(key.begin(), key.end(), first_key), std::iota(order.begin(), order.end(), 0);
    bench::shuffle(std::span(key), bits), bench::shuffle(std::span(order), bits);
    std::vector<int> value(static_cast<std::size_t>(pairs));
    for (int p = 0; p < pairs; ++p) {
      auto const i = static_cast<std::size_t>(p);
      value[i] = first_key == 0 ? keys + below(last() - keys, bits) : below(last(), bits);
      tokens[2 * p] = key[i], tokens[2 * p + 1] = value[i];
    }
    for (int p = 0; p < pairs; ++p) {
      auto const asked = static_cast<std::size_t>(order[static_cast<std::size_t>(p)]);
      tokens[time - pairs + p] = key[asked], answers[time - pairs + p] = value[asked];
    }
  }
  void draw_copy(int* tokens, int* answers, bench::random_bits& bits) const {
    index const length = (time - 1) / 2;
    for (index t = 0; t < length; ++t) tokens[t] = below(last(), bits);
    for (index t = 0; t < length; ++t) {  // the separator asks for the first symbol
      answers[length + t] = tokens[t];
      if (length + 1 + t < time) tokens[length + 1 + t] = tokens[t];
    }
  }
};

}  // namespace wane::recall
