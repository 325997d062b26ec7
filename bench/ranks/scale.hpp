// What the cost model says, as text: curves, where they cross, and what to cut.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>

#include "ranks/cost_cases.hpp"
#include "shared/number_text.hpp"

namespace wane::bench {

inline constexpr index most_ranks = 4096;

void add(std::string& text, auto const&... pieces) { ((text += pieces), ...); }

inline std::string shape_text(memory_cost const& m) {
  return std::to_string(m.heads) + "x" + std::to_string(m.rows) + "x" + std::to_string(m.columns);
}

// How many times as fast as one rank P ranks are, and GB of tensors and of gathered effects that
// each has, for 1, 2, 4, ..., 4096 ranks.
inline std::string curves_csv() {
  std::string text =
      "memory,state,network,tokens,ranks,chain,tree,gather,early,tensors_gb,gathered_gb\n";
  for (cost_case const& c : cases_of_curves())
    for (index P = 1; P <= most_ranks; P *= 2) {
      add(text, c.memory.name, ",", shape_text(c.memory), ",", c.network.name, ",",
          formatted("%.0e", c.tokens), ",", std::to_string(P));
      for (double seconds : {chain_seconds(c, P), tree_seconds(c, P), gather_seconds(c, P)})
        add(text, ",", short_number(work(c) / seconds));
      auto const early = early_seconds(c, P);
      add(text, ",", early ? short_number(work(c) / *early) : "");
      add(text, ",", short_number(1e-9 * tensor_bytes(c, P)));
      add(text, ",", short_number(1e-9 * gather_bytes(c, P)), "\n");
    }
  return text;
}

// Where the curves of a case cross, up to 4096 ranks.
struct crossings {
  // The least ranks from which on a tree is as fast as a chain, and faster by a tenth than an
  // all-gather.
  std::optional<index> tree, gather_behind;
  index best_gather;  // the ranks with which an all-gather is fastest
  // How many times as fast as one rank each is at best.
  double chain_gains, tree_gains, gather_gains;

  explicit crossings(cost_case const& c) {
    auto const chain = [&](index P) { return chain_seconds(c, P); };
    auto const joined = [&](index P) { return tree_seconds(c, P); };
    auto const gather = [&](index P) { return gather_seconds(c, P); };
    tree = crossing_of(joined, chain, most_ranks);
    gather_behind = crossing_of([&](index P) { return 1.1 * joined(P); }, gather, most_ranks);
    best_gather = best_ranks(gather, most_ranks);
    chain_gains = work(c) / chain(best_ranks(chain, most_ranks));
    tree_gains = work(c) / joined(best_ranks(joined, most_ranks));
    gather_gains = work(c) / gather(best_gather);
  }

  std::array<std::string, 5> texts() const {
    auto const number = [](std::optional<index> P) {
      return P ? std::to_string(*P) : std::string("never");
    };
    return {number(tree), number(gather_behind), formatted("%.0f", chain_gains),
            formatted("%.0f", tree_gains),
            formatted("%.0f", gather_gains) + " at " + std::to_string(best_gather)};
  }
};

// "a, b, c", or "a" where all are a.
inline std::string listed(std::vector<std::string> const& all) {
  std::string text = all[0];
  if (std::count(all.begin(), all.end(), all[0]) < std::ssize(all))
    for (std::size_t i = 1; i < all.size(); ++i) add(text, ", ", all[i]);
  return text;
}

// The table of the document: a row for each memory and length, numbers for each network.
inline std::string crossings_table() {
  std::string text =
      "| memory | tokens | tree passes chain at P | all-gather is 10 % behind the tree from P | "
      "chain gains at most | tree | all-gather |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (auto const& [memory, rank] : fitted_memories)
    for (double tokens : lengths_of_curves) {
      std::array<std::vector<std::string>, 5> cells;
      for (network_cost const& network : assumed_networks) {
        auto const own = crossings({memory, rank, network, tokens}).texts();
        for (std::size_t i = 0; i < own.size(); ++i) cells[i].push_back(own[i]);
      }
      add(text, "| `", memory.name, "` ", shape_text(memory), " | ",
          tokens == 1e9 ? "10^9" : "10^6");
      for (auto const& cell : cells) add(text, " | ", listed(cell));
      text += " |\n";
    }
  return text;
}

// How many times as fast.
inline std::string faster(double times) { return formatted(times < 10 ? "%.1f" : "%.0f", times); }

inline std::string cut_text(cost_case const& c, cut const& of) {
  return std::to_string(of.batch) + " x " + std::to_string(of.heads) + " x " +
         std::to_string(of.time) +
         (of.time == 1 ? ""
          : of.tree    ? " tree"
                       : " chain") +
         ": " + faster(work(c) / of.seconds);
}

// The fastest cuts of sequences of 10^6 tokens and 32 heads, for each network, and how fast cutting
// heads before time is.
inline std::string cuts_table() {
  std::string text = "| memory | B | P |";
  for (network_cost const& network : assumed_networks) add(text, " ", network.name, " |");
  text += " heads before time |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (auto const& [memory, rank] : fitted_memories)
    for (index const B : {1, 8})
      for (index const P : {8, 64, 512}) {
        if (memory.heads != 32 || P <= B) continue;
        add(text, "| `", memory.name, "` | ", std::to_string(B), " | ", std::to_string(P), " |");
        std::vector<std::string> best, heads_first;
        for (network_cost const& network : assumed_networks) {
          cost_case const c{memory, rank, network, 1e6, B};
          index const batch = std::min(B, P), heads = std::min(memory.heads, P / batch);
          cut const first{batch, heads, P / (batch * heads), true};
          best.push_back(cut_text(c, best_cut(c, P)));
          heads_first.push_back(faster(work(c) / cut_seconds(c, first)));
        }
        for (std::string const& text_of_cut : best) add(text, " ", text_of_cut, " |");
        add(text, " ", listed(heads_first), " |\n");
      }
  return text;
}

}  // namespace wane::bench
