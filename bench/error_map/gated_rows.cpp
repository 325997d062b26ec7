// Rows of the table: memories with a gate of rows or of heads.
// SPDX-License-Identifier: MIT
#include "error_map/row_of.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/hgrn2.hpp"
#include "wane/operators/lightning_attention.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv6.hpp"

namespace wane::bench {

std::vector<mapped_operator> gated_operators() {
  return {
      row_of("gla", takes_decays::all, {},
             []<class X>(X const& x) {
               return gla<typename X::number>(x.keyed(), x.decays_of_rows());
             }),
      row_of("retnet", takes_decays::all, {},
             []<class X>(X const& x) {
               return retnet<typename X::number>(
                   x.keyed(),
                   gate_parameter<typename X::parameter const>{x.of_heads(0, numbers_of::decays)});
             }),
      // Its first head never forgets.
      row_of("lightning_attention", takes_decays::none, {},
             []<class X>(X const& x) {
               return lightning_attention<typename X::number>(x.keyed(),
                                                              {.layer = 3, .layers = 24});
             }),
      row_of("hgrn2", takes_decays::all, {},
             []<class X>(X const& x) {
               return hgrn2<typename X::number>({.query = x.query(), .value = x.value()},
                                                x.decays_of_rows());
             }),
      row_of("rwkv6", takes_decays::all, {},
             []<class X>(X const& x) {
               return rwkv6<typename X::number>({.query = x.query(),
                                                 .key = x.key(),
                                                 .value = x.value(),
                                                 .bonus = x.of_channels(1, numbers_of::centred)},
                                                x.decays_of_rows());
             }),
      // Features are positive: the denominator is a sum of one sign, and its error adds to that of
      // the sum it divides.
      row_of("linear_attention", takes_decays::all, {.condition = 2, .spread = 5},
             []<class X>(X const& x) {
               return linear_attention<typename X::number, token_view<typename X::number const>>(
                   x.positive(), x.decays_of_heads());
             }),
  };
}

}  // namespace wane::bench
