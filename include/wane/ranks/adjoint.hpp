// sharded_adjoint: gradients of a sequence over many ranks, each with its own tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "wane/ranks/early_gradients.hpp"
#include "wane/ranks/run.hpp"

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

// A pass backward in which ranks hand on gradients by states. Returns whether a gradient that this
// rank sent early was not right.
template <class Ranks, class Op, class Dy, class Gradients, class State>
bool pass_back_over_ranks(Ranks const& ranks, linked_states<State> const& starts,
                          agreed_call const& call, Op const& op, sequence_view<Dy const> const& dy,
                          Gradients const& gradients, adjoint_options<State> const& options,
                          bool early) {
  shard_link const &from = call.links.from, &to = call.links.to;
  std::optional<recurrent_state<State>> all;
  std::optional<state_chain<State, Ranks>> chain;
  together(ranks, [&] {
    auto left = options.initial_gradient.values;
    if (!goes_back_by_sequence<Op> && from.present() && !left.data) {
      all.emplace(call.sequences, call.shape.heads, call.shape.rows, call.shape.columns);
      left = state_view<State>(*all).values;
    }
    chain.emplace(ranks, shard_links{to, from}, shard_parts(call.reports, cuts_of_adjoint<Op>),
                  call.shape, call.sequences, view<State, 4>(), left);
  });
  bool right = true;
  together(ranks, [&] {
    chain->guard([&] {
      if constexpr (may_forget_gradients<Op>) {
        if (early && from.present()) {
          adjoint_options<State> own = options;
          own.initial.values = starts.values;
          early_gradients<Op, Dy, State> found(op, dy, own, from, call.sequences);
          chain->send_early(found.states, found);
          adjoint_shard(*chain, starts, call, op, dy, gradients, options);
          right = found.hold(chain->left.values);
          return;
        }
      }
      adjoint_shard(*chain, starts, call, op, dy, gradients, options);
    });
  });
  return !right;
}

// An adjoint in which ranks hand on states and gradients by states, part by part.
template <class Ranks, class Op, class Dy, class Gradients, class State>
void adjoint_by_states(Ranks const& ranks, agreed_call const& call, Op const& op,
                       sequence_view<Dy const> const& dy, Gradients const& gradients,
                       adjoint_options<State> options, sharding<State> const& shard) {
  std::optional<linked_states<State>> starts;
  std::optional<given_states<State>> given;
  std::optional<state_chain<State, Ranks>> forward;
  std::optional<recurrent_state<State>> kept;
  together(ranks, [&] {
    starts.emplace(call.links.from, call.sequences, call.shape, shard.start.values);
    given.emplace(run_of(options), call, false);
    if (!call.starts_given)
      forward.emplace(ranks, call.links, shard_parts(call.reports, cuts_of_run<Op>), call.shape,
                      call.sequences, starts->values, view<State, 4>());
    // A pass that may have to be repeated must not overwrite what it reads.
    auto& by_final = options.final_gradient.values;
    if (may_forget_gradients<Op> && by_final.data &&
        by_final.data == options.initial_gradient.values.data)
      by_final = copied(by_final, kept);
  });
  if (forward) together(ranks, [&] { find_starts(*forward, op, given->options); });
  options.initial.positions = given->positions.data();
  constexpr bool early = may_forget_gradients<Op>;
  bool const wrong = pass_back_over_ranks(ranks, *starts, call, op, dy, gradients, options, early);
  if constexpr (early)
    if (on_any_rank(ranks, wrong))
      (void)pass_back_over_ranks(ranks, *starts, call, op, dy, gradients, options, false);
}

// An adjoint in which ranks hand on effects on gradients. Returns false, and has found nothing,
// where products of decays leave their range.
template <class Ranks, class Op, class Dy, class Gradients, class State>
bool adjoint_by_effects(Ranks const& ranks, agreed_call const& call, Op const& op,
                        sequence_view<Dy const> const& dy, Gradients const& gradients,
                        adjoint_options<State> options, sharding<State> const& shard) {
  std::optional<given_states<State>> given;
  std::optional<linked_states<State>> starts;
  together(ranks, [&] { given.emplace(run_of(options), call, false); });
  options.initial.positions = given->positions.data();
  if (call.starts_given)
    starts.emplace(call.links.from, call.sequences, call.shape, shard.start.values);
  else if (!find_starts_by_effects(ranks, call, op, given->options, starts, {}))
    return false;

  auto const& links = call.links;
  std::optional<piece_effects<State>> effects;
  std::optional<linked_states<State>> arrived;
  auto const initial_of = [&](index sequence) {
    return links.from.holds(sequence) ? view<State const, 4>(starts->values)
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
          adjoint_by_table(op, dy, unwanted_gradients<Op>(), own);
        });
    effects->turn_round();
  });
  if (!stay_in_range(ranks, *effects)) return false;
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
  return true;
}

// Whether it is better to find all gradients early: where what is chosen may be so, and the states
// at the starts need not be found first.
template <class Ranks, class Op, class State>
bool gradients_fade(Ranks const& ranks, agreed_call const& call, Op const& op,
                    adjoint_options<State> const& options, sharding<State> const& shard) {
  if constexpr (may_forget_gradients<Op>) {
    if (shard.exchange != exchange::chosen || !call.starts_given) return false;
    bool fade = true;
    together(ranks, [&] {
      if (call.links.from.present()) fade = first_tokens(op, options, call.positions.data()) >= 0;
    });
    return !on_any_rank(ranks, !fade);
  } else {
    return false;
  }
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
// more. Gradients then go from rank to rank as states, or effects, do in sharded_run. Those that
// fade within an eighth of the tokens of each rank are found early, but not those of packed
// sequences and in reverse.
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
    sequence_view<Dy const> const dy = output_gradient;
    if constexpr (impl::has_effects<Op, State>) {
      // Gradients that are sums over all sequences are found for all at once.
      bool const at_once = !impl::goes_back_by_sequence<Op> && call.reports[0].packed;
      if (!at_once &&
          impl::hands_on_effects<Op, State>(call.reports, call.shape, impl::cuts_of_adjoint<Op>,
                                            4) &&
          !impl::gradients_fade(ranks, call, op, options, shard) &&
          impl::adjoint_by_effects(ranks, call, op, dy, gradients, options, shard))
        return;
    }
    impl::adjoint_by_states(ranks, call, op, dy, gradients, options, shard);
  }
}

}  // namespace wane
