// snapshots: the last states of a run, so that tokens can be undone (speculative decoding).
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <span>

#include "wane/core/state/state.hpp"

namespace wane {

//   snapshots kept(8, state);
//   step(op, output, state), kept.push(state);  // after every token, drafted tokens included
//   kept.rollback_to(accepted, state);          // to the last accepted token of every sequence
//
// The last `count` snapshots of every sequence of a state that has positions: up to count - 1
// tokens can be undone, again and again. Allocates only in the constructor.
//
// Positions tell which snapshots belong to the tokens of now. A state that was set to other tokens
// and has passed its newest snapshot again looks as if it had gone on: call forget() when a
// sequence starts anew.
template <class T>
class snapshots {
 public:
  // Room for `count` snapshots of states with the extents of `like`. Throws wane::error unless
  // count is positive.
  snapshots(index count, state_view<T const> like) {
    require(count > 0, "count is ", count, "; it must be positive");
    auto const& e = like.values.extent;
    recurrent_state<T> one(e[0], e[1], e[2], e[3]);
    for (index& position : one.positions()) position = gone;
    ring_.resize(static_cast<std::size_t>(count), one);
    found_.resize(one.positions().size());
  }

  // Keeps a snapshot of every sequence, in the place of its oldest where there are `count`. A
  // sequence that has not changed since its newest snapshot needs no other. Where a position is not
  // beyond the newest, the state went back without rollback, and nobody knows how far: the older
  // snapshots of that sequence are forgotten.
  void push(state_view<T const> state) {
    check_fits(state);
    for (std::size_t n = 0; n < found_.size(); ++n) {
      index const at = state.positions[n];
      recurrent_state<T> const& newest = *std::ranges::max_element(ring_, {}, position_in(n));
      if (at == newest.positions()[n] && holds(n, newest, state)) continue;
      if (at <= newest.positions()[n]) forget_from(n, 0);
      copy_sequence(n, state, *std::ranges::min_element(ring_, {}, position_in(n)));
    }
  }

  // Forgets all snapshots of sequence n, or of every sequence. Throws wane::error where there is no
  // sequence n.
  void forget(index n) {
    auto const count = static_cast<index>(found_.size());
    require(0 <= n && n < count, "sequence is ", n, "; it must be from 0 to ", count - 1);
    forget_from(static_cast<std::size_t>(n), 0);
  }
  void forget() {
    for (std::size_t n = 0; n < found_.size(); ++n) forget_from(n, 0);
  }

  // Sets sequence n back to the state after positions[n] tokens, and forgets its later snapshots.
  // Throws wane::error, and changes nothing, where a sequence has no snapshot at its position.
  void rollback_to(std::span<index const> positions, state_view<T> state) {
    check_fits(state);
    check_extent("positions", "sequences", static_cast<index>(positions.size()),
                 static_cast<index>(found_.size()));
    go_back([&](std::size_t n) { return positions[n]; }, state);
  }

  // The same, `tokens` tokens back for every sequence.
  void rollback(index tokens, state_view<T> state) {
    check_fits(state);
    require(tokens >= 0, "tokens is ", tokens, "; it must be 0 or more");
    go_back([&](std::size_t n) { return state.positions[n] - tokens; }, state);
  }

 private:
  static constexpr index gone = -1;

  static auto position_in(std::size_t n) {
    return [n](recurrent_state<T> const& s) { return s.positions()[n]; };
  }

  void check_fits(state_view<T const> const& state) const {
    require(found_.empty() || (state.present() && state.positions),
            "the state has no data or no positions; a snapshot is known by its position");
    auto const& e = state_view<T const>(ring_[0]).values.extent;
    impl::check_state("the state", state, e[0], {.heads = e[1], .rows = e[2], .columns = e[3]});
  }

  void go_back(auto const& position_of, state_view<T> const& state) {
    for (std::size_t n = 0; n < found_.size(); ++n) found_[n] = &snapshot_at(n, position_of(n));
    for (std::size_t n = 0; n < found_.size(); ++n) {
      copy_sequence(n, *found_[n], state);
      forget_from(n, state.positions[n] + 1);
    }
  }

  recurrent_state<T> const& snapshot_at(std::size_t n, index position) const {
    index oldest = gone, newest = gone;
    for (recurrent_state<T> const& s : ring_) {
      index const at = s.positions()[n];
      if (at == gone) continue;
      if (at == position) return s;
      oldest = oldest == gone ? at : std::min(oldest, at), newest = std::max(newest, at);
    }
    require(newest != gone, "sequence ", n, " has no snapshot; push one first");
    require(false, "sequence ", n, " has no snapshot at position ", position,
            "; it must be that of one, and the oldest is at ", oldest, ", the newest at ", newest);
    return ring_[0];
  }

  void forget_from(std::size_t n, index from) {
    for (recurrent_state<T>& s : ring_)
      if (s.positions()[n] >= from) s.positions()[n] = gone;
  }

  // Calls visit(h, i, j) for every value of a sequence.
  void for_each_value(auto const& visit) const {
    auto const& e = state_view<T const>(ring_[0]).values.extent;
    for (index h = 0; h < e[1]; ++h)
      for (index i = 0; i < e[2]; ++i)
        for (index j = 0; j < e[3]; ++j) visit(h, i, j);
  }
  void copy_sequence(std::size_t sequence, state_view<T const> const& from,
                     state_view<T> const& to) const {
    auto const n = static_cast<index>(sequence);
    for_each_value([&](auto... at) { to.values(n, at...) = from.values(n, at...); });
    to.positions[n] = from.positions[n];
  }
  bool holds(std::size_t sequence, state_view<T const> const& kept,
             state_view<T const> const& state) const {
    auto const n = static_cast<index>(sequence);
    bool same = true;
    for_each_value([&](auto... at) {
      T const a = kept.values(n, at...), b = state.values(n, at...);
      same &= a == b || (a != a && b != b);
    });
    return same;
  }

  std::vector<recurrent_state<T>> ring_;
  std::vector<recurrent_state<T> const*> found_;  // one a sequence; used only within go_back
};

template <class T>
snapshots(index, recurrent_state<T> const&) -> snapshots<T>;

}  // namespace wane
