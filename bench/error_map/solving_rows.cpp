// Rows of the table: memories that solve for what they write or read.
// SPDX-License-Identifier: MIT
#include "error_map/row_of.hpp"
#include "wane/operators/mesa_net.hpp"
#include "wane/operators/vla.hpp"

namespace wane::bench {

std::vector<mapped_operator> solving_operators() {
  // Keys of length 1 in 16 directions: n of them have eigenvalues of at most (1 + sqrt(n / 16))^2.
  return {
      // alpha = M^-1 k, M = R^T R. R changes by its rounding, and alpha by twice that times the
      // condition of R, sqrt(4 / least) for the first 16 keys, which do not reach all directions.
      // The least eigenvalue is lambda = 0.1, of which a quarter may be left.
      row_of("vla", takes_decays::all, {.condition = 2 * std::sqrt(4 / (0.1 / 4))},
             []<class X>(X const& x) {
               using N = typename X::number;
               return vla<N, write_rule::rls, token_view<N const>>(
                   {.query = x.query(), .key = x.key(), .value = x.value()}, x.decays_of_heads(),
                   {.lambda = 0.1});
             }),
      // H + lambda with 1/8 < lambda < 7/8: 16 keys of strength 1/2 reach 2 beside 1/8 where there
      // are none, a condition of 1 + 2 / (1/8). The error of S adds.
      row_of("mesa_net", takes_decays::all, {.condition = 18},
             []<class X>(X const& x) {
               return mesa_net<typename X::number>(
                   {.query = x.query(),
                    .key = x.key(),
                    .value = x.value(),
                    .strength = x.strength(),
                    .lambda = x.of_channels(1, numbers_of::positive)},
                   x.decays_of_heads());
             }),
  };
}

}  // namespace wane::bench
