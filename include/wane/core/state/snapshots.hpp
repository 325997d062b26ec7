// snapshots: the last states of a run, so that tokens can be undone (speculative decoding).
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "wane/core/state/state.hpp"

namespace wane {

//   snapshots kept(8, state);
//   step(op, output, state), kept.push(state);  // after every token, drafted tokens included
//   kept.rollback_to(accepted, state);          // to the last accepted token of every sequence
//
// A ring of the last `count` snapshots of a state that has positions. Allocates only in the
// constructor.
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

  // Copies the state over the oldest snapshot. Other snapshots of a sequence with its position or a
  // later one are forgotten: they belong to tokens that have been undone.
  void push(state_view<T const> state) {
    check_fits(state);
    recurrent_state<T>& to = ring_[oldest_];
    oldest_ = (oldest_ + 1) % ring_.size();
    for (std::size_t n = 0; n < found_.size(); ++n) {
      forget(n, state.positions[n]);
      copy_sequence(n, state, to);
    }
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

  void check_fits(state_view<T const> const& state) const {
    require(state.present() && state.positions,
            "the state has no data or no positions; a snapshot is known by its position");
    auto const& e = state_view<T const>(ring_[0]).values.extent;
    impl::check_state("the state", state, e[0], {.heads = e[1], .rows = e[2], .columns = e[3]});
  }

  void go_back(auto const& position_of, state_view<T> const& state) {
    for (std::size_t n = 0; n < found_.size(); ++n) found_[n] = &snapshot_at(n, position_of(n));
    for (std::size_t n = 0; n < found_.size(); ++n) {
      copy_sequence(n, *found_[n], state);
      forget(n, state.positions[n] + 1);
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

  void forget(std::size_t n, index from) {
    for (recurrent_state<T>& s : ring_)
      if (s.positions()[n] >= from) s.positions()[n] = gone;
  }

  static void copy_sequence(std::size_t sequence, state_view<T const> const& from,
                            state_view<T> const& to) {
    auto const n = static_cast<index>(sequence);
    auto const& e = from.values.extent;
    for (index h = 0; h < e[1]; ++h)
      for (index i = 0; i < e[2]; ++i)
        for (index j = 0; j < e[3]; ++j) to.values(n, h, i, j) = from.values(n, h, i, j);
    to.positions[n] = from.positions[n];
  }

  std::vector<recurrent_state<T>> ring_;
  std::vector<recurrent_state<T> const*> found_;  // one a sequence; used only within go_back
  std::size_t oldest_ = 0;
};

template <class T>
snapshots(index, recurrent_state<T> const&) -> snapshots<T>;

}  // namespace wane
