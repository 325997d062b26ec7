// The constants of the cost model as this machine has them, and the model beside runs over ranks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <optional>

#include "ranks/cost_model.hpp"
#include "ranks/memories.hpp"
#include "ranks/piece.hpp"

namespace wane::bench {

// Messages from rank 0 to rank 1 and back, medians. The last ranks wait.
inline network_cost measured_network(group const& ranks, int rounds) {
  auto const one_way = [&](std::size_t size) {
    std::vector<double> times;
    std::vector<std::byte> room(size);
    for (int round = 0; round <= rounds; ++round) {
      wait_for_all(ranks);
      constexpr int trips = 50;
      times.push_back(seconds_of(
          [&] {
            if (ranks.rank() == 0) ranks.send(1, std::vector<std::byte>(size));
            if (ranks.rank() < 2) ranks.receive(1 - ranks.rank(), room);
            if (ranks.rank() == 1) ranks.send(0, std::vector<std::byte>(size));
          },
          trips, 2));
    }
    times.erase(times.begin());
    return median(times) / 2;
  };
  constexpr std::size_t large = std::size_t{1} << 20;
  double const latency = one_way(64), long_one = one_way(large);
  return {"measured", latency, static_cast<double>(large) / (long_one - latency)};
}

// Multiply-adds a second where two effects on a state of 128 x 128 are joined, T a matrix.
inline double measured_multiply_adds(int rounds) {
  using effect = impl::piece_effect<float>;
  constexpr index K = 128;
  impl::transition_form const form{impl::transition_form::matrix, K, K};
  std::vector<float> one(static_cast<std::size_t>(form.size()), 1.f / K), two = one;
  effect const first(form, one.data()), second(form, two.data());
  first.set(effect::kinds::maps), second.set(effect::kinds::maps);
  impl::effect_joiner<float> join(form);
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round)
    times.push_back(seconds_of([&] { join(first, second); }, 20, 1));
  return static_cast<double>(K * K * (K + K)) / median(times);
}

// One rank alone, over all heads and head by head. Seconds are those of the thread.
template <class Memory>
void print_rates(index tokens, int rounds) {
  piece<Memory> one(0, tokens);
  std::vector<double> whole, parts;
  for (int round = 0; round <= rounds; ++round) {
    whole.push_back(seconds_of([&] { one.run(); }, 1, 1));
    parts.push_back(
        seconds_of([&] { one.run_in_parts(std::min<index>(Memory::heads, 32)); }, 1, 1));
  }
  recurrence_shape const shape = one.memory.op().shape();
  double const is = median(whole);
  std::printf(
      "%-16s %2lld heads %4lld x %4lld  %8.0f tokens a second, head by head %.2f x as long\n",
      Memory::name, static_cast<long long>(shape.heads), static_cast<long long>(shape.rows),
      static_cast<long long>(shape.columns), static_cast<double>(tokens) / is, median(parts) / is);
  std::fflush(stdout);
}

// A run over the ranks beside the model. Each round times one rank over all tokens, rank 0 over its
// piece in parts, all ranks over theirs at the same time without any exchange, and the run. The
// shortest time of each counts, because other work on the machine only adds to it. The model is
// shown with in_parts as rank 0 has it alone, and as all ranks have it at once.
template <class Memory>
void print_beside_model(group const& ranks, network_cost const& network, index tokens, int rounds) {
  index const P = ranks.size(), each = tokens / P;
  piece<Memory> own(each * ranks.rank(), each);
  std::optional<piece<Memory>> all;
  if (ranks.rank() == 0) all.emplace(0, each * P);
  using op = decltype(own.memory.op());
  recurrence_shape const shape = own.memory.op().shape();
  index needed = -1;
  if constexpr (impl::may_forget<op>)
    needed = impl::tokens_remembered(own.memory.op(), run_options<float>{}, nullptr, each / 8);
  bool const early = needed >= 0;
  index const parts =
      early ? 1 : parts_over_ranks(reports_of(shape, P, each, {}), impl::cuts_of_run<op>);
  memory_cost const memory{Memory::name, shape.heads, shape.rows, shape.columns,
                           false,        1,           0,          static_cast<double>(needed)};
  double const count = static_cast<double>(each * P);
  auto const modelled = [&](double one, double own_piece) {
    double const slower = own_piece * static_cast<double>(P) / one;
    cost_case c{memory, {count / one, slower, 1}, network, count};
    if (parts == 1) c.rank = {count / one / slower, 1, 1};
    return one / (early ? early_seconds(c, P).value() : chain_seconds(c, P, parts));
  };
  constexpr double never = std::numeric_limits<double>::infinity();
  double one = never, first = never, at_once = never, measured = never;
  auto const shortest = [](double& of, auto const& work) { of = std::min(of, seconds(work)); };
  for (int round = 0; round <= rounds; ++round) {
    wait_for_all(ranks);
    if (all) shortest(one, [&] { all->run(); }), shortest(first, [&] { own.run_in_parts(parts); });
    wait_for_all(ranks);
    shortest(at_once, [&] { own.run_in_parts(parts), wait_for_all(ranks); });
    shortest(measured,
             [&] { own.run(ranks, {.exchange = exchange::states}), wait_for_all(ranks); });
  }
  if (!all) return;
  // Ranks of a chain of one part never work at once.
  if (parts == 1 && !early) at_once = first;
  std::printf(
      "%-16s %s  parts %2lld  one rank %7.1f ms  model %.2f, ranks at once %.2f  measured %.2f\n",
      Memory::name, early ? "early" : "chain", static_cast<long long>(parts), 1e3 * one,
      modelled(one, first), modelled(one, at_once), one / measured);
  std::fflush(stdout);
}

// wane-bench-ranks --model check. One rank fits what needs no other.
inline void check_model(group const& ranks, index tokens, int rounds) {
  bool const first = ranks.rank() == 0;
  network_cost network{};
  if (ranks.size() > 1) network = measured_network(ranks, rounds);
  if (first) {
    if (ranks.size() > 1)
      std::printf("message %.2f us, %.2f GB a second\n", 1e6 * network.latency,
                  1e-9 * network.bytes_a_second);
    std::printf("joined %.1f thousand million multiply-adds a second\n",
                1e-9 * measured_multiply_adds(rounds));
    print_rates<gla_of<8, 64, true>>(tokens / 4, rounds);
    print_rates<gla_of<32, 128, true>>(tokens / 16, rounds);
    print_rates<gated_delta_of<8, 64>>(tokens / 4, rounds);
    print_rates<gated_delta_of<32, 128>>(tokens / 16, rounds);
    print_rates<retention_memory>(tokens / 4, rounds);
  }
  if (ranks.size() == 1) return;
  print_beside_model<gla_of<8, 64, false>>(ranks, network, tokens, rounds);
  print_beside_model<gla_of<8, 64, true>>(ranks, network, tokens, rounds);
  print_beside_model<gated_delta_of<8, 64>>(ranks, network, tokens, rounds);
  print_beside_model<retention_memory>(ranks, network, tokens, rounds);
}

}  // namespace wane::bench
