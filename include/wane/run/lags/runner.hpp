// The runner of recurrences whose rows fade by constants: a pair of tokens has one weight.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/lags/adjoint.hpp"
#include "wane/run/lags/run.hpp"

namespace wane::impl::runners {

struct lags {
  static constexpr std::string_view name = "lags";
  template <class Op, class Out>
  static constexpr bool takes = has_lags<Op>;

  static bool accepts_run(auto const& op, auto const& output, auto const& options) {
    return lags_pay(op, options) && lags_fit(op, output);
  }
  static void run(auto const& op, auto const& output, auto const& options) {
    run_lags(op, output, options);
  }

  // The gradients of keys of a time-invariant recurrence are sums over tokens, which in_order
  // computes.
  template <class Op, class Out, class Gradients, class State>
  requires(!time_invariant<Op> && gives_lanes<Op, Gradients>()) static bool accepts_adjoint(
      Op const& op, sequence_view<Out> const& dy, Gradients const& to,
      adjoint_options<State> const&) {
    return (layout_of(op) & layout_of(dy) & to.layout()).columns && only_fades(op);
  }
  template <class Op, class Out, class Gradients, class State>
  requires(!time_invariant<Op> && gives_lanes<Op, Gradients>()) static void adjoint(
      Op const& op, sequence_view<Out> const& dy, Gradients const& to,
      adjoint_options<State> const& options) {
    adjoint_lags(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
