// The rows of linear_recurrence whose decays are logs, in float.
// SPDX-License-Identifier: MIT
#include "cuda/linear_contest.cuh"

namespace wane::bench {

std::vector<row> linear_log_rows() {
  std::vector<row> rows;
  for (extents const& e : {one_channel, one_head, one_sequence, batch, one_step})
    rows.push_back(linear_row<decay_as::log, float>(e, "/log"));
  return rows;
}

}  // namespace wane::bench
