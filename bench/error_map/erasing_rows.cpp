// Rows of the table: memories that erase what they find.
// SPDX-License-Identifier: MIT
#include "error_map/row_of.hpp"
#include "wane/operators/comba.hpp"
#include "wane/operators/delta_net.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gated_delta_net2.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/operators/vla_delta_net.hpp"

namespace wane::bench {
namespace {

// I - beta k k^T with |k| = 1 leaves 1 - (2 beta - beta^2) / K of the squares of a state, whose
// directions are alike: (beta - beta^2 / 2) / K of the state is erased. For beta in (1/8, 7/8) the
// means of beta and beta^2 are 1/2 and 0.297.
constexpr double erased = 0.35 / size;

template <class X>
delta_inputs<typename X::number> delta(X const& x) {
  return {.query = x.query(), .key = x.key(), .value = x.value(), .strength = x.strength()};
}

}  // namespace

std::vector<mapped_operator> erasing_operators() {
  return {
      row_of("delta_net", takes_decays::none, {.erased = erased},
             []<class X>(X const& x) { return delta_net<typename X::number>(delta(x)); }),
      row_of("gated_delta_net", takes_decays::all, {.erased = erased},
             []<class X>(X const& x) {
               return gated_delta_net<typename X::number>(delta(x), x.decays_of_heads());
             }),
      row_of("gated_delta_net2", takes_decays::all, {.erased = erased},
             []<class X>(X const& x) {
               return gated_delta_net2<typename X::number>(
                   {.query = x.query(),
                    .key = x.key(),
                    .value = x.value(),
                    .erase_gate = x.rows(8, numbers_of::positive),
                    .write_gate = x.rows(9, numbers_of::positive)},
                   x.decays_of_rows());
             }),
      row_of("kimi_delta_attention", takes_decays::all, {.erased = erased},
             []<class X>(X const& x) {
               return kimi_delta_attention<typename X::number>(delta(x), x.decays_of_rows());
             }),
      row_of("comba", takes_decays::all, {.erased = erased},
             []<class X>(X const& x) {
               return comba<typename X::number>({.query = x.query(),
                                                 .key = x.key(),
                                                 .value = x.value(),
                                                 .removal = x.key(),
                                                 .strength = x.strength()},
                                                x.decays_of_heads());
             }),
      row_of("rwkv7", takes_decays::all, {.erased = erased},
             []<class X>(X const& x) {
               return rwkv7<typename X::number>({.query = x.query(),
                                                 .key = x.key(),
                                                 .value = x.value(),
                                                 .removal = x.rows(8),
                                                 .rate = x.rows(9, numbers_of::positive),
                                                 .bonus = x.of_channels(1, numbers_of::centred)},
                                                x.decays_of_rows());
             }),
      // Its beta is a decay, here of the numbers in (1/8, 7/8), 1/2 on average; keys are written
      // and erased whole.
      row_of("vla_delta_net", takes_decays::none, {.slowest = -0.69},
             []<class X>(X const& x) {
               return vla_delta_net<typename X::number>(
                   {.query = x.query(), .key = x.key(), .value = x.value(), .decay = x.strength()},
                   {.normalise = true});
             }),
  };
}

}  // namespace wane::bench
