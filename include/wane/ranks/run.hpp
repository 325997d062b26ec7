// sharded_run: one sequence over many ranks, each with its own tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "wane/ranks/call.hpp"
#include "wane/ranks/horizon.hpp"
#include "wane/ranks/state_chain.hpp"
#include "wane/run/run.hpp"

namespace wane::impl {

// Memory for outputs that nobody reads: those of all tokens of a head lie in the same place.
template <class Op>
class unread_output {
 public:
  using Y = output_type<Op>;
  explicit unread_output(recurrence_shape const& shape)
      : numbers_(static_cast<std::size_t>(shape.batch * shape.heads * shape.columns)),
        view_(numbers_.data(), {shape.batch, shape.time, shape.heads, shape.columns},
              {shape.heads * shape.columns, 0, shape.columns, 1}) {}
  sequence_view<Y> const& view() const { return view_; }

 private:
  aligned_vector<Y> numbers_;
  sequence_view<Y> view_;
};

// Copies the states of sequence n.
template <class State>
void copy_sequence(view<State const, 4> const& from, view<State, 4> const& to, index n) {
  for (index h = 0; h < to.extent[1]; ++h)
    for (index i = 0; i < to.extent[2]; ++i)
      for (index j = 0; j < to.extent[3]; ++j) to(n, h, i, j) = from(n, h, i, j);
}

// How a run may be cut into parts. A pair holds all outputs of a part of its own, so it is not cut.
template <class Op>
inline constexpr box_cuts cuts_of_run{!paired_recurrence<Op>, !paired_recurrence<Op>,
                                      has_own_columns<Op>};

// Which cuts, as a number for a report.
constexpr int number_of(box_cuts const& cuts) {
  return (cuts.sequences ? 1 : 0) + (cuts.heads ? 2 : 0) + (cuts.columns ? 4 : 0);
}

// Whether a state may be found from the last tokens alone.
template <class Op>
inline constexpr bool may_forget = scannable<Op> && !leaving_inputs<Op>;

// How many of the last tokens of a rank are run to find its state early: so many that less than
// 2^-100 is left of what was before, from a multiple of 192 tokens on, because runs that begin
// there round as a run of all tokens does.
inline index early_tokens(index needed, index count) {
  return count - (count - needed) / 192 * 192;
}

// States that a rank finds before it knows what it begins with: from its last tokens, where less
// than 2^-100 is left of any state before these.
template <class Op, class State>
class early_states {
 public:
  // The initial states of `options` have the positions of all sequences.
  early_states(Op const& op, run_options<State> const& options, shard_link const& to,
               index sequences)
      : op_(op),
        options_(options),
        output_(output_shape_of(op)),
        states(to, sequences, op.shape(), {}) {
    options_.final = {}, options_.keep = {};
  }

  // Finds the states of a part, or returns false.
  bool operator()(state_box const& box) {
    recurrence_shape const shape = op_.shape();
    options_.box = box;
    index const most = shape.time / 8;
    index const needed = tokens_remembered(op_, options_, options_.initial.positions, most);
    if (needed < 0) return false;
    run_options<State> last = options_;
    // Sequences of a box may differ in length; the longest decides.
    for (index n = 0; n < walks_of(shape, options_); ++n) {
      index const count = walk_of(n, shape, options_, nullptr).count;
      last.box.last_tokens = std::max(last.box.last_tokens, early_tokens(needed, count));
    }
    // A state of zeros with the positions of the sequences.
    State const zero(0);
    last.initial = {{&zero, states.values.extent, {0, 0, 0, 0}}, options_.initial.positions};
    last.final.values = states.values;
    run_by_table(op_, output_.view(), last);
    found_.push_back(box);
    return true;
  }

  // Whether the states that were found are those that the run has given, `is`, to within 1e-6 of
  // the largest number of each head, or of each column where columns are recurrences of their own.
  // They are not where a state was not finite, or so large that 2^-100 of it is seen.
  bool hold(view<State, 4> const& is) const {
    for (state_box const& box : found_)
      for (index n = 0; n < box.sequences; ++n)
        for (index h = 0; h < box.heads; ++h)
          if (!holds(is, box, box.first_sequence + n, box.first_head + h)) return false;
    return true;
  }

 private:
  bool holds(view<State, 4> const& is, state_box const& box, index n, index h) const {
    using std::abs;
    double apart = 0, size = 0;
    for (index j = box.first_column; j < box.first_column + box.columns; ++j) {
      if (channelwise<Op>) apart = size = 0;
      for (index i = 0; i < is.extent[2]; ++i) {
        double const off = static_cast<double>(abs(states.values(n, h, i, j) - is(n, h, i, j)));
        if (!(off <= std::numeric_limits<double>::max())) return false;
        apart = std::max(apart, off);
        size = std::max(size, static_cast<double>(abs(is(n, h, i, j))));
      }
      if (channelwise<Op> && apart > 1e-6 * size) return false;
    }
    return apart <= 1e-6 * size;
  }

  Op const& op_;
  run_options<State> options_;
  unread_output<Op> const output_;
  std::vector<state_box> found_;

 public:
  linked_states<State> states;
};

// The initial states of a run, with positions of their own, because the final states may lie in the
// same memory and have their positions written part by part.
template <class State>
struct given_states {
  run_options<State> options;
  std::vector<index> positions;
  std::optional<recurrent_state<State>> kept;

  // keeps: whether the run may have to be repeated.
  given_states(run_options<State> const& from, agreed_call const& call, bool keeps)
      : options(from), positions(call.positions) {
    for (index n = 0; n < call.sequences; ++n)
      if (!call.links.from.holds(n) && from.initial.positions)
        positions[static_cast<std::size_t>(n)] = from.initial.positions[n];
    if (keeps && from.initial.present() && from.initial.values.data == from.final.values.data) {
      auto const& e = from.initial.values.extent;
      view<State, 4> const own = state_view<State>(kept.emplace(e[0], e[1], e[2], e[3])).values;
      for (index n = 0; n < e[0]; ++n) copy_sequence(from.initial.values, own, n);
      options.initial.values = own;
    }
    options.initial.positions = positions.data();
  }
  given_states(given_states const&) = delete;
};

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
// A rank works on the parts of its states (see sharding) as they arrive from the rank before. So
// ranks work at the same time where there are more sequences, heads or columns than ranks. The bits
// are those of the pieces in turn. Where nothing erases, and less than 2^-100 is left of a state
// after an eighth of the tokens of a rank, the rank first finds the state that it leaves from its
// last tokens, and the next one need not wait; that state may differ in its last bits. The output
// must not lie in the memory of an input.
//
// All ranks call it, with options of the same form. Throws wane::error where an argument does not
// fit on this rank or the ranks do not agree, and rank_failure where another rank has thrown; when
// one throws, all do.
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
  bool const wrong = impl::pass_over_ranks(ranks, call, op, output, options, shard, given, early);
  if constexpr (early) {
    auto const all = impl::gathered(ranks, static_cast<int>(wrong));
    if (std::find(all.begin(), all.end(), 1) != all.end())
      (void)impl::pass_over_ranks(ranks, call, op, output, options, shard, given, false);
  }
  for (index n = 0; shard.start.positions && n < call.sequences; ++n)
    shard.start.positions[n] = given->positions[static_cast<std::size_t>(n)];
}

}  // namespace wane
