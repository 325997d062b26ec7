// Threads that share one walk: each takes a piece of every tile of time.
// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/run/channels/segment_effect.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// A barrier: no member passes before all have arrived.
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
      if (spins > 4096) sched_yield();
  }

 private:
  int const members_;
  std::atomic<int> arrived_{0}, round_{0};
};

// Bytes of input in a piece. All members but the first read their piece twice, the second time from
// the second-level cache.
inline constexpr index bytes_of_piece = index{192} << 10;

// The vector of columns for which effects are found.
template <class Op>
using team_vector = simd<accumulate_type<Op>, simd_width<accumulate_type<Op>>>;

// Runs one walk by a team of threads.
//   advance(piece, carry)  takes the state through a piece of the walk and writes its outputs
//   effect(piece, effects) finds the effects of a piece
// Stretches are multiples of `grain` tokens; `piece` is the length of a piece of a tile.
template <class Op, class Advance, class Effect>
class team_walk {
 public:
  using T = accumulate_type<Op>;
  using vector = team_vector<Op>;
  using segment = effect_of<Op, vector>;

  team_walk(walk const& w, int members, index grain, index piece, index columns,
            Advance const& advance, Effect const& effect)
      : w_(w),
        members_(members),
        stretch_(w.count / members / grain * grain),
        look_back_(stretch_ / 8 / grain * grain),
        lead_(piece + piece / 2),
        piece_(piece),
        columns_(columns),
        strips_(static_cast<std::size_t>((columns + vector::width - 1) / vector::width)),
        advance_(advance),
        effect_(effect),
        barrier_(members),
        states_(static_cast<std::size_t>(members), std::vector<T>(strips_ * vector::width)),
        effects_(static_cast<std::size_t>(members) * 2, std::vector<segment>(strips_)),
        starts_{states_[0], states_[0]} {}

  // `carry` is the state of the columns, before and after. If OpenMP gives fewer threads, one
  // thread does all the work. What the operator throws is thrown when all have ended.
  void operator()(T* carry) {
    index done = 0;
    int last = 0;
    std::copy_n(carry, columns_, states_[0].data());
    as_team(members_, [&](int me) {
      bool const apart = in_stretches(me);
      if (!apart) in_tiles(me);
      if (me == 0) {
        last = apart ? members_ - 1 : 0;
        done = apart ? w_.count : tiles() * tile();
      }
    });
    thrown_.rethrow();
    std::copy_n(states_[static_cast<std::size_t>(last)].data(), columns_, carry);
    flush_denormals const guard;
    if (done < w_.count) advance_(w_.part(done, w_.count - done), carry);
  }

 private:
  // Each member runs one long stretch. It finds the state at its start from the look_back_ tokens
  // before it, which must forget all earlier tokens. Returns false if they do not for some member.
  bool in_stretches(int me) {
    auto& e = effects_of(0, me);
    auto& state = states_[static_cast<std::size_t>(me)];
    if (look_back_ == 0) return false;
    if (me > 0) {
      effect(w_.part(me * stretch_ - look_back_, look_back_), e.data());
      for (std::size_t s = 0; s < strips_; ++s) {
        if (!forgets_all(e[s]) || !all_finite(e[s].drive)) somebody_remembers_ = true;
        e[s].drive.store(&state[s * vector::width]);
      }
    }
    barrier_.wait();
    if (somebody_remembers_) return false;
    index const count = me == members_ - 1 ? w_.count : stretch_;
    advance(w_.part(me * stretch_, count), state.data());
    return true;
  }

  // In each tile, member 0 runs its own piece while the others find the effects of theirs. Then the
  // states at the start of all pieces are known, and the others run their pieces, now in cache,
  // while member 0 is in the next tile. Member 0 goes through its piece only once, so that piece is
  // longer by half.
  void in_tiles(int me) {
    auto& state = states_[static_cast<std::size_t>(me)];
    for (index t = 0; t < tiles(); ++t) {
      if (me == 0) {
        advance(part_of(t, 0), state.data());
        starts_[t % 2] = state;
      } else {
        effect(part_of(t, me), effects_of(t, me).data());
      }
      barrier_.wait();
      // A product of factors may overflow although the states do not. Member 0 then runs the tile
      // in order.
      bool in_order = false;
      for (int m = 1; m < members_; ++m)
        for (auto const& e : effects_of(t, m)) in_order |= !all_finite(apply(e, vector(T(1))));
      if (in_order) {
        if (me == 0)
          for (int m = 1; m < members_; ++m) advance(part_of(t, m), state.data());
        continue;
      }
      if (me != 0) state = starts_[t % 2];
      for (int m = 1; m < (me == 0 ? members_ : me); ++m)
        for (std::size_t s = 0; s < strips_; ++s) {
          T* const lanes = &state[s * vector::width];
          apply(effects_of(t, m)[s], vector::load(lanes)).store(lanes);
        }
      if (me != 0) advance(part_of(t, me), state.data());
    }
  }

  // These keep what the operator throws, so that this member still arrives at every barrier.
  void advance(walk const& part, T* state) {
    thrown_.guard([&] { advance_(part, state); });
  }
  void effect(walk const& part, segment* effects) {
    thrown_.guard([&] { effect_(part, effects); });
  }

  index tile() const { return lead_ + (members_ - 1) * piece_; }
  index tiles() const { return w_.count / tile(); }
  walk part_of(index t, int member) const {
    index const first = t * tile();
    return member == 0 ? w_.part(first, lead_)
                       : w_.part(first + lead_ + (member - 1) * piece_, piece_);
  }
  std::vector<segment>& effects_of(index t, int member) {
    return effects_[static_cast<std::size_t>(member * 2 + t % 2)];
  }

  walk const w_;
  int const members_;
  index const stretch_, look_back_, lead_, piece_, columns_;
  std::size_t const strips_;
  Advance const& advance_;
  Effect const& effect_;
  team_barrier barrier_;
  std::atomic<bool> somebody_remembers_{false};
  std::vector<std::vector<T>> states_;
  std::vector<std::vector<segment>> effects_;
  first_exception thrown_;
  std::vector<T> starts_[2];  // the state after member 0's piece, of this tile and the one before
};

// Runs the walks one after the other, each by all threads. Returns false and does nothing if
// threads_over_time is off, if there are walks for all threads, or if there are too few tokens.
template <class Op, class State, class Way>
bool run_as_teams(Op const& op, run_options<State> const& options, int threads, Way const& way) {
  using T = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  index const walks = walks_of(shape, options);
  index const piece = way.piece_tokens(
      std::max<index>(16, bytes_of_piece / (2 * index{sizeof(T)} * shape.columns)));
  if (!options.threads_over_time || walks >= threads || shape.time < 2 * (threads + 1) * piece ||
      box_of(shape, options).columns < shape.columns)
    return false;
  for (index i = 0; i < walks; ++i) {
    walk const w = walk_of(i, shape, options, options.initial.positions);
    auto const advance = [&](walk const& part, T* columns) {
      way.advance(part, 0, shape.columns, columns);
      stream_fence();
    };
    auto const effect = [&](walk const& part, auto* effects) { way.effect(part, effects); };
    for_each_part<T>(w, options, [&](walk const& part, auto const& state) {
      std::vector<T> carry = state.load_columns(0, shape.columns);
      team_walk<Op, decltype(advance), decltype(effect)>(
          part, threads, way.piece_tokens(1), piece, shape.columns, advance, effect)(carry.data());
      state.save_columns(0, carry);
    });
  }
  return true;
}

}  // namespace wane::impl
