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
    unread_output<Op> const output(output_shape_of(op));
    chain.carry([&](state_box const& box, bool arrives, bool leaves) {
      if (!leaves) return;
      run_options<State> own = options;
      own.box = box;
      if (arrives) own.initial = chain.arrived.view_of();
      own.final.values = chain.left.values;
      run_by_table(op, output.view(), own);
      count_positions(op, own, chain.left.positions);
    });
  });
}

// States of all sequences: those of a link, and of the others what the caller gave, or zeros.
template <class State>
class joined_states {
 public:
  joined_states(state_view<State const> const& given, linked_states<State>& linked,
                shard_link const& link, index sequences, recurrence_shape const& shape) {
    if (!link.present() || link.sequences == sequences) {
      all_ = link.present() ? linked.view_of() : given;
      return;
    }
    own_.emplace(sequences, shape.heads, shape.rows, shape.columns);
    state_view<State> const to = *own_;
    for (index n = 0; n < sequences; ++n) {
      bool const of_link = link.first <= n && n < link.first + link.sequences;
      state_view<State const> const from = of_link ? linked.view_of() : given;
      if (!from.present()) continue;
      if (from.positions) to.positions[n] = from.positions[n];
      for (index h = 0; h < shape.heads; ++h)
        for (index i = 0; i < shape.rows; ++i)
          for (index j = 0; j < shape.columns; ++j) to.values(n, h, i, j) = from.values(n, h, i, j);
    }
    all_ = to;
  }
  state_view<State const> const& view() const { return all_; }

 private:
  std::optional<recurrent_state<State>> own_;
  state_view<State const> all_;
};

// The work of one rank of sharded_adjoint. `starts` are the states that the sequences of links.from
// begin with; gradients arrive from links.to.
template <class Ranks, class Op, class Dy, class Gradients, class State>
void adjoint_shard(state_chain<State, Ranks>& chain, linked_states<State>& starts,
                   shard_links const& links, index sequences, Op const& op,
                   sequence_view<Dy const> const& dy, Gradients const& gradients,
                   adjoint_options<State> const& options) {
  auto const visit = [&](Gradients const& to, state_box const& box,
                         state_view<State const> const& initial,
                         state_view<State const> const& final_gradient, bool leaves) {
    adjoint_options<State> own = options;
    own.box = box, own.initial = initial, own.final_gradient = final_gradient;
    if (!own.initial_gradient.present() && leaves) own.initial_gradient.values = chain.left.values;
    adjoint_of_box(op, dy, to, own);
  };
  with_parts_lent(op, gradients, options, [&](Gradients const& to) {
    if constexpr (goes_back_by_sequence<Op>) {
      chain.carry([&](state_box const& box, bool arrives, bool leaves) {
        visit(to, box, leaves ? starts.view_of() : options.initial,
              arrives ? chain.arrived.view_of() : options.final_gradient, leaves);
      });
    } else {
      recurrence_shape const shape = op.shape();
      joined_states<State> const initial(options.initial, starts, links.from, sequences, shape);
      chain.carry_all_sequences([&](state_box const& box, bool, bool leaves) {
        joined_states<State> const gradient(options.final_gradient, chain.arrived, links.to,
                                            sequences, shape);
        visit(to, box, initial.view(), gradient.view(), leaves);
      });
    }
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
// more. Gradients then go from rank to rank part by part, as states do in sharded_run.
// Throws as sharded_run does.
template <rank_group Ranks, class Op, class Out = output_type<Op> const,
          class Gradients = impl::own_gradients<Op>, class State = accumulate_type<Op>>
void sharded_adjoint(Ranks const& ranks, Op const& op, sequence_view<Out> output_gradient,
                     Gradients const& gradients, adjoint_options<State> const& options = {},
                     sharding<State> const& shard = {}) {
  using Dy = std::remove_const_t<Out>;
  if constexpr (impl::may_have_adjoint<Op, Dy, Gradients, State>()) {
    recurrence_shape shape;
    index sequences = 0;
    impl::together(ranks, [&] {
      sequences = impl::check_adjoint(op, output_gradient, gradients, options);
      shape = op.shape();
      impl::check_sharding(shape, options, sequences, shard);
    });
    impl::shard_report own = impl::report_of(shape, sequences, options.packed, options.direction,
                                             options.threads, false, shard, ranks.rank());
    own.adjoint = 1, own.starts_given = shard.start.present();
    auto const reports = impl::gathered(ranks, own);
    impl::check_same(reports);
    impl::shard_links const links = impl::links_of(reports, ranks.rank());

    using chain = impl::state_chain<State, Ranks>;
    impl::shard_parts const of_run(reports[0], impl::cuts_of_run<Op>, reports);
    impl::shard_parts const of_adjoint(reports[0], impl::cuts_of_adjoint<Op>, reports);
    impl::linked_states<State> starts(links.from, sequences, shape, shard.start.values);
    std::optional<recurrent_state<State>> all;
    auto left = options.initial_gradient.values;
    if (!impl::goes_back_by_sequence<Op> && links.from.present() && !left.data)
      left =
          state_view<State>(all.emplace(sequences, shape.heads, shape.rows, shape.columns)).values;

    impl::together(ranks, [&] {
      if (shard.start.present()) {
        for (index n = 0; shard.start.positions && n < sequences; ++n)
          starts.positions[static_cast<std::size_t>(n)] = shard.start.positions[n];
      } else {
        chain forward(ranks, links, of_run, shape, sequences, starts.values, {});
        impl::find_starts(forward, op, impl::run_of(options));
        starts.positions = forward.arrived.positions;
      }
    });
    chain backward(ranks, {links.to, links.from}, of_adjoint, shape, sequences, {}, left);
    impl::together(ranks, [&] {
      backward.guard([&] {
        impl::adjoint_shard(backward, starts, links, sequences, op,
                            sequence_view<Dy const>(output_gradient), gradients, options);
      });
    });
  }
}

}  // namespace wane
