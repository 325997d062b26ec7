// The runner that takes any recurrence, token by token. It is the last in the table of runners.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/in_order/adjoint.hpp"
#include "wane/run/in_order/retreat.hpp"
#include "wane/run/in_order/run.hpp"

namespace wane::impl::runners {

struct in_order {
  static constexpr std::string_view name = "in_order";
  static constexpr int cost = 16;
  template <class Op, class Out>
  static constexpr bool takes = true;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_in_order(op, output, options);
  }
  static void step(auto const& op, walk const& w, auto const& output, auto const& state) {
    step_in_order(op, w, output, state);
  }
  template <affine_recurrence Op>
  requires(!pole_bank<Op>) static void adjoint(Op const& op, auto const& dy, auto const& to,
                                               auto const& options) {
    adjoint_in_order(op, dy, to, options);
  }
  template <class Op, class Out, class Gradients>
  requires retreating_recurrence<Op, Gradients, Out>
  static void adjoint(Op const& op, sequence_view<Out const> const& dy, Gradients const& to,
                      auto const& options) {
    retreat_in_order(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
