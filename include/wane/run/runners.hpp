// The table of runners: which of them takes an operator for run, for step and for adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "wane/run/attention/runner.hpp"
#include "wane/run/channels/runner.hpp"
#include "wane/run/elements/runner.hpp"
#include "wane/run/in_order/runner.hpp"
#include "wane/run/lags/runner.hpp"
#include "wane/run/led/runner.hpp"
#include "wane/run/levels/runner.hpp"
#include "wane/run/pairs/runner.hpp"
#include "wane/run/panels/runner.hpp"
#include "wane/run/penalty/runner.hpp"
#include "wane/run/poles/runner.hpp"
#include "wane/run/shared/by_table.hpp"
#include "wane/run/shared/parts.hpp"
#include "wane/run/substeps/runner.hpp"

namespace wane::impl {

// A runner is a type with
//   name                     the answer of runner_name
//   takes<Op, Out>           whether it is for this form of operator, at compile time
//   run(op, output, options), step(op, walk, output, state), adjoint(op, dy, gradients, options)
//                            its passes. A pass that is absent, or whose constraints do not hold,
//                            is left to the next runner that takes the operator.
//   accepts_run, accepts_step, accepts_adjoint, with the arguments of the pass
//                            present where a pass depends on values or strides: whether this call
//                            fits. Without it the runner takes all calls, and no later runner is
//                            instantiated.
//   cost                     present where threads share its work: that of a number of the state at
//                            a token, forward, as a multiple of what it is in panels
//   check_adjoint(op, gradients, options, sequences)
//                            present where the adjoint needs other checks than check_gradients.
template <class... Runners>
struct runner_list {};

using cpu_runners =
    runner_list<runners::channels, runners::penalty, runners::pairs, runners::substeps,
                runners::led, runners::levels, runners::normalised, runners::local_attention,
                runners::poles, runners::coefficients, runners::lags, runners::panels,
                runners::elements, runners::in_order>;

// The options of a call with no more threads than it is worth. `passes`: of one forward.
template <class R, class Options>
Options with_threads(Options options, recurrence_shape const& shape, int passes) {
  if constexpr (requires { R::cost; })
    options.threads = threads_for(R::cost * passes * numbers_advanced(shape), options.threads);
  return options;
}

// The arguments of one call. For runner R: has, whether R has this pass; asks, whether R decides
// for each call; accepted, its decision; carry_out, the pass itself.
template <class Op, class Out, class State>
struct run_pass {
  Op const& op;
  sequence_view<Out> const& output;
  run_options<State> const& options;

  template <class R>
  static constexpr bool has = requires(run_pass p) {
    R::run(p.op, p.output, p.options);
  };
  template <class R>
  static constexpr bool asks = requires(run_pass p) {
    R::accepts_run(p.op, p.output, p.options);
  };
  template <class R>
  bool accepted() const {
    return R::accepts_run(op, output, options);
  }
  template <class R>
  void carry_out() const {
    R::run(op, output, with_threads<R>(options, op.shape(), 1));
  }
};
template <class Op, class Out, class State>
struct step_pass {
  Op const& op;
  walk const& tokens;
  sequence_view<Out> const& output;
  view<State, 2> const& state;

  template <class R>
  static constexpr bool has = requires(step_pass p) {
    R::step(p.op, p.tokens, p.output, p.state);
  };
  template <class R>
  static constexpr bool asks = requires(step_pass p) {
    R::accepts_step(p.op, p.tokens, p.output, p.state);
  };
  template <class R>
  bool accepted() const {
    return R::accepts_step(op, tokens, output, state);
  }
  template <class R>
  void carry_out() const {
    R::step(op, tokens, output, state);
  }
};
template <class Op, class Out, class Gradients, class State>
struct adjoint_pass {
  Op const& op;
  sequence_view<Out const> const& dy;
  Gradients const& to;
  adjoint_options<State> const& options;

