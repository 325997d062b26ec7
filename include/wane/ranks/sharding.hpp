// sharding: how a sequence lies on ranks, what they tell each other, and who waits for whom.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/core/state/state_file.hpp"
#include "wane/ranks/agreement.hpp"

namespace wane {

// What ranks hand on.
//   states     a chain: a rank hands on each part of the states that it leaves, as soon as the part
//              before has come to it. No work is done twice, but with n parts P ranks are never
//              more than n times as fast as one. The bits are those of the pieces in turn.
//   effects    a tree: each rank finds what its tokens do to any state, all join these in log2 P
//              rounds, and each then runs from its own state. It takes 1.5 to 3 runs, but no rank
//              waits for another's run.
//              States at cuts and outputs round in another order. Not for operators with terms that
//              depend on the state (vla, pairs, windows, steps of their own); adjoints of packed
//              sequences that are sums over all tokens (exponential_bank, laplace) go by states all
//              the same, and so do products of decays that leave their range.
//   chosen     states that fade found early (see sharded_run), or else what takes fewer steps
enum class exchange { chosen, states, effects };

// How the tokens of a rank continue those of the rank before. Every field may be left out.
template <class State>
struct sharding {
  // For packed sequences: whether the first sequence of this rank began on a rank before.
  // Sequences that are not packed do so on every rank but the first.
  bool continues = false;
  // The states before the first token of this rank, [N, H, rows, columns]. sharded_run fills it
  // where a sequence continues; sharded_adjoint reads it there, and without it runs forward once
  // more.
  state_view<State> start = {};
  // How many parts a state is cut into, by heads, sequences and columns. A rank hands on each part
  // as soon as it is found. 0: as many heads and sequences as suit the ranks; columns are then not
  // cut, which pays for tensors in a cache only. All ranks have the same number.
  index parts = 0;
  wane::exchange exchange = wane::exchange::chosen;  // the same on all ranks
};

// The packed sequences of one rank.
struct packed_shard {
  std::vector<index> starts;  // for run_options::packed
  bool continues;             // for sharding::continues
  index first;                // its first sequence, among all
};

//   packed_shard const own = shard_of(starts, begin, end);
//   sharded_run(ranks, op, output, {.packed = {own.starts}}, {.continues = own.continues});
//
// The part begin <= t < end of packed sequences. A sequence that ends at `begin` is not in it; one
// that lasts on both sides of an empty part is, without tokens, so that its state passes through.
// Throws wane::error where starts fall, or do not hold the tokens.
inline packed_shard shard_of(std::span<index const> starts, index begin, index end) {
  require(!starts.empty() && starts.front() == 0, "starts must begin with 0");
  impl::check_sequences({starts}, 1, starts.back());
  require(0 <= begin && begin <= end && end <= starts.back(), "the part is ", begin, " to ", end,
          "; it must lie in 0 to ", starts.back());
  packed_shard own{{0}, false, 0};
  for (std::size_t n = 0; n + 1 < starts.size(); ++n) {
    bool const continues = starts[n] < begin && begin < starts[n + 1];
    bool const last = end == starts.back() && (begin < end || end == 0);
    bool const begins = begin <= starts[n] && (starts[n] < end || (last && starts[n] == end));
    if (!continues && !begins) continue;
    if (own.starts.size() == 1) own.first = static_cast<index>(n);
    own.continues = own.continues || continues;
    own.starts.push_back(std::min(starts[n + 1], end) - begin);
  }
  return own;
}

}  // namespace wane

