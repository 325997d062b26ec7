// The cost of one sequence over P ranks: seconds of each way to cut it, from a few constants.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// A memory: H states of K rows and V columns, the numbers that a token has in memory, and the
// tokens after which less than 2^-100 is left of a state.
struct memory_cost {
  char const* name;
  index heads, rows, columns;
  bool erases;    // else its decays are by row
  double effect;  // runs that the effect of a piece costs
  double numbers_a_token;
  double fades_in = std::numeric_limits<double>::infinity();
};
// A rank: tokens a second of a run, how many times as long a run takes that reads its tokens part
// by part, and multiply-adds a second where effects are joined.
struct rank_cost {
  double tokens_a_second, in_parts, multiply_adds;
};
// What a message costs: seconds until its first byte is there, and bytes a second. Ranks of such a
// network are `faster` times as fast as a rank_cost says.
struct network_cost {
  char const* name;
  double latency, bytes_a_second, faster = 1;
};
// `sequences` of `tokens` each, numbers of `bytes` each.
struct cost_case {
  memory_cost memory;
  rank_cost rank;
  network_cost network;
  double tokens;
  index sequences = 1;
  double bytes = 4;

  double states() const { return static_cast<double>(sequences * memory.heads); }
  double K() const { return static_cast<double>(memory.rows); }
  double V() const { return static_cast<double>(memory.columns); }
  // L + b / B
  double message(double of_bytes) const {
    return network.latency + of_bytes / network.bytes_a_second;
  }
  double multiplied(double multiply_adds) const {
    return multiply_adds / (rank.multiply_adds * network.faster);
  }
};

// W = B T / (tokens a second): one rank over all tokens.
inline double work(cost_case const& c) {
  return static_cast<double>(c.sequences) * c.tokens / (c.rank.tokens_a_second * c.network.faster);
}

// Bytes of all states: B H K V numbers.
inline double state_bytes(cost_case const& c) { return c.bytes * c.states() * c.K() * c.V(); }

// Bytes of the effect S -> T S + E of a piece: E has H K V numbers; T has H K where decays are by
// row and nothing erases, H K K otherwise.
inline double effect_bytes(cost_case const& c) {
  return state_bytes(c) + c.bytes * c.states() * c.K() * (c.memory.erases ? c.K() : 1);
}

// Bytes of the inputs and outputs of a rank.
inline double tensor_bytes(cost_case const& c, index P) {
  return c.bytes * static_cast<double>(c.sequences) * c.tokens * c.memory.numbers_a_token /
         static_cast<double>(P);
}

// ceil(log2 n)
inline double rounds_of(index n) { return std::ceil(std::log2(static_cast<double>(n))); }

// The parts of a chain: its heads and sequences, at most 8 (P - 1), and 32 at most.
inline index chain_parts(cost_case const& c, index P) {
  return std::max<index>(1, std::min({c.sequences * c.memory.heads, 8 * (P - 1), index{32}}));
}

// A chain of n parts. p = W s / (P n) is the work on a part, with s = in_parts where n > 1; m = b /
// B the time of the bytes of a part. The last part goes through P ranks and P - 1 messages; before
// it come n - 1 parts, each of which takes what is slower of a rank and a message:
//   P p + (P - 1) (L + m) + (n - 1) max(p, m)   = W s (n + P - 1) / (n P) where messages are free.
inline double chain_seconds(cost_case const& c, index P, index parts) {
  double const n = static_cast<double>(parts), ranks = static_cast<double>(P);
  double const p = work(c) * (parts > 1 ? c.rank.in_parts : 1) / (ranks * n);
  double const bytes = state_bytes(c) / n, m = P > 1 ? bytes / c.network.bytes_a_second : 0;
  return ranks * p + (ranks - 1) * c.message(bytes) + (n - 1) * std::max(p, m);
}
inline double chain_seconds(cost_case const& c, index P) {
  return chain_seconds(c, P, chain_parts(c, P));
}

// Effects joined in a tree (exclusive_scan): each rank finds the effect of its tokens, which costs
// c runs, and hands it to the next; then in each of r = ceil(log2(P - 1)) rounds it sends what it
// has, and joins what comes; then it runs its tokens:
//   W (1 + c) / P + (1 + r) (L + e / B) + r j
// Two joined: T2 T1 and T2 E1 + E2, j = H K V multiply-adds for decays, H K K (K + V) for matrices.
inline double tree_seconds(cost_case const& c, index P) {
  if (P == 1) return work(c);
  double const join = c.states() * c.K() * (c.memory.erases ? c.K() * (c.K() + c.V()) : c.V());
  double const rounds = rounds_of(P - 1);
  return work(c) * (1 + c.memory.effect) / static_cast<double>(P) +
         (1 + rounds) * c.message(effect_bytes(c)) + rounds * c.multiplied(join);
}

