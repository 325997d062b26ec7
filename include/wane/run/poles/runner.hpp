// The runners of banks of poles, and of the coefficients of Laplace nodes.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/poles/adjoint.hpp"
#include "wane/run/poles/coefficients_adjoint.hpp"
#include "wane/run/poles/run.hpp"

namespace wane::impl::runners {

// Chunks give real outputs; a run with complex outputs goes token by token.
struct poles {
  static constexpr std::string_view name = "poles";
  static constexpr int cost = 1;
  template <class Op, class Out>
  static constexpr bool takes = pole_bank<Op>;

  template <class Op, class Out, class State>
  requires(!is_complex<Out>) static void run(Op const& op, sequence_view<Out> const& output,
                                             run_options<State> const& options) {
    run_poles(op, output, options);
  }
  template <class Op, class State>
  requires std::same_as<State, accumulate_type<Op>>
  static void step(Op const& op, walk const& w, auto const& output, view<State, 2> const& state) {
    step_poles(op, w, output, state);
  }
  template <class Op, class Out, class Gradients, class State>
  requires(!is_complex<Out>) static void adjoint(Op const& op, sequence_view<Out> const& dy,
                                                 Gradients const& to,
                                                 adjoint_options<State> const& options) {
    adjoint_poles(op, dy, to, options);
  }
};

struct coefficients {
  static constexpr std::string_view name = "coefficients";
  template <class Op, class Out>
  static constexpr bool takes = node_coefficients<Op> && !is_complex<Out>;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_coefficients<transform_side::past>(op, output, options);
  }
  static void check_adjoint(auto const& op, auto const& to, auto const&, index sequences) {
    check_gradients(op.bank(), to, sequences);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_coefficients(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
