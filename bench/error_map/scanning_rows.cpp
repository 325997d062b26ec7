// Rows of the table: scans with decays of their own, and levels.
// SPDX-License-Identifier: MIT
#include "error_map/row_of.hpp"
#include "wane/operators/log_linear.hpp"
#include "wane/operators/longhorn.hpp"
#include "wane/operators/mamba1.hpp"
#include "wane/operators/mamba2.hpp"

namespace wane::bench {

std::vector<mapped_operator> scanning_operators() {
  // dt is 1/2 on average, and A twice the log decay.
  return {
      row_of("mamba1", takes_decays::all, {},
             []<class X>(X const& x) {
               using P = typename X::parameter;
               P const* const A = x.of_channels(0, numbers_of::decays, 2, size * size).data;
               return mamba1<typename X::number>({.x = x.value(),
                                                  .dt = x.rows(8, numbers_of::positive),
                                                  .A = view<P const, 3>(A, heads, size, size),
                                                  .B = x.key(),
                                                  .C = x.query(),
                                                  .D = x.of_channels(1, numbers_of::centred)});
             }),
      row_of("mamba2", takes_decays::finite, {},
             []<class X>(X const& x) {
               return mamba2<typename X::number>({.x = x.value(),
                                                  .dt = x.strength(),
                                                  .A = x.of_heads(0, numbers_of::decays, 2),
                                                  .B = x.key(),
                                                  .C = x.query(),
                                                  .D = x.of_heads(1, numbers_of::centred)});
             }),
      // A row forgets e k_i^2, e = beta / (1 + beta |k|^2): 0.32 / 16 on average.
      row_of("longhorn", takes_decays::none, {.erased = 0.02},
             []<class X>(X const& x) {
               return longhorn<typename X::number>({.query = x.query(),
                                                    .key = x.key(),
                                                    .value = x.value(),
                                                    .beta = x.rows(8, numbers_of::positive)});
             }),
      // Eleven levels reach over 1024 tokens, of which the last is read for 512 after it is
      // written; an output reads the rows of ten.
      row_of("log_linear", takes_decays::all,
             {.most_tokens = 1024, .idle = 512, .summed = 10 * size},
             []<class X>(X const& x) {
               return log_linear<typename X::number>(
                   {.query = x.query(),
                    .key = x.key(),
                    .value = x.value(),
                    .level_scale = x.rows(8, numbers_of::positive, 11)},
                   x.decays_of_heads());
             }),
  };
}

}  // namespace wane::bench
