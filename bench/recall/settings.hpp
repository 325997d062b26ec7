// What can be chosen of a model and of its training.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/core/recurrence/place.hpp"

namespace wane::recall {

// The memories of a model. "-post": with PoST's spectrum and taper.
inline std::vector<std::string> const& memory_names() {
  static std::vector<std::string> const names{
      "softmax", "linear",
      // delta rules; strengths of delta-2 reach 2; vla-delta is eq. (4) of the VLA paper
      "delta", "delta-2", "vla-delta", "gated-delta", "gated-delta-post", "rwkv7", "rwkv7-post",
      // decays and no erasure; gla has one for each row of a key
      "gla", "retnet", "retnet-post", "mamba2", "mamba2-post",
      // vla: rls; with learned directions; under the features and the division of eq. (11)
      "vla", "vla-unit", "vla-quotient",
      // VORT: nodes for the order 0.7, one node, learned orders; exact, under a softmax (eq. 13);
      // without keys (eq. 12); one rate learned, five
      "power-law", "power-law-1", "power-law-orders", "power-law-attention", "retention-orders",
      "exponential", "mixture-5",
      // STLT: 32 nodes, other numbers, 64 with gates of each sequence, and Table 4's ablations
      "laplace", "laplace-16", "laplace-64", "laplace-adaptive", "laplace-fixed",
      "laplace-no-frequencies", "laplace-fixed-rates", "laplace-fixed-width"};
  return names;
}
// How a token reads its neighbours before the memory: not at all; keys are those of the token
// before; or queries, keys and values each through a convolution of four tokens and SiLU.
enum class mixing { none, shift, convolution };

inline char const* name_of(mixing mix) {
  return mix == mixing::none ? "none" : mix == mixing::shift ? "shift" : "convolution";
}

// The defaults are the model of the VLA paper (Table 6).
struct model_settings {
  std::string memory = "vla";
  mixing mix = mixing::none;
  int vocabulary = 128;
  index width = 128, heads = 4, layers = 2, feed_forward = 256;
  index time = 25;               // trained at
  bool positions = true;         // learned, one for each of the `time` places
  bool output_norm = false;      // each head's output has length sqrt(its channels)
  double embedding_size = 0.02;  // root mean square of the first embeddings
  // And of the weights of linear maps outside of memories; 0: 1/sqrt(3 inputs).
  double weight_size = 0;
  unsigned seed = 42;

  // Throws wane::error where sizes do not fit.
  void check() const {
    require(heads > 0 && width > 0 && width % heads == 0, "width is ", width,
            "; it must be a multiple of the heads, ", heads);
    require(layers > 0 && feed_forward >= 0, "layers are ", layers, " of feed-forward width ",
            feed_forward, "; there must be a layer, and the width may be 0");
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
