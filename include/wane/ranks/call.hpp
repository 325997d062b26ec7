// agree_on_call: the checks of a call over ranks, and what each rank then knows of the others.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/threads.hpp"
#include "wane/ranks/has_effects.hpp"
#include "wane/ranks/sharding.hpp"

namespace wane::impl {

// Throws wane::error where the sharding of a call does not fit.
template <class Op, class Options, class State>
void check_sharding(recurrence_shape const& shape, Options const& options, index sequences,
                    sharding<State> const& shard) {
  check_box(shape, options, {false, false, false});
  require(options.box.last_tokens < 0, "box has last_tokens ", options.box.last_tokens,
          "; a call over ranks takes all tokens");
  check_state("sharding.start", shard.start, sequences, shape);
  require(!options.packed.present() || !shard.continues || sequences > 0,
          "sharding.continues is true, but packed.starts has no sequence; it must have one, "
          "without tokens where the rank has none of it");
  require(options.packed.present() || !shard.continues,
          "sharding.continues is true; it is for packed sequences, others always continue");
  require(has_effects<Op, State> || shard.exchange != exchange::effects,
          "sharding.exchange is effects; this operator, or this type of state, goes by states: it "
          "must be states or chosen");
  require(shard.parts >= 0, "sharding.parts is ", shard.parts, "; it must be 0 or more");
}

// Of a sequence that reaches over a cut: its tokens on this rank and, where it begins here, the
// tokens seen before; otherwise -1.
struct linked_count {
  index tokens = 0, begins = -1;
};

// What a rank knows once all have agreed.
struct agreed_call {
  recurrence_shape shape;
  index sequences = 0;
  std::vector<shard_report> reports;  // by rank
  shard_links links;
  bool starts_given = false;     // whether all ranks with sequences have sharding.start
  std::vector<index> positions;  // of the sequences that arrive, before the tokens of this rank
};

// Calls check(), which returns the number of sequences of this rank, and agrees with all ranks.
// `own` has the fields of a report that depend on the kind of call.
template <rank_group Ranks, class Op, class Options, class State, class Check>
agreed_call agree_on_call(Ranks const& ranks, Op const& op, Options const& options,
                          sharding<State> const& shard, shard_report own, Check const& check) {
  agreed_call call;
  std::vector<linked_count> counts, all_counts;
  auto const size = static_cast<std::size_t>(ranks.size());
  together(ranks, [&] {
    call.sequences = check();
    call.shape = op.shape();
    check_sharding<Op>(call.shape, options, call.sequences, shard);
    call.reports.resize(size);
    counts.resize(static_cast<std::size_t>(options.packed.present() ? 1 : call.shape.batch));
    all_counts.resize(size * counts.size());
    call.positions.resize(static_cast<std::size_t>(call.sequences));
  });
  constexpr std::string_view scalar = scalar_name<State>;
  std::copy_n(scalar.begin(), scalar.size(), own.scalar);
  own.batch = call.shape.batch, own.heads = call.shape.heads;
  own.rows = call.shape.rows, own.columns = call.shape.columns;
  own.parts = shard.parts, own.bytes = sizeof(State);
  own.exchange = shard.exchange, own.tokens = call.shape.time;
  own.backward = options.direction == direction::reverse, own.packed = options.packed.present();
  own.sequences = call.sequences, own.threads = threads_to_use(options.threads);
  own.continues = options.packed.present() ? shard.continues : ranks.rank() > 0;
  auto const gather = [&](auto const& mine, auto& all) {
    ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  };
  gather(std::span(&own, 1), call.reports);
  check_same(call.reports);
  call.starts_given = starts_given(call.reports) != 0;
  call.links = links_of(call.reports, ranks.rank());

  auto const& [from, to] = call.links;
  bool const passes = from.present() && to.present() && from.first == to.first;
  for (std::size_t b = 0; to.present() && b < counts.size(); ++b) {
    index const n = to.first + static_cast<index>(b);
    walk const w = walk_of(n * call.shape.heads, call.shape,
                           walk_options{options.packed, options.lengths, options.direction},
                           options.initial.positions);
    counts[b] = {w.count, passes ? -1 : w.position - 1};
  }
  gather(counts, all_counts);
  for (std::size_t b = 0; from.present() && b < counts.size(); ++b) {
    index& seen = call.positions[static_cast<std::size_t>(from.first) + b];
    for (int r = from.rank;; r += own.backward ? 1 : -1) {
      linked_count const& there = all_counts[static_cast<std::size_t>(r) * counts.size() + b];
      seen += there.tokens;
      if (there.begins < 0) continue;
      seen += there.begins;
      break;
    }
  }
  return call;
}

}  // namespace wane::impl
