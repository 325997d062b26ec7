// A user's program: one sequence through gated_delta_net whole, by steps, and differentiated.
// SPDX-License-Identifier: MIT
#include <array>
#include <vector>
#include <wane/wane.hpp>

int main() {
  constexpr wane::index time = 4, rows = 2, columns = 3;
  std::vector<float> by_row(time * rows, 0.5f), by_column(time * columns, 1), by_token(time, -0.1f);
  std::vector<float> y(time * columns), dy(time * columns, 1), dq(time * rows), dk(time * rows);
  std::vector<float> dv(time * columns), dbeta(time), dg(time);
  auto const of_rows = [](auto* data) { return wane::sequence_view(data, 1, time, 1, rows); };
  auto const of_columns = [](auto* data) { return wane::sequence_view(data, 1, time, 1, columns); };
  auto const of_tokens = [](auto* data) { return wane::token_view(data, 1, time, 1); };
  float const *const q = by_row.data(), *const v = by_column.data(), *const g = by_token.data();

  wane::gated_delta_net const op(
      {.query = of_rows(q), .key = of_rows(q), .value = of_columns(v), .strength = of_tokens(g)},
      of_tokens(g));
  wane::run(op, of_columns(y.data()));

  wane::recurrent_state<float> state(op);
  wane::gated_delta_net const token({.query = of_rows(q).tokens(0, 1),
                                     .key = of_rows(q).tokens(0, 1),
                                     .value = of_columns(v).tokens(0, 1),
                                     .strength = of_tokens(g).tokens(0, 1)},
                                    of_tokens(g).tokens(0, 1));
  wane::step(token, of_columns(y.data()).tokens(0, 1), state);

  wane::adjoint(op, of_columns(dy.data()),
                {.query = of_rows(dq.data()),
                 .key = of_rows(dk.data()),
                 .value = of_columns(dv.data()),
                 .strength = of_tokens(dbeta.data()),
                 .log_decay = of_tokens(dg.data())});
}
