// sharded_adjoint: gradients of a sequence over many ranks, each with its own tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "wane/ranks/run.hpp"
#include "wane/run/adjoint.hpp"

namespace wane::impl {

// How an adjoint may be cut into parts.
template <class Op>
inline constexpr box_cuts cuts_of_adjoint{goes_back_by_sequence<Op>,
                                          goes_back_by_head<Op> && !normalised_recurrence<Op>,
                                          channelwise<Op>};

// Finds the states that the ranks begin with: a run whose last rank does nothing.
template <class Ranks, class Op, class State>
void find_starts(state_chain<State, Ranks>& chain, Op const& op,
                 run_options<State> const& options) {
  chain.guard([&] {
    chain.carry([&](state_box const& box, bool arrives, bool leaves) {
      if (!leaves) return;
      run_options<State> own = options;
      own.box = box;
      if (arrives) own.initial.values = chain.arrived.values;
      own.final.values = chain.left.values;
      run_by_table(op, unread_outputs(output_shape_of(op)), own);
    });
  });
}

// States of all sequences: those of a link, and of the others what the caller gave, or zeros.
template <class State>
class joined_states {
 public:
  joined_states(view<State const, 4> const& given, view<State, 4> const& linked,
                shard_link const& link, index sequences, recurrence_shape const& shape) {
    if (!link.present() || link.sequences == sequences) {
      all_ = link.present() ? view<State const, 4>(linked) : given;
      return;
    }
    state_view<State> const to = own_.emplace(sequences, shape.heads, shape.rows, shape.columns);
    for (index n = 0; n < sequences; ++n) {
      view<State const, 4> const from = link.holds(n) ? view<State const, 4>(linked) : given;
      if (from.data) copy_sequence(from, to.values, n);
    }
    all_ = to.values;
  }
  view<State const, 4> const& values() const { return all_; }

 private:
  std::optional<recurrent_state<State>> own_;
  view<State const, 4> all_;
};

// The work of one rank of sharded_adjoint. `starts` are the states that the sequences of links.from
// begin with; gradients arrive from links.to. options.initial has positions.
template <class Ranks, class Op, class Dy, class Gradients, class State>
void adjoint_shard(state_chain<State, Ranks>& chain, linked_states<State> const& starts,
                   agreed_call const& call, Op const& op, sequence_view<Dy const> const& dy,
                   Gradients const& gradients, adjoint_options<State> const& options) {
  auto const visit = [&](Gradients const& to, state_box const& box,
                         view<State const, 4> const& initial,
                         view<State const, 4> const& final_gradient, bool leaves) {
    adjoint_options<State> own = options;
    own.box = box;
    own.initial.values = initial, own.final_gradient.values = final_gradient;
    if (!own.initial_gradient.present() && leaves) own.initial_gradient.values = chain.left.values;
    adjoint_of_box(op, dy, to, own);
  };
  with_parts_lent(op, gradients, options, [&](Gradients const& to) {
    if constexpr (goes_back_by_sequence<Op>) {
      chain.carry([&](state_box const& box, bool arrives, bool leaves) {
        visit(to, box, leaves ? starts.values : options.initial.values,
              arrives ? chain.arrived.values : options.final_gradient.values, leaves);
      });
    } else {
      auto const& links = call.links;
      joined_states<State> const initial(options.initial.values, starts.values, links.from,
                                         call.sequences, call.shape);
      chain.carry_all_sequences([&](state_box const& box, bool, bool leaves) {
        joined_states<State> const gradient(options.final_gradient.values, chain.arrived.values,
                                            links.to, call.sequences, call.shape);
        visit(to, box, initial.values(), gradient.values(), leaves);
      });
    }
  });
}

// A sink that takes no gradients, for operators without gradients of their own.
struct no_gradients {
  struct sink {};
  sink at(place<> const&) const { return {}; }
};
template <class Op>
auto absent_gradients() {
  if constexpr (requires { typename Op::gradients; })
    return own_gradients<Op>{};
  else
    return no_gradients{};
}

// An adjoint in which ranks hand on effects on gradients. options.initial has positions; `starts`
// as above.
template <class Ranks, class Op, class Dy, class Gradients, class State>
void adjoint_by_effects(Ranks const& ranks, linked_states<State> const& starts,
                        agreed_call const& call, Op const& op, sequence_view<Dy const> const& dy,
                        Gradients const& gradients, adjoint_options<State> const& options) {
  auto const& links = call.links;
  std::optional<piece_effects<State>> effects;
  std::optional<linked_states<State>> arrived;
  auto const initial_of = [&](index sequence) {
    return links.from.holds(sequence) ? view<State const, 4>(starts.values)
                                      : options.initial.values;
  };
  together(ranks, [&] {
    arrived.emplace(links.to, call.sequences, call.shape, view<State, 4>());
    effects.emplace(transition_form_of<Op>(call.shape), call.reports[0].packed ? 1 : call.sequences,
                    call.shape.heads);
    find_effects(
        *effects, op, run_of(options), links, links.from, call.sequences,
        [&](state_box const& box, view<State const, 4> const& zeros, view<State, 4> const& found) {
          adjoint_options<State> own = options;
          own.box = box;
          own.initial.values = initial_of(box.first_sequence);
          if (zeros.data) own.final_gradient.values = zeros;
          own.initial_gradient.values = found;
          adjoint_by_table(op, dy, absent_gradients<Op>(), own);
        });
    effects->turn_round();
  });
  bool const backward = options.direction == direction::reverse;
  std::vector<State> after =
      effects->scan(ranks, backward ? direction::forward : direction::reverse);
  if (links.to.present()) effects->states_of(after, arrived->values, links.to);
  together(ranks, [&] {
    with_parts_lent(op, gradients, options, [&](Gradients const& to) {
      for_each_linked({links.to, links.from}, call.sequences,
                      [&](state_box const& box, bool arrives, bool) {
                        adjoint_options<State> own = options;
                        own.box = box;
                        own.initial.values = initial_of(box.first_sequence);
                        if (arrives) own.final_gradient.values = arrived->values;
                        adjoint_of_box(op, dy, to, own);
                      });
    });
  });
}

}  // namespace wane::impl

