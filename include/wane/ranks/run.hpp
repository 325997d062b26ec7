// sharded_run: one sequence over many ranks, each with its own tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "wane/ranks/by_effects.hpp"
#include "wane/ranks/early_states.hpp"

namespace wane::impl {

// How a run may be cut into parts. A pair holds all outputs of a part of its own, so it is not cut.
template <class Op>
inline constexpr box_cuts cuts_of_run{!paired_recurrence<Op>, !paired_recurrence<Op>,
                                      has_own_columns<Op>};

// Which cuts, as a number for a report.
constexpr int number_of(box_cuts const& cuts) {
  return (cuts.sequences ? 1 : 0) + (cuts.heads ? 2 : 0) + (cuts.columns ? 4 : 0);
}

// The work of one rank of sharded_run, once all agree on the links. options.initial has positions.
template <class Ranks, class Op, class Out, class State>
void run_shard(state_chain<State, Ranks>& chain, Op const& op, sequence_view<Out> const& output,
               run_options<State> const& options) {
  chain.carry([&](state_box const& box, bool arrives, bool leaves) {
    run_options<State> own = options;
    own.box = box;
    if (arrives) own.initial.values = chain.arrived.values;
    if (!own.final.present() && leaves) own.final.values = chain.left.values;
    run_by_table(op, output, own);
    count_tokens(op.shape(), own);
  });
}

// A run in which ranks hand on effects. Returns false, and has run nothing, where products of
// decays leave their range. options.initial has positions.
template <class Ranks, class Op, class Out, class State>
bool run_by_effects(Ranks const& ranks, agreed_call const& call, Op const& op,
                    sequence_view<Out> const& output, run_options<State> const& options,
                    sharding<State> const& shard) {
  std::optional<linked_states<State>> starts;
  if (!find_starts_by_effects(ranks, call, op, options, starts, shard.start.values)) return false;
  together(ranks, [&] {
    for_each_linked(call.links, call.sequences, [&](state_box const& box, bool arrives, bool) {
      run_options<State> own = options;
      own.box = box;
      if (arrives) own.initial.values = starts->values;
      run_by_table(op, output, own);
      count_tokens(op.shape(), own);
    });
  });
  return true;
}

// Whether what the sequences of this rank begin with has faded at the end of its tokens.
template <class Op, class State>
bool fades(agreed_call const& call, Op const& op, run_options<State> options) {
  auto const& to = call.links.to;
  if (!to.present()) return true;
  options.box = {.first_sequence = to.first, .sequences = to.sequences};
  return tokens_remembered(op, options, options.initial.positions, call.shape.time / 8) >= 0;
}

// A pass of sharded_run; the first makes `given`. Returns whether a state that this rank sent early
// was not right.
template <class Ranks, class Op, class Out, class State>
bool pass_over_ranks(Ranks const& ranks, agreed_call const& call, Op const& op,
                     sequence_view<Out> const& output, run_options<State> const& from,
                     sharding<State> const& shard, std::optional<given_states<State>>& given,
                     bool early) {
  // All have a chain before one of them works: a rank without one could not tell that it failed.
  std::optional<state_chain<State, Ranks>> chain;
  together(ranks, [&] {
    if (!given) given.emplace(from, call, may_forget<Op>);
    shard_parts const parts(call.reports, cuts_of_run<Op>);
    chain.emplace(ranks, call.links, parts, call.shape, call.sequences, shard.start.values,
                  from.final.values);
  });
  run_options<State> const& options = given->options;
  bool right = true;
  together(ranks, [&] {
    chain->guard([&] {
      if constexpr (may_forget<Op>) {
        if (early && call.links.to.present()) {
          early_states<Op, State> found(op, options, call.links.to, call.sequences);
          chain->send_early(found.states, found);
          run_shard(*chain, op, output, options);
          right = found.hold(chain->left.values);
          return;
        }
      }
      run_shard(*chain, op, output, options);
    });
  });
  return !right;
}

template <class State>
void give_start_positions(sharding<State> const& shard, std::vector<index> const& positions) {
  if (shard.start.positions) std::copy(positions.begin(), positions.end(), shard.start.positions);
}

}  // namespace wane::impl

namespace wane {

//   sharded_run(ranks, op, output, {.initial = state, .final = state});  // on every rank
//
// Runs one sequence (or B, or packed ones) that is cut along time over the ranks: `op` and `output`
// hold the tokens of this rank, of any number, which follow those of the rank before. Outputs and
// states are those of runs of the pieces, each from the state of the one before; positions count
// through. options.initial is read on the rank where a sequence begins, options.final receives the
// state after the tokens of each rank. In reverse, time runs from the last rank to the first.
//
// What ranks hand on, states or effects, sharding::exchange says. In a chain of states, a rank
// works on the parts of its states (see sharding) as they arrive from the rank before, so ranks
// work at the same time where there are more sequences or heads than ranks. Where nothing erases,
// and less than 2^-100 is left of a state after an eighth of the tokens of a rank, the rank first
// finds the state that it leaves from its last tokens, and the next one need not wait; that state
// may differ in its last bits. The output must not lie in the memory of an input. The bits are the
// same each time for a number of ranks, whatever their engine and the threads.
//
// All ranks call it, with options of the same form. Throws wane::error where an argument does not
// fit on this rank or the ranks do not agree, and rank_failure where another rank has thrown; when
// one throws, all do. A rank that lacks memory even for that news (256 bytes for each rank) throws
// std::bad_alloc at once; the others learn it when their engine tells them that it has ended.
template <rank_group Ranks, class Op, class Out = output_type<Op>,
          class State = accumulate_type<Op>>
void sharded_run(Ranks const& ranks, Op const& op, sequence_view<Out> output,
                 run_options<State> const& options = {}, sharding<State> const& shard = {}) {
  static_assert(diagonal_recurrence<Op>, "wane::sharded_run: this type is no recurrence");
  constexpr bool early = impl::may_forget<Op>;
  impl::agreed_call const call = impl::agree_on_call(
      ranks, op, options, shard, {.forgets = early, .cuts = impl::number_of(impl::cuts_of_run<Op>)},
      [&] {
        require(!shard.start.present() || shard.start.values.data != options.final.values.data,
                "sharding.start and final are the same memory; each must have its own");
        return impl::check_run(op, output, options);
      });
  std::optional<impl::given_states<State>> given;
  bool first_early = early;
  if constexpr (impl::has_effects<Op, State>) {
    if (impl::hands_on_effects<Op, State>(call.reports, call.shape, impl::cuts_of_run<Op>, 1)) {
      bool fade = early && shard.exchange == exchange::chosen;
      impl::together(ranks, [&] {
        given.emplace(options, call, early);
        if constexpr (early) fade = fade && impl::fades(call, op, given->options);
      });
      bool const all_fade = !impl::on_any_rank(ranks, !fade);
      if (!all_fade && impl::run_by_effects(ranks, call, op, output, given->options, shard)) {
        impl::give_start_positions(shard, given->positions);
        return;
      }
      first_early = all_fade;
    }
  }
  bool const wrong =
      impl::pass_over_ranks(ranks, call, op, output, options, shard, given, first_early);
  if constexpr (early)
    if (impl::on_any_rank(ranks, wrong))
      (void)impl::pass_over_ranks(ranks, call, op, output, options, shard, given, false);
  impl::give_start_positions(shard, given->positions);
}

}  // namespace wane
