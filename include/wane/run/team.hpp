// Threads that share one walk: each takes a piece of every tile of time.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "wane/run/segment_effect.hpp"
#include "wane/run/threads.hpp"

namespace wane {

// Everybody waits until everybody is there.
class team_barrier {
 public:
  explicit team_barrier(int members) : members_(members) {}

  void wait() {
    int const round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins)
      if (spins > 4096) std::this_thread::yield();
  }

 private:
  int const members_;
  std::atomic<int> arrived_{0}, round_{0};
};

// Bytes of input that a member holds in its second-level cache between its two looks at a piece.
inline constexpr index bytes_of_piece = index{192} << 10;

// One walk by a team. Member 0 carries the state through its own piece of a tile while the others
// find the effects of theirs; then the states at the start of all pieces are known, and the others
// go through their pieces again, now in cache, while member 0 is in the next tile.
//   advance(piece, carry)  takes the state through a piece of the walk and writes its outputs
//   effect(piece, effects) finds the effects of a piece
// Where so many threads cannot be had, one does it all.
template <class Op, class Advance, class Effect>
void walk_as_team(walk const& w, int members, index piece, index columns,
                  accumulate_type<Op>* carry, Advance const& advance, Effect const& effect) {
  using T = accumulate_type<Op>;
  using segment = effect_of<Op, T>;
  auto const size = static_cast<std::size_t>(columns);
  index const tile = piece * members, tiles = w.count / tile;
  std::vector<std::vector<segment>> effects(static_cast<std::size_t>(members) * 2,
                                            std::vector<segment>(size));
  std::vector<T> starts[2] = {std::vector<T>(size), std::vector<T>(size)};
  std::vector<std::vector<T>> states(static_cast<std::size_t>(members), std::vector<T>(size));
  team_barrier barrier(members);

  bool const ran = as_team(members, [&](int me) {
    auto& state = states[static_cast<std::size_t>(me)];
    auto const part_of = [&](index t, int member) {
      return w.part(t * tile + member * piece, piece);
    };
    auto const effect_at = [&](index t, int member) -> std::vector<segment>& {
      return effects[static_cast<std::size_t>(member * 2 + t % 2)];
    };
    if (me == 0) std::copy_n(carry, size, state.data());
    for (index t = 0; t < tiles; ++t) {
      auto& start = starts[t % 2];  // the state after member 0's piece
      if (me == 0) {
        advance(part_of(t, 0), state.data());
        start = state;
      } else {
        effect(part_of(t, me), effect_at(t, me).data());
      }
      barrier.wait();
      // A product of factors may overflow where the states do not: then the tile goes in order.
      bool in_order = false;
      for (int m = 1; m < members; ++m)
        for (auto const& e : effect_at(t, m)) in_order |= !std::isfinite(apply(e, T(1)));
      if (in_order) {
        if (me == 0)
          for (int m = 1; m < members; ++m) advance(part_of(t, m), state.data());
        continue;
      }
      if (me != 0) state = start;
      for (int m = 1; m < (me == 0 ? members : me); ++m)
        for (std::size_t c = 0; c < size; ++c) state[c] = apply(effect_at(t, m)[c], state[c]);
      if (me != 0) advance(part_of(t, me), state.data());
    }
  });
  if (ran) std::copy_n(states[0].data(), size, carry);
  index const done = ran ? tiles * tile : 0;
  flush_denormals const guard;
  if (done < w.count) advance(w.part(done, w.count - done), carry);
}

}  // namespace wane
