// What can be chosen of a model and of its training.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/core/recurrence/place.hpp"

namespace wane::recall {

// Softmax attention, linear attention, the delta rule, Gated DeltaNet, GLA with decays by head,
// Mamba-2, the rule of eq. (4) of the VLA paper, and vla: rls, unit with learned directions, and
// unit under the features and the division of eq. (11).
inline std::vector<std::string> const& memory_names() {
  static std::vector<std::string> const names{"softmax",  "linear",      "delta",     "gated-delta",
                                              "gla",      "mamba2",      "vla-delta", "vla",
                                              "vla-unit", "vla-quotient"};
  return names;
}
// How a token reads its neighbours before the memory: not at all; keys are those of the token
// before; or queries, keys and values each through a convolution of four tokens and SiLU.
enum class mixing { none, shift, convolution };

// The defaults are the model of the VLA paper (Table 6).
struct model_settings {
  std::string memory = "vla";
  mixing mix = mixing::none;
  int vocabulary = 128;
  index width = 128, heads = 4, layers = 2, feed_forward = 256, time = 25;
  bool positions = true;         // learned, one for each of the `time` places
  double embedding_size = 0.02;  // root mean square of the first embeddings
  unsigned seed = 42;

  // Throws wane::error where sizes do not fit.
  void check() const {
    require(heads > 0 && width > 0 && width % heads == 0, "width is ", width,
            "; it must be a multiple of the heads, ", heads);
    require(layers > 0 && feed_forward > 0, "layers are ", layers, " of feed-forward width ",
            feed_forward, "; both must be 1 or more");
  }
};

// A batch is cut into `shards` parts, whose gradients are added in their order: results are the
// same bits for any number of threads.
inline constexpr index shards = 4;

struct training {
  index steps = 1000, batch = 64;
  double learning_rate = 3e-4, warm_up = 0.1, weight_decay = 1e-2, most_gradient = 1;
  unsigned threads = 1;

  // Throws wane::error where the batch cannot be cut.
  void check() const {
    require(steps > 0 && batch >= shards && batch % shards == 0, "batch is ", batch,
            "; it must be a multiple of ", shards);
  }
};

}  // namespace wane::recall