namespace wane {

//   sharded_adjoint(ranks, op, output_gradient, {.query = dq, .value = dv}, {.initial = state});
//
// The adjoint of sharded_run, with the arguments of `adjoint` for the tokens of this rank. The
// gradients of its tokens are those of the whole sequence. Those of parameters are sums over the
// tokens of this rank: add them up over the ranks (sum_over_ranks), with those of the rest of a
// model. options.initial is read on the rank where a sequence begins, options.final_gradient where
// it ends; options.initial_gradient receives the gradient by the state before the tokens of each
// rank.
//
// shard.start holds what sharded_run put there. Without it all ranks but the last run forward once
// more. Gradients then go from rank to rank as states, or effects, do in sharded_run.
// Throws as sharded_run does.
template <rank_group Ranks, class Op, class Out = output_type<Op> const,
          class Gradients = impl::own_gradients<Op>, class State = accumulate_type<Op>>
void sharded_adjoint(Ranks const& ranks, Op const& op, sequence_view<Out> output_gradient,
                     Gradients const& gradients, adjoint_options<State> const& options = {},
                     sharding<State> const& shard = {}) {
  using Dy = std::remove_const_t<Out>;
  if constexpr (impl::may_have_adjoint<Op, Dy, Gradients, State>()) {
    impl::agreed_call const call = impl::agree_on_call(
        ranks, op, options, shard,
        {.adjoint = 1,
         .cuts = impl::number_of(impl::cuts_of_adjoint<Op>),
         .starts_given = shard.start.present()},
        [&] { return impl::check_adjoint(op, output_gradient, gradients, options); });
    recurrence_shape const& shape = call.shape;
    index const sequences = call.sequences;
    impl::shard_links const& links = call.links;
    std::optional<impl::linked_states<State>> starts;
    std::optional<impl::given_states<State>> given;
    if constexpr (impl::has_effects<Op>) {
      // Gradients that are sums over all sequences are found for all at once.
      bool const at_once = !impl::goes_back_by_sequence<Op> && call.reports[0].packed;
      if (!at_once && impl::hands_on_effects<Op>(call, impl::cuts_of_adjoint<Op>, 4)) {
        impl::together(ranks, [&] { given.emplace(impl::run_of(options), call, false); });
        if (shard.start.present())
          starts.emplace(links.from, sequences, shape, shard.start.values);
        else
          impl::find_starts_by_effects(ranks, call, op, given->options, starts, {});
        adjoint_options<State> own = options;
        own.initial.positions = given->positions.data();
        impl::adjoint_by_effects(ranks, *starts, call, op, sequence_view<Dy const>(output_gradient),
                                 gradients, own);
        return;
      }
    }
    std::optional<recurrent_state<State>> all;
    std::optional<impl::state_chain<State, Ranks>> forward, backward;
    impl::together(ranks, [&] {
      impl::shard_parts const of_run(call.reports, impl::cuts_of_run<Op>);
      impl::shard_parts const of_adjoint(call.reports, impl::cuts_of_adjoint<Op>);
      starts.emplace(links.from, sequences, shape, shard.start.values);
      given.emplace(impl::run_of(options), call, false);
      auto left = options.initial_gradient.values;
      if (!impl::goes_back_by_sequence<Op> && links.from.present() && !left.data) {
        all.emplace(sequences, shape.heads, shape.rows, shape.columns);
        left = state_view<State>(*all).values;
      }
      if (!shard.start.present())
        forward.emplace(ranks, links, of_run, shape, sequences, starts->values, view<State, 4>());
      impl::shard_links const back{links.to, links.from};
      backward.emplace(ranks, back, of_adjoint, shape, sequences, view<State, 4>(), left);
    });
    if (!shard.start.present())
      impl::together(ranks, [&] { impl::find_starts(*forward, op, given->options); });
    impl::together(ranks, [&] {
      adjoint_options<State> own = options;
      own.initial.positions = given->positions.data();
      backward->guard([&] {
        impl::adjoint_shard(*backward, *starts, call, op, sequence_view<Dy const>(output_gradient),
                            gradients, own);
      });
    });
  }
}

}  // namespace wane
