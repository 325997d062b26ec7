// sharded_run: one sequence over many ranks, each with its own tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "wane/ranks/horizon.hpp"
#include "wane/ranks/state_chain.hpp"
#include "wane/run/run.hpp"

namespace wane::impl {

// The scalar of a state, for a report; numbers without a name are told apart by their bytes.
template <class State>
shard_report report_of(recurrence_shape const& shape, index sequences,
                       packed_sequences const& packed, direction way, int threads, bool forgets,
                       sharding<State> const& shard, int rank) {
  shard_report report;
  constexpr std::string_view scalar = scalar_name<State>;
  std::copy_n(scalar.begin(), scalar.size(), report.scalar);
  report.batch = shape.batch, report.heads = shape.heads;
  report.rows = shape.rows, report.columns = shape.columns;
  report.parts = shard.parts, report.bytes = sizeof(State);
  report.backward = way == direction::reverse, report.packed = packed.present();
  report.sequences = sequences;
  report.threads = threads_to_use(threads), report.forgets = forgets;
  report.continues = packed.present() ? shard.continues : rank > 0;
  return report;
}

// Throws wane::error where the sharding of a call does not fit.
template <class Options, class State>
void check_sharding(recurrence_shape const& shape, Options const& options, index sequences,
                    sharding<State> const& shard) {
  check_box(shape, options, {false, false, false});
  check_state("sharding.start", shard.start, sequences, shape);
  require(
      !options.packed.present() || !shard.continues || sequences > 0,
      "sharding.continues is true, but packed.starts has no sequence; it must have one, without "
      "tokens where the rank has none of it");
  require(options.packed.present() || !shard.continues,
          "sharding.continues is true; it is for packed sequences, others always continue");
  require(shard.parts >= 0, "sharding.parts is ", shard.parts, "; it must be 0 or more");
}

// The positions that the sequences of a box have after a run of it.
template <class Op, class State>
void count_positions(Op const& op, run_options<State> const& options, std::vector<index>& to) {
  recurrence_shape const shape = op.shape();
  state_box const box = box_of(shape, options);
  for (index n = 0; n < box.sequences; ++n) {
    walk const w = walk_of(n * box.heads, shape, options, options.initial.positions);
    to[static_cast<std::size_t>(w.sequence)] = w.position - 1 + w.count;
  }
}

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

// A state with memory of its own.
template <class State>
recurrent_state<State> copy_of(state_view<State const> const& from) {
  auto const& e = from.values.extent;
  recurrent_state<State> copy(e[0], e[1], e[2], e[3]);
  state_view<State> const to = copy;
  for (index n = 0; n < e[0]; ++n) {
    if (from.positions) to.positions[n] = from.positions[n];
    for (index h = 0; h < e[1]; ++h)
      for (index i = 0; i < e[2]; ++i)
        for (index j = 0; j < e[3]; ++j) to.values(n, h, i, j) = from.values(n, h, i, j);
  }
  return copy;
}

// How a run may be cut into parts. A pair holds all outputs of a part of its own, so it is not cut.
template <class Op>
inline constexpr box_cuts cuts_of_run{!paired_recurrence<Op>, !paired_recurrence<Op>,
                                      has_own_columns<Op>};

// Whether a state may be found from the last tokens alone.
template <class Op>
inline constexpr bool may_forget = scannable<Op> && !leaving_inputs<Op>;

// States that a rank finds before it knows what it begins with: from its last tokens, where less
// than 2^-100 is left of any state before these.
template <class Op, class State>
class early_states {
 public:
  early_states(Op const& op, run_options<State> const& options, shard_links const& links,
               index sequences)
      : op_(op),
        options_(options),
        links_(links),
        output_(output_shape_of(op)),
        states(links.to, sequences, op.shape(), {}) {
    options_.final = {}, options_.keep = {};
  }

  // Finds the states of a part, or returns false.
  bool operator()(state_box const& box) {
    recurrence_shape const shape = op_.shape();
    bool const arrives = links_.from.present() && links_.from.first == links_.to.first;
    if (arrives && counts_positions(op_)) return false;
    options_.box = box;
    index const* const positions = arrives ? nullptr : options_.initial.positions;
    index const count = tokens_remembered(op_, options_, positions, shape.time / 8);
    if (count < 0) return false;
    run_options<State> last = options_;
    last.box.last_tokens = count;
    // A state of zeros with the positions of the initial state.
    State const zero(0);
    last.initial = {{&zero, states.values.extent, {0, 0, 0, 0}}, positions};
    last.final.values = states.values;
    run_by_table(op_, output_.view(), last);
    count_positions(op_, options_, states.positions);
    found_.push_back(box);
    return true;
  }

