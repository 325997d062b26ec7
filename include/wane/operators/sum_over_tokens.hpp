// sum_over_tokens: adds up gradients of tokens for a parameter that all tokens share.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/state/packed.hpp"

namespace wane {

//   wane::sum_over_tokens(rate_of_tokens, wane::view<float, 2>(rate, H, K));
//
// to[h, c] is the sum of from[b, t, h, c] over b and t, in double and always in the same order.
// `lengths` are the lengths of a padded batch, as in run_options. Throws wane::error when the
// shapes do not fit.
template <class T, class To>
void sum_over_tokens(sequence_view<T> from, view<To, 2> to, std::span<index const> lengths = {}) {
  impl::check_sequences({}, lengths, from.extent[0], from.extent[1]);
  check_extent("to", "heads", to.extent[0], from.extent[2]);
  check_extent("to", "columns", to.extent[1], from.extent[3]);
  for (index h = 0; h < from.extent[2]; ++h)
    for (index c = 0; c < from.extent[3]; ++c) {
      double total = 0;
      for (index b = 0; b < from.extent[0]; ++b)
        for (index t = 0; t < impl::tokens_of(b, from.extent[1], {}, lengths).end; ++t)
          total += static_cast<double>(from.read({b, t, h}, c));
      to(h, c) = static_cast<To>(total);
    }
}

// The sum of one number for each head: to[h] of from[b, t, h].
template <class T, class To>
void sum_over_tokens(token_view<T> from, view<To, 1> to, std::span<index const> lengths = {}) {
  auto const& [batch, time, heads] = from.extent;
  auto const& [s0, s1, s2] = from.stride;
  sum_over_tokens(sequence_view<T>(from.data, {batch, time, heads, 1}, {s0, s1, s2, 1}),
                  view<To, 2>(to.data, {to.extent[0], 1}, {to.stride[0], 1}), lengths);
}

}  // namespace wane
