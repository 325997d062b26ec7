// sum_over_ranks and broadcast: small exchanges between the ranks of a group.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/wider.hpp"
#include "wane/core/state/state.hpp"
#include "wane/ranks/agreement.hpp"

namespace wane {

//   sum_over_ranks(ranks, std::span(gradient_of_a_parameter));
//
// Replaces the numbers of each rank by their sums over all ranks, added in the order of the ranks
// and in double for float. The same bits on every rank. Meant for parameters: it takes the memory
// of one array for each rank.
template <rank_group Ranks, class T>
void sum_over_ranks(Ranks const& ranks, std::span<T> numbers) {
  std::vector<T> all(numbers.size() * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(std::as_bytes(numbers), std::as_writable_bytes(std::span(all)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    impl::wider<T> sum(0);
    for (std::size_t at = i; at < all.size(); at += numbers.size())
      sum += static_cast<impl::wider<T>>(all[at]);
    numbers[i] = static_cast<T>(sum);
  }
}

//   broadcast(ranks, ranks.size() - 1, state);  // the final state of a sequence, for all ranks
//
// Gives the state of one rank, values and positions, to all others, which hold states of the same
// shape.
template <rank_group Ranks, class T>
void broadcast(Ranks const& ranks, int from, recurrent_state<T>& state) {
  // Rank `from` is 0 here. Each rank that has the state gives it to one that has not, until all
  // have.
  int const size = ranks.size(), own = (ranks.rank() - from + size) % size;
  auto const bytes_of = [](auto& x) { return std::as_writable_bytes(std::span(x)); };
  int reach = 1;
  for (; own >= reach; reach *= 2) {
  }
  auto const real = [&](int rank) { return (rank + from) % size; };
  if (own > 0) {
    int const giver = real(own - reach / 2);
    ranks.receive(giver, bytes_of(state.values()));
    ranks.receive(giver, bytes_of(state.positions()));
  }
  for (; own + reach < size; reach *= 2) {
    auto const send = [&](auto bytes) {
      ranks.send(real(own + reach), std::vector<std::byte>(bytes.begin(), bytes.end()));
    };
    send(bytes_of(state.values())), send(bytes_of(state.positions()));
  }
}

}  // namespace wane