  // Whether the states that were found are those that the run has given, `is`, to within 1e-6 of
  // each. They are not where a state was not finite, or so large that 2^-100 of it is seen.
  bool hold(view<State, 4> const& is) const {
    for (state_box const& box : found_) {
      double apart = 0, size = 0;
      for (index n = 0; n < box.sequences; ++n)
        for (index h = 0; h < box.heads; ++h)
          for (index i = 0; i < is.extent[2]; ++i)
            for (index j = 0; j < box.columns; ++j) {
              index const at[] = {box.first_sequence + n, box.first_head + h, box.first_column + j};
              State const a = states.values(at[0], at[1], i, at[2]), b = is(at[0], at[1], i, at[2]);
              using std::abs;
              double const off = static_cast<double>(abs(a - b)), of = static_cast<double>(abs(b));
              apart += off * off, size += of * of;
            }
      if (!(apart <= 1e-12 * size) && !(apart == 0)) return false;
    }
    return true;
  }
  bool found_any() const { return !found_.empty(); }

 private:
  Op const& op_;
  run_options<State> options_;
  shard_links const links_;
  unread_output<Op> const output_;
  std::vector<state_box> found_;

 public:
  linked_states<State> states;
};

// The work of one rank of sharded_run, once all agree on the links.
template <class Ranks, class Op, class Out, class State>
void run_shard(state_chain<State, Ranks>& chain, Op const& op, sequence_view<Out> const& output,
               run_options<State> const& options) {
  chain.carry([&](state_box const& box, bool arrives, bool leaves) {
    run_options<State> own = options;
    own.box = box;
    if (arrives) own.initial = chain.arrived.view_of();
    if (!own.final.present() && leaves) own.final.values = chain.left.values;
    run_by_table(op, output, own);
    count_tokens(op.shape(), own);
    if (leaves) count_positions(op, own, chain.left.positions);
  });
}

}  // namespace wane::impl

namespace wane {

//   sharded_run(ranks, op, output, {.initial = state, .final = state});  // on every rank
//
// Runs one sequence (or B, or packed ones) that is cut along time over the ranks: `op` and `output`
// hold the tokens of this rank, of any number, which follow those of the rank before. The same bits
// as those of runs of the pieces, each from the state of the one before; positions count through.
// options.initial is read on the rank where a sequence begins, options.final receives the state
// after the tokens of each rank. In reverse, time runs from the last rank to the first.
//
// A rank works on the parts of its states (see sharding) as they arrive from the rank before. So
// ranks work at the same time where there are more sequences, heads or columns than ranks. Where
// nothing erases, and less than 2^-100 is left of a state after an eighth of the tokens of a rank,
// the rank first finds the state that it leaves from its last tokens, and the next one need not
// wait.
//
// All ranks call it, with options of the same form. Throws wane::error where an argument does not
// fit on this rank or the ranks do not agree, and rank_failure where another rank has thrown; when
// one throws, all do.
template <rank_group Ranks, class Op, class Out = output_type<Op>,
          class State = accumulate_type<Op>>
void sharded_run(Ranks const& ranks, Op const& op, sequence_view<Out> output,
                 run_options<State> const& options = {}, sharding<State> const& shard = {}) {
  static_assert(diagonal_recurrence<Op>, "wane::sharded_run: this type is no recurrence");
  recurrence_shape shape;
  index sequences = 0;
  impl::together(ranks, [&] {
    sequences = impl::check_run(op, output, options);
    shape = op.shape();
    impl::check_sharding(shape, options, sequences, shard);
  });
  auto const reports = impl::gathered(
      ranks, impl::report_of(shape, sequences, options.packed, options.direction, options.threads,
                             impl::may_forget<Op>, shard, ranks.rank()));
  impl::check_same(reports);
  impl::shard_links const links = impl::links_of(reports, ranks.rank());
  impl::shard_parts const parts(reports[0], impl::cuts_of_run<Op>, reports);
  std::optional<recurrent_state<State>> kept;
  // Returns whether a state that was sent early was not right.
  auto const pass = [&](bool early, run_options<State> const& own) {
    bool wrong = false;
    impl::state_chain<State, Ranks> chain(ranks, links, parts, shape, sequences, shard.start.values,
                                          own.final.values);
    impl::together(ranks, [&] {
      chain.guard([&] {
        if constexpr (impl::may_forget<Op>) {
          if (early && links.to.present()) {
            impl::early_states<Op, State> found(op, own, links, sequences);
            chain.send_early(found.states, found);
            if (found.found_any() && own.initial.present() &&
                own.initial.values.data == own.final.values.data)
              kept.emplace(impl::copy_of(own.initial));
            impl::run_shard(chain, op, output, own);
            wrong = !found.hold(chain.left.values);
            return;
          }
        }
        impl::run_shard(chain, op, output, own);
      });
      chain.arrived.give_positions(links.from, shard.start);
    });
    return wrong;
  };
  bool const wrong = pass(impl::may_forget<Op>, options);
  if constexpr (impl::may_forget<Op>) {
    auto const all = impl::gathered(ranks, static_cast<int>(wrong));
    if (std::find(all.begin(), all.end(), 1) == all.end()) return;
    run_options<State> again = options;
    if (kept) again.initial = *kept;
    (void)pass(false, again);
  }
}

}  // namespace wane
