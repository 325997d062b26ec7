// The rows of mamba2: H:16 heads of P channels, N:128 states each, one group of B and C.
// SPDX-License-Identifier: MIT
#include "kernels/keyed_contest.hpp"
#include "wane/operators/mamba2.hpp"

namespace wane::bench {

// Delta is about 0.01 to 0.13, the rates 1 to 16: timescales from half a token to 100.
void add_mamba2_rows() {
  drawn const one_group{.each = drawn::unit_row, .for_all_heads = true};
  keyed_row row("mamba2", 4.5,
                {.query = one_group,
                 .key = one_group,
                 .log_decay = {.each = drawn::number,
                               .low = -16,
                               .high = -1,
                               .for_all_tokens = true,
                               .is_parameter = true},
                 .time_step = {drawn::number, -4.5, -2}});
  auto const make = [](keyed_problem const& x) {
    auto const& in = x.p.in;
    return mamba2<float>({.x = x.rows(in.value),
                          .dt = x.whole(in.time_step),
                          .A = x.of_heads(in.log_decay),
                          .B = x.rows(in.key),
                          .C = x.rows(in.query)},
                         {.dt_softplus = true});
  };
  row.rows = 128;
  for (index const size : {64, 128}) {
    row.columns = size, row.tokens = 1;
    add_keyed_row<pass::step>(row, make);
    row.tokens = 512;
    add_keyed_row<pass::forward>(row, make);
    add_keyed_row<pass::backward>(row, make);
    row.tokens = 4096;
    add_keyed_row<pass::forward>(row, make);
  }
}

}  // namespace wane::bench
