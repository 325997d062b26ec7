// Calls over ranks that hand on effects in a tree, not states in a chain, and when.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/ranks/given_states.hpp"
#include "wane/ranks/piece_effect.hpp"

namespace wane::impl {

// What a rank does for an effect beside its run, as multiples of a run (docs/ranks.md has what was
// measured): the drive, which runs in lags find without outputs, and the transition. A transition
// by row is a run of one column, most of which is the decays.
inline double runs_for_drive(bool in_lags) { return in_lags ? .55 : .95; }
inline double runs_for_transition(transition_form const& form) {
  double const columns = static_cast<double>(form.columns);
  return form.kind == transition_form::matrix   ? .85 * static_cast<double>(form.rows) / columns
         : form.kind == transition_form::by_row ? std::min(1., 28 / columns)
                                                : .5;
}
// How many times as long heads take one by one as together.
inline constexpr double runs_in_parts = 1.3;

// Whether a tree of effects takes fewer steps than a chain of states. `passes`: those of a call
// over the tokens, as a multiple of a run; `drive`: what finds a drive, as a multiple of these. The
// same for any number of threads, because bits depend on it.
inline bool effects_are_faster(std::vector<shard_report> const& all, transition_form const& form,
                               box_cuts const& may_cut, double passes, double drive) {
  double tokens = 1, parts = 0, rounds = 0;
  for (shard_report const& r : all) tokens = std::max(tokens, static_cast<double>(r.tokens));
  shard_parts(all, may_cut, false).for_each({}, [&](auto const&) { parts += 1; });
  for (std::size_t d = 1; d < all.size(); d *= 2) rounds += 1;
  double const rows = static_cast<double>(form.rows), columns = static_cast<double>(form.columns);
  // Multiply-adds of a head: two for each number of the state and token; those that join two.
  double const run = 2 * tokens * rows * columns;
  double const join = form.kind == transition_form::matrix
                          ? rows * rows * (rows + columns)
                          : rows * (static_cast<double>(form.columns_of_transition()) + columns);
  double const chain = passes * run * (parts > 1 ? runs_in_parts : 1) *
                       (parts + static_cast<double>(all.size()) - 1) / parts;
  double const tree = run * (passes * (1 + drive) + runs_for_transition(form)) + rounds * join;
  return tree < chain;
}

// Whether a call is to hand on effects.
template <class Op, class State>
bool hands_on_effects(std::vector<shard_report> const& reports, recurrence_shape const& shape,
                      box_cuts const& may_cut, double passes) {
  if constexpr (has_effects<Op, State>) {
    exchange const by = reports[0].exchange;
    double const drive = passes == 1 ? runs_for_drive(has_lags<Op>) : 1;
    return by == exchange::effects ||
           (by == exchange::chosen &&
            effects_are_faster(reports, transition_form_of<Op>(shape), may_cut, passes, drive));
  } else {
    return false;
  }
}

// Whether the sequences that come from another rank go on to the next.
inline bool passes_through(shard_links const& links) {
  return links.from.present() && links.to.present() && links.from.first == links.to.first;
}

// Calls work(box, arrives, leaves) for the sequences of both links, for those of one, and the rest.
template <class Work>
void for_each_linked(shard_links const& links, index sequences, Work const& work) {
  index begin = 0, end = sequences;
  auto const part = [&](shard_link const& link, bool arrives, bool leaves) {
    if (!link.present()) return;
    work(state_box{.first_sequence = link.first, .sequences = link.sequences}, arrives, leaves);
    if (link.first == begin)
      begin += link.sequences;
    else
      end -= link.sequences;
  };
  if (passes_through(links)) {
    part(links.from, true, true);
  } else {
    part(links.to, false, true);
    part(links.from, true, false);
  }
  if (begin < end) work(state_box{.first_sequence = begin, .sequences = end - begin}, false, false);
}

// Finds the effects of the tokens of a rank on the states of a link. find(view of zeros or null,
// states, box) finds what is left of these; null: of what the sequences begin with.
template <class Op, class State, class Find>
void find_effects(piece_effects<State>& effects, Op const& op, run_options<State> const& options,
                  shard_links const& links, shard_link const& leaving, index sequences,
                  Find const& find) {
  if (!leaving.present()) return;
  recurrence_shape const shape = op.shape();
  linked_states<State> drives(leaving, sequences, shape, {});
  state_box const box{.first_sequence = leaving.first, .sequences = leaving.sequences};
  State const zero(0);
  bool const passes = passes_through(links);
  view<State const, 4> const zeros(&zero, drives.values.extent, {0, 0, 0, 0});
  find(box, passes ? zeros : view<State const, 4>(), drives.values);
  effects.set_drives(drives.values, leaving);
  if (!passes) return;
  run_options<State> own = options;
  own.keep = {}, own.box = box;
  effects.find_transitions(op, own, leaving);
}

// Whether the products of all transitions stay in range. All ranks have the same answer.
template <class Ranks, class State>
bool stay_in_range(Ranks const& ranks, piece_effects<State>& effects) {
  transition_range all;
  for (transition_range const& of : gathered(ranks, effects.range())) all.add(of);
  return all.stays();
}

// Finds the states that the sequences of links.from begin with, into `starts`, or returns false
// where products of decays leave their range. options.initial has positions.
template <class Ranks, class Op, class State>
bool find_starts_by_effects(Ranks const& ranks, agreed_call const& call, Op const& op,
                            run_options<State> const& options,
                            std::optional<linked_states<State>>& starts,
                            view<State, 4> const& starts_in) {
  auto const& links = call.links;
  std::optional<piece_effects<State>> effects;
  together(ranks, [&] {
    starts.emplace(links.from, call.sequences, call.shape, starts_in);
    effects.emplace(transition_form_of<Op>(call.shape), call.reports[0].packed ? 1 : call.sequences,
                    call.shape.heads);
    find_effects(
        *effects, op, options, links, links.to, call.sequences,
        [&](state_box const& box, view<State const, 4> const& zeros, view<State, 4> const& found) {
          run_options<State> own = options;
          own.keep = {}, own.box = box;
          if (zeros.data) own.initial.values = zeros;
          own.final = {found, nullptr};
          run_by_table(op, unread_outputs(output_shape_of(op)), own);
        });
  });
  if (!stay_in_range(ranks, *effects)) return false;
  std::vector<State> before = effects->scan(ranks, options.direction);
  if (links.from.present()) effects->states_of(before, starts->values, links.from);
  return true;
}

}  // namespace wane::impl
