// Rows of the table: memories in substeps, in levels, or led by a second recurrence.
// SPDX-License-Identifier: MIT
#include "error_map/row_of.hpp"
#include "wane/operators/delta_product.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/log_linear_of.hpp"
#include "wane/operators/mamba3.hpp"
#include "wane/operators/mlstm.hpp"
#include "wane/operators/preconditioned_delta_net.hpp"

namespace wane::bench {

std::vector<mapped_operator> leading_operators() {
  constexpr double erased = 0.35 / size;  // as in erasing_rows.cpp
  return {
      // Two substeps erase and round twice.
      row_of("delta_product", takes_decays::all, {.erased = 2 * erased, .roundings = 2},
             []<class X>(X const& x) {
               using N = typename X::number;
               return delta_product<N, token_view<N const>>(
                   {.query = x.query(),
                    .key = x.rows(8, numbers_of::centred, size, 2),
                    .value = x.rows(9, numbers_of::centred, size, 2),
                    .strength = x.tokens(10, numbers_of::positive, 2)},
                   x.decays_of_heads());
             }),
      // Eleven levels reach over 1024 tokens; an output reads the rows of ten.
      row_of("log_linear_of", takes_decays::all,
             {.erased = erased, .most_tokens = 1024, .summed = 10 * size},
             []<class X>(X const& x) {
               return log_linear_of(gated_delta_net<typename X::number>({.query = x.query(),
                                                                         .key = x.key(),
                                                                         .value = x.value(),
                                                                         .strength = x.strength()},
                                                                        x.decays_of_heads()),
                                    x.rows(8, numbers_of::positive, 11));
             }),
      // A write is shrunk to 2/3 at most, and so is what it erases: beta / 1.5.
      row_of("preconditioned_delta_net", takes_decays::all, {.erased = 0.267 / size},
             []<class X>(X const& x) {
               return preconditioned_delta_net<typename X::number>(
                   {.query = x.query(),
                    .key = x.key(),
                    .value = x.value(),
                    .strength = x.strength(),
                    .curvature_strength = x.tokens(8),
                    .curvature_log_decay = x.decays_of_heads()},
                   x.decays_of_heads());
             }),
      // Keys and queries are positive, so that the denominator does not cancel; its error adds.
      row_of("mlstm", takes_decays::all, {.condition = 2, .spread = 5},
             []<class X>(X const& x) {
               return mlstm<typename X::number>({.query = x.positive_query(),
                                                 .key = x.positive_key(),
                                                 .value = x.value(),
                                                 .input_gate = x.tokens(8, numbers_of::centred)},
                                                x.decays_of_heads());
             }),
      // A token writes twice, and its angle, from -pi to pi, is rounded to two units: 2 + 2^2.
      row_of("mamba3", takes_decays::all, {.roundings = 6},
             []<class X>(X const& x) {
               return mamba3<typename X::number>({.x = x.value(),
                                                  .B = x.key(),
                                                  .C = x.query(),
                                                  .delta = x.strength(),
                                                  .trapezoid = x.tokens(8),
                                                  .angle = x.rows(9, numbers_of::centred, size / 2),
                                                  .D = x.of_heads(1, numbers_of::centred)},
                                                 x.decays_of_heads());
             }),
  };
}

}  // namespace wane::bench
