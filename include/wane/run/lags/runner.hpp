// The runner of recurrences whose rows fade by constants: a pair of tokens has one weight.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "wane/run/lags/adjoint.hpp"
#include "wane/run/lags/head_adjoint.hpp"
#include "wane/run/lags/run.hpp"

namespace wane::impl {

// Whether sequences are long enough to pay for the tables that a run makes once.
template <has_lags Op, class Options>
bool lags_pay(Op const& op, Options const& options) {
  recurrence_shape const shape = op.shape();
  index const tokens = time_invariant<Op> ? 16 : 64;
  return shape.batch * shape.time >= tokens * sequences_of(shape, options.packed);
}

// Whether the products key x query stay in the range of their type.
template <has_lags Op>
bool products_in_range(Op const& op) {
  if constexpr (has_key<token_of<Op>> && has_query<token_of<Op>>) {
    using limits = std::numeric_limits<accumulate_type<Op>>;
    recurrence_shape const shape = op.shape();
    for (index h = 0; h < shape.heads; ++h) {
      auto const x = op.at(place<>{0, 0, h});
      accumulate_type<Op> sum(0);
      for (index s = 0; s < shape.rows; ++s) {
        auto const key = x.key(s), query = x.query(s), product = std::abs(key * query);
        if (product < (limits::min)() && key != 0 && query != 0) return false;
        sum += product;
      }
      if (!std::isfinite(sum)) return false;
    }
  }
  return true;
}

// Whether chunks of lags can be used: columns are neighbours in all tensors, no row is reset, and
// no product leaves the range of its type.
template <has_lags Op, class Out>
bool lags_fit(Op const& op, sequence_view<Out> const& output) {
  return choose_stores(op, output) != store_by::number && only_fades(op) && products_in_range(op);
}

}  // namespace wane::impl

namespace wane::impl::runners {

struct lags {
  static constexpr std::string_view name = "lags";
  static constexpr int cost = 1;
  template <class Op, class Out>
  static constexpr bool takes = has_lags<Op>;

  static bool accepts_run(auto const& op, auto const& output, auto const& options) {
    return lags_pay(op, options) && lags_fit(op, output);
  }
  static void run(auto const& op, auto const& output, auto const& options) {
    run_lags(op, output, options);
  }

  template <class Op, class Out, class Gradients, class State>
  requires(gives_lanes<Op, Gradients>()) static bool accepts_adjoint(
      Op const& op, sequence_view<Out> const& dy, Gradients const& to,
      adjoint_options<State> const& options) {
    if constexpr (time_invariant<Op>)
      if (!lags_pay(op, options) || !products_in_range(op)) return false;
    return (layout_of(op) & layout_of(dy) & to.layout()).columns && only_fades(op);
  }
  template <class Op, class Out, class Gradients, class State>
  requires(gives_lanes<Op, Gradients>()) static void adjoint(
      Op const& op, sequence_view<Out> const& dy, Gradients const& to,
      adjoint_options<State> const& options) {
    adjoint_lags(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
