// The rows of linear_recurrence on bfloat16, stored as such and computed in float.
// SPDX-License-Identifier: MIT
#include "cuda/linear_contest.cuh"

namespace wane::bench {

std::vector<row> linear_bfloat16_rows() {
  return {linear_row<decay_as::log, bfloat16>(one_sequence, "/log/bfloat16"),
          linear_row<decay_as::factor, bfloat16>(one_sequence, "/factor/bfloat16")};
}

}  // namespace wane::bench
