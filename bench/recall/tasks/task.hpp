// task: what models are trained on and tested on.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

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
  // NaN where nothing was asked.
  double mean_loss() const { return loss / asked; }
  double accuracy() const { return right / asked; }
};

// What memories carry from token to token: bytes of their states (not the tokens that a shift or a
// convolution keeps); the sum of the gates of their nodes, where they have gates; and the mean
// fractional order of each symbol, NaN for those that do not occur, where they learn orders.
struct carried {
  index bytes = 0;
  double nodes = 0;
  std::vector<double> orders = {};
};

// Symbols are 0 to vocabulary - 1; the last one, the separator, parts a context from its questions.
//   mqar    `pairs` keys, each with a value, a separator, and the keys in another order, at the end
//           of the sequence: the answer is the value of the key. Keys are distinct, from first_key
//           on; values lie between the first `keys` symbols and the separator, or, where keys are
//           not the first symbols, are any but the separator (VLA, Figure 1 and Table 13)
//   copy    random symbols, a separator, and the same symbols again: each answer is the next one
//   zipf    among other symbols `pairs` keys, each with a label behind it, and each asked for once,
//           d tokens later, d drawn as d^-exponent between the lags that are asked for (VORT,
//           section 6, first experiment)
//   labels  among other symbols `pairs` keys at random places, more than once; a label follows the
//           first mention of each, and is asked for at all others (VORT, second experiment)
//   parity  bits; the answer is the parity of all so far
//   s3      permutations of three things; the answer is the product of all so far
//   text    a piece of `prose`; the answer is the next symbol
struct task {
  std::string name = "mqar";
  int vocabulary = 128, pairs = 8, keys = 64, first_key = 0;
  index time = 25;
  double exponent = 1;
  index mentions = 200;                                             // in labels, of all keys
  index least_lag = 0, most_lag = std::numeric_limits<int>::max();  // of questions of zipf, labels;
                                                                    // of places in a text
  std::shared_ptr<std::vector<int> const> prose = {};

  static constexpr int labels = 16;  // the symbols behind the keys, in zipf and labels

  int separator() const { return vocabulary - 1; }
  bool is_of_lags() const { return name == "zipf" || name == "labels"; }
  bool is_of_pairs() const { return name == "mqar" || is_of_lags(); }
  bool asks_in_first_quarter() const {
    return name == "text" ? least_lag < time / 4 : name != "mqar" && name != "copy";
  }
  bool asks_at(index lag) const { return lag >= least_lag && lag <= most_lag; }

  // The least tokens that a sequence needs.
  index least_time() const {
    if (name == "mqar") return 3 * pairs + 1;
    if (name == "zipf") return 12 * pairs;
    return name == "labels" ? 4 * mentions : 4;
  }

  // Throws wane::error where the task does not fit its symbols or tokens.
  void check() const {
    if (is_of_pairs()) {
      require(pairs > 0 && keys >= pairs, "pairs is ", pairs, "; it must be from 1 to the keys, ",
              keys);
      require(first_key >= 0 && first_key + keys < vocabulary - (first_key == 0), "keys ",
              first_key, " to ", first_key + keys - 1, " are asked for; symbols are 0 to ",
              vocabulary - 2, " and the separator");
      require(!is_of_lags() || keys + labels < vocabulary - 1, "keys are ", keys,
              "; with 16 labels they leave nothing else of ", vocabulary, " symbols");
    }
    require(time >= least_time(), "length is ", time, "; it must be at least ", least_time());
    require(name != "text" || (prose && std::ssize(*prose) > time), "the text has ",
            prose ? prose->size() : 0, " symbols; it must have more than ", time);
  }
};

}  // namespace wane::recall