  template <class R>
  static constexpr bool has = requires(adjoint_pass p) {
    R::adjoint(p.op, p.dy, p.to, p.options);
  };
  template <class R>
  static constexpr bool asks = requires(adjoint_pass p) {
    R::accepts_adjoint(p.op, p.dy, p.to, p.options);
  };
  template <class R>
  bool accepted() const {
    return R::accepts_adjoint(op, dy, to, options);
  }
  template <class R>
  void carry_out() const {
    R::adjoint(op, dy, to, with_threads<R>(options, op.shape(), 4));
  }
};
// A pass that is not carried out: first_taker then only names the runner.
template <class Pass>
struct asked_pass : Pass {
  template <class R>
  void carry_out() const {}
};

// Gives a call to the first runner that takes it, and returns the name of that runner.
template <class Op, class Out, class Pass, class First, class... Rest>
std::string_view first_taker(Pass const& pass, runner_list<First, Rest...>) {
  constexpr bool may = First::template takes<Op, Out> && Pass::template has<First>;
  if constexpr (may && !Pass::template asks<First>) {
    pass.template carry_out<First>();
    return First::name;
  } else {
    if constexpr (may)
      if (pass.template accepted<First>()) {
        pass.template carry_out<First>();
        return First::name;
      }
    if constexpr (sizeof...(Rest) > 0)
      return first_taker<Op, Out>(pass, runner_list<Rest...>{});
    else
      return {};
  }
}

// Whether some runner has an adjoint of this operator.
template <class Op, class Out, class Gradients, class State, class... Runners>
consteval bool has_adjoint_in(runner_list<Runners...>) {
  return ((Runners::template takes<Op, Out> &&
           adjoint_pass<Op, Out, Gradients, State>::template has<Runners>) ||
          ...);
}
template <class Op, class Out, class Gradients, class State>
concept has_adjoint = has_adjoint_in<Op, Out, Gradients, State>(cpu_runners{});

template <diagonal_recurrence Op, class Out, class State>
void run_by_table(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  first_taker<Op, Out>(run_pass<Op, Out, State>{op, output, options}, cpu_runners{});
}
template <diagonal_recurrence Op, class Out, class State>
void step_by_table(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
  first_taker<Op, Out>(step_pass<Op, Out, State>{op, w, output, state}, cpu_runners{});
}
// The adjoint with memory for the parts of parameters.
template <diagonal_recurrence Op, class Out, class Gradients, class State>
void adjoint_of_box(Op const& op, sequence_view<Out const> const& dy, Gradients const& to,
                    adjoint_options<State> const& options) {
  first_taker<Op, Out>(adjoint_pass<Op, Out, Gradients, State>{op, dy, to, options}, cpu_runners{});
}
// Calls body(gradients with that memory), and adds up the parts.
template <diagonal_recurrence Op, class Gradients, class State, class Body>
void with_parts_lent(Op const& op, Gradients const& gradients,
                     adjoint_options<State> const& options, Body const& body) {
  recurrence_shape const shape = op.shape();
  // A sink may refuse (require_lent), which it must not do first on a thread.
  if constexpr (!has_parameters<Gradients> && requires { gradients.at(op, place<>{}); })
    if (shape.batch * shape.time * shape.heads > 0) (void)gradients.at(op, place<>{0, 0, 0, 1});
  with_parts(gradients, shape, sequences_of(shape, options.packed), body);
}
template <diagonal_recurrence Op, class Out, class Gradients, class State>
void adjoint_by_table(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  with_parts_lent(op, gradients, options,
                  [&](Gradients const& to) { adjoint_of_box(op, dy, to, options); });
}

template <class Op, class Gradients, class State, class First, class... Rest>
void check_first_adjoint(Op const& op, Gradients const& to, adjoint_options<State> const& options,
                         index sequences, runner_list<First, Rest...>) {
  if constexpr (First::template takes<Op, output_type<Op>> &&
                requires { First::check_adjoint(op, to, options, sequences); })
    First::check_adjoint(op, to, options, sequences);
  else if constexpr (sizeof...(Rest) > 0)
    check_first_adjoint(op, to, options, sequences, runner_list<Rest...>{});
  else
    check_gradients(op, to, sequences);
}
template <diagonal_recurrence Op, class Gradients, class State>
void check_adjoint_by_table(Op const& op, Gradients const& gradients,
                            adjoint_options<State> const& options, index sequences) {
  check_first_adjoint(op, gradients, options, sequences, cpu_runners{});
}

}  // namespace wane::impl