// The effects of all ranks gathered by all, each of which applies up to P - 1 of them to a state:
//   W (1 + c) / P + ceil(log2 P) L + (P - 1) (e / B + a)
// Applied: T S + E, a = H K V multiply-adds for decays, H K K V for matrices.
inline double gather_seconds(cost_case const& c, index P) {
  if (P == 1) return work(c);
  double const apply = c.states() * c.K() * c.V() * (c.memory.erases ? c.K() : 1);
  double const ranks = static_cast<double>(P);
  return work(c) * (1 + c.memory.effect) / ranks + rounds_of(P) * c.network.latency +
         (ranks - 1) * (effect_bytes(c) / c.network.bytes_a_second + c.multiplied(apply));
}
// Bytes of effects that a rank then holds: P e.
inline double gather_bytes(cost_case const& c, index P) {
  return static_cast<double>(P) * effect_bytes(c);
}

// States found early, from the last f = fades_in / (T / P) of a rank's tokens: W (1 + f) / P + L +
// b / B. None where f is more than an eighth.
inline std::optional<double> early_seconds(cost_case const& c, index P) {
  if (P == 1) return work(c);
  double const f = c.memory.fades_in * static_cast<double>(P) / c.tokens;
  if (!(f <= 1. / 8)) return std::nullopt;
  return work(c) * (1 + f) / static_cast<double>(P) + c.message(state_bytes(c));
}

// The heads of a layer cut over P ranks (tensor parallelism): no exchange in the recurrence, but
// the projection after it sums what the ranks have, H V numbers a token, in a ring:
//   W / P + 2 (P - 1) / P x (bytes of the outputs) / B + 2 (P - 1) L
inline double heads_seconds(cost_case const& c, index P) {
  double const ranks = static_cast<double>(P);
  return work(c) / ranks + 2 * (ranks - 1) * c.network.latency +
         2 * (ranks - 1) / ranks * c.bytes * c.tokens * c.states() * c.V() /
             c.network.bytes_a_second;
}

// The least number of ranks in [2, most] from which on `one` takes no longer than `other`, up to
// most; none where it takes longer at `most`.
template <class One, class Other>
std::optional<index> crossing_of(One const& one, Other const& other, index most) {
  index P = most;
  while (P >= 2 && one(P) <= other(P)) --P;
  if (P == most) return std::nullopt;
  return P + 1;
}

// The number of ranks in [1, most] that takes the least time.
template <class Seconds>
index best_ranks(Seconds const& seconds, index most) {
  index best = 1;
  for (index P = 2; P <= most; ++P)
    if (seconds(P) < seconds(best)) best = P;
  return best;
}

// How ranks = batch x heads x time are used, and the seconds that it takes.
struct cut {
  index batch = 1, heads = 1, time = 1;
  bool tree = false;  // over time, else a chain
  double seconds = std::numeric_limits<double>::infinity();
};

// One way to cut: each group of `time` ranks has its own sequences and heads. The sum of outputs
// over the ranks of heads is that of their tokens alone.
inline double cut_seconds(cost_case c, cut const& of) {
  double const sum = [&] {
    cost_case own = c;
    own.sequences /= of.batch, own.tokens /= static_cast<double>(of.time);
    return heads_seconds(own, of.heads) - work(own) / static_cast<double>(of.heads);
  }();
  c.sequences /= of.batch, c.memory.heads /= of.heads;
  c.rank.tokens_a_second *= static_cast<double>(of.heads);  // each token has fewer heads
  return sum + (of.tree ? tree_seconds(c, of.time) : chain_seconds(c, of.time));
}

// The fastest cut of P ranks, powers of two each.
inline cut best_cut(cost_case const& c, index P) {
  cut best;
  for (index batch = 1; batch <= P && c.sequences % batch == 0; batch *= 2)
    for (index heads = 1; batch * heads <= P && c.memory.heads % heads == 0; heads *= 2)
      for (bool const tree : {false, true}) {
        cut is{batch, heads, P / (batch * heads), tree};
        is.seconds = cut_seconds(c, is);
        if (is.seconds < best.seconds) best = is;
      }
  return best;
}

}  // namespace wane::bench
