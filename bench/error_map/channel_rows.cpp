// Rows of the table: channels, a bank of constant decays, poles.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <complex>

#include "error_map/row_of.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/laplace.hpp"
#include "wane/operators/laplace_coefficients.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/rwkv4.hpp"

namespace wane::bench {
std::vector<mapped_operator> channel_operators() {
  constexpr index nodes = 4;  // of laplace_coefficients
  return {
      row_of("linear_recurrence", takes_decays::all, {.summed = 1},
             []<class X>(X const& x) {
               return linear_recurrence<decay_as::log, typename X::number>(
                   {.decay = x.decays_of_rows(), .drive = x.value()});
             }),
      row_of("exponential_bank", takes_decays::all, {},
             []<class X>(X const& x) {
               return exponential_bank<typename X::number>(
                   {.value = x.value(),
                    .log_decay = x.of_channels(0, numbers_of::decays),
                    .key = x.of_channels(1, numbers_of::positive),
                    .query = x.of_channels(2, numbers_of::positive),
                    .direct = x.of_heads(3, numbers_of::positive)});
             }),
      // Weights e^k are positive; the error of their sum adds.
      row_of("rwkv4", takes_decays::all, {.summed = 2, .condition = 2, .spread = 5},
             []<class X>(X const& x) {
               return rwkv4<typename X::number>({.key = x.key(),
                                                 .value = x.value(),
                                                 .log_decay = x.of_channels(0, numbers_of::decays),
                                                 .bonus = x.of_channels(1, numbers_of::centred)});
             }),
      // A complex state has two parts, and a pole two products for each. A pole is rounded in the
      // same direction at every token, and its corrections may be lost.
      row_of("laplace", takes_decays::finite,
             {.idle = HUGE_VAL, .roundings = 2, .summed = 2 * size},
             []<class X>(X const& x) {
               using P = typename X::parameter;
               auto const parts = x.of_channels(2, numbers_of::centred, 1, 2 * size);
               return laplace<typename X::number>(
                   {.value = x.value()},
                   {.sigma = x.of_channels(0, numbers_of::decays, -1),
                    .omega = x.of_channels(1, numbers_of::positive, 3),
                    .read_out = {reinterpret_cast<std::complex<P> const*>(parts.data), heads, size,
                                 1}});
             }),
      // A coefficient is one state.
      row_of("laplace_coefficients", takes_decays::finite,
             {.idle = HUGE_VAL, .roundings = 2, .summed = 1},
             []<class X>(X const& x) {
               using P = typename X::parameter;
               auto const parts = x.of_channels(2, numbers_of::centred, 1, 2 * nodes);
               return wane::laplace_coefficients(laplace<typename X::number>(
                   {.value = x.value()},
                   {.sigma = x.of_channels(0, numbers_of::decays, -1, nodes),
                    .omega = x.of_channels(1, numbers_of::positive, 3, nodes),
                    .read_out = {reinterpret_cast<std::complex<P> const*>(parts.data), heads, nodes,
                                 1}}));
             }),
  };
}

}  // namespace wane::bench