namespace wane::impl {

// What a rank tells the others of a call, before any work.
struct shard_report {
  char scalar[16] = {};  // the type of the state
  index batch = 0, heads = 0, rows = 0, columns = 0, parts = 0, bytes = 0;
  int backward = 0, packed = 0, adjoint = 0, forgets = 0, cuts = 0;
  wane::exchange exchange = wane::exchange::chosen;
  // Its own:
  index sequences = 0, threads = 1, tokens = 0;
  int continues = 0, starts_given = 0;
};

// Whether the states at the cuts are given. A rank without sequences has none, and nothing to say.
inline int starts_given(std::vector<shard_report> const& all) {
  auto const speaks = [](shard_report const& r) { return r.sequences > 0; };
  auto const first = std::find_if(all.begin(), all.end(), speaks);
  return first == all.end() ? 0 : first->starts_given;
}

// Throws wane::error for the first thing that a rank says otherwise than rank 0.
inline void check_same(std::vector<shard_report> const& all) {
  for (std::size_t r = 1; r < all.size(); ++r) {
    shard_report const &is = all[r], &first = all[0];
    auto const same = [&](char const* what, auto a, auto b) {
      require(a == b, "rank ", r, " has ", what, " ", a, ", rank 0 has ", b,
              "; they must be the same");
    };
    same("the call", is.adjoint ? "sharded_adjoint" : "sharded_run",
         first.adjoint ? "sharded_adjoint" : "sharded_run");
    same("a state of", std::string(is.scalar), std::string(first.scalar));
    same("a state with numbers of bytes", is.bytes, first.bytes);
    same("packed sequences", is.packed, first.packed);
    same("batch", is.batch, first.batch);
    same("heads", is.heads, first.heads);
    same("rows", is.rows, first.rows);
    same("columns", is.columns, first.columns);
    same("reverse", is.backward, first.backward);
    same("an operator of another kind", is.cuts, first.cuts);
    same("an operator that forgets", is.forgets, first.forgets);
    same("sharding.parts", is.parts, first.parts);
    same("sharding.exchange", static_cast<int>(is.exchange), static_cast<int>(first.exchange));
    if (is.sequences > 0)
      require(is.starts_given == starts_given(all), "rank ", r, " has ",
              is.starts_given ? "a sharding.start" : "no sharding.start",
              ", a rank before it the opposite; all ranks with sequences must have one, or none");
    require(!is.continues || all[r - 1].sequences > 0, "rank ", r,
            " continues a sequence, but rank ", r - 1, " has none");
  }
  require(!all[0].continues, "rank 0 continues a sequence; it is the first rank");
}

// Some sequences of a rank, and the rank on the other side; rank < 0: there is none.
struct shard_link {
  int rank = -1;
  index first = 0, sequences = 0;
  bool present() const { return rank >= 0; }
  bool holds(index n) const { return present() && first <= n && n < first + sequences; }
};
// Where the states of a rank come from and go to, in the order of time.
struct shard_links {
  shard_link from, to;
};

inline shard_links links_of(std::vector<shard_report> const& all, int rank) {
  shard_report const& own = all[static_cast<std::size_t>(rank)];
  bool const last = static_cast<std::size_t>(rank) + 1 == all.size();
  bool const continued = !last && all[static_cast<std::size_t>(rank) + 1].continues;
  index const count = own.packed ? 1 : own.sequences;
  shard_links links;
  if (own.continues) links.from = {rank - 1, 0, count};
  if (continued) links.to = {rank + 1, own.sequences - count, count};
  if (own.backward) std::swap(links.from, links.to);
  return links;
}

// The boxes of a state that are handed on one by one, the same on all ranks.
class shard_parts {
 public:
  // for_threads: whether parts are large enough for the threads of the ranks.
  shard_parts(std::vector<shard_report> const& all, box_cuts const& may_cut,
              bool for_threads = true) {
    shard_report const& of = all[0];
    // A chain of P ranks is idle in (P - 1) / (parts + P - 1) of its time. But each thread of a
    // rank needs a head, or 64 columns, of a part.
    index const ranks = static_cast<index>(all.size());
    index threads = 1;
    for (shard_report const& r : all) threads = std::max(threads, for_threads ? r.threads : 1);
    index const tasks = of.batch * of.heads * ((of.columns + 63) / 64);
    index const most = std::max<index>(1, std::min({tasks / threads, 8 * (ranks - 1), index{32}}));
    index wanted = of.parts > 0 ? of.parts : most;
    auto const cut = [&](index extent, index unit, bool may) {
      index const units = (extent + unit - 1) / unit;
      index const count = may ? std::clamp<index>(wanted, 1, units) : 1;
      wanted = (wanted + count - 1) / count;
      return (units + count - 1) / count * unit;
    };
    heads_ = cut(of.heads, 1, may_cut.heads);
    sequences_ = cut(of.packed ? 1 : of.batch, 1, may_cut.sequences);
    // A run over some columns of rows that lie in memory takes as long as over twice as many.
    columns_ = cut(of.columns, 64, may_cut.columns && of.parts > 0);
    all_ = {0, of.packed ? 1 : of.batch, 0, of.heads, 0, of.columns};
  }

  // Calls take(box) for the parts of the sequences of a link, in their order.
  template <class Take>
  void for_each(shard_link const& link, Take const& take) const {
    for (index n = 0; n < all_.sequences; n += sequences_)
      for (index h = 0; h < all_.heads; h += heads_)
        for (index j = 0; j < all_.columns; j += columns_)
          take(state_box{link.first + n, std::min(sequences_, all_.sequences - n), h,
                         std::min(heads_, all_.heads - h), j,
                         std::min(columns_, all_.columns - j)});
  }

 private:
  index sequences_, heads_, columns_;
  state_box all_;
};

}  // namespace wane::impl
