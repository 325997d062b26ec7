// look_back: finds the effect of all earlier tiles from what their blocks have published.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/scan/block_scan.hpp"
#include "wane/cuda/scan/plan.hpp"

namespace wane::cuda::impl {

// Called by all threads of the block that has tile `number` of a strip.
template <class Config, class M, class V>
class look_back {
 public:
  using E = composed_effect<V>;

  WANE_HOST_DEVICE look_back(M& machine, scan_plan const& plan, scan_workspace<V> const& work,
                             block_scan<M, E>& join, index strip, index number)
      : machine_(machine),
        plan_(plan),
        work_(work),
        join_(join),
        strip_(strip),
        number_(number),
        column_(machine.thread() & (plan.columns() - 1)),
        slice_(machine.thread() >> plan.columns_log2),
        slices_(Config::threads >> plan.columns_log2),
        last_slice_(slice_ == slices_ - 1) {}

  // of_tile(i) points to the effect of the tile on row i, and is overwritten. before_tile(i) points
  // to the place for the effect of all tiles before it. Only threads of the last slice use both.
  template <class Before, class Of>
  WANE_HOST_DEVICE void operator()(Before const& before_tile, Of const& of_tile) {
    for (index i = 0; last_slice_ && i < plan_.shape.rows; ++i)
      machine_.write_shared(before_tile(i), E{});
    publish_node(0, of_tile);
    for (int level = 0; level < plan_.levels; ++level) {
      index const siblings = node(level) % fan;
      for (index i = 0; siblings > 0 && i < plan_.shape.rows; ++i) {
        E const earlier = join_(of_siblings(level, siblings, i)).through;
        if (!last_slice_) continue;
        machine_.write_shared(before_tile(i), then(earlier, machine_.read_shared(before_tile(i))));
        *of_tile(i) = then(earlier, *of_tile(i));
      }
      if (completes(level + 1) && level + 1 < plan_.levels) publish_node(level + 1, of_tile);
    }
    index const group = node(plan_.levels);
    if (group > 0 && last_slice_) {
      machine_.await(work_.group_flags + strip_ * plan_.groups + group - 1);
      for (index i = 0; i < plan_.shape.rows; ++i) {
        V const start = machine_.read(group_state(group, i));
        E before = machine_.read_shared(before_tile(i));
        before.drive = state_after(before, start);
        machine_.write_shared(before_tile(i), before);
        of_tile(i)->drive = state_after(*of_tile(i), start);
      }
    }
    if (completes(plan_.levels)) {
      for (index i = 0; last_slice_ && i < plan_.shape.rows; ++i)
        machine_.write(group_state(group + 1, i), of_tile(i)->drive);
      raise(work_.group_flags + strip_ * plan_.groups + group);
    }
  }

 private:
  static constexpr index fan = index{1} << Config::fan_log2;

  // The node of a level that this tile is in, and whether the tile is its last.
  WANE_HOST_DEVICE index node(int level) const { return number_ >> (level * Config::fan_log2); }
  WANE_HOST_DEVICE bool completes(int level) const {
    return (number_ + 1) >> (level * Config::fan_log2) > node(level);
  }
  // Its place among the published nodes of all strips.
  WANE_HOST_DEVICE index place_of(int level, index node) const {
    index place = strip_ * plan_.nodes + node;
    for (int l = 0; l < level; ++l) place += plan_.tiles >> (l * Config::fan_log2);
    return place;
  }
  WANE_HOST_DEVICE index element(index place, index i) const {
    return ((place * plan_.shape.rows + i) << plan_.columns_log2) + column_;
  }
  // The state before group 1, 2, ...
  WANE_HOST_DEVICE V* group_state(index group, index i) const {
    return work_.group_states + element(strip_ * plan_.groups + group - 1, i);
  }

  template <class Of>
  WANE_HOST_DEVICE void publish_node(int level, Of const& of_tile) {
    index const place = place_of(level, node(level));
    for (index i = 0; last_slice_ && i < plan_.shape.rows; ++i)
      machine_.write(work_.node_effects + element(place, i), *of_tile(i));
    raise(work_.node_flags + place);
  }
  WANE_HOST_DEVICE void raise(std::uint32_t* flag) {
    machine_.barrier();
    if (machine_.thread() == 0) machine_.raise(flag);
  }

  // The joined effect of this thread's share of the `count` siblings before this tile's node.
  WANE_HOST_DEVICE E of_siblings(int level, index count, index i) {
    index const first = node(level) - count;
    index const begin = count * slice_ / slices_, end = count * (slice_ + 1) / slices_;
    E joined;
    for (index n = begin; n < end; ++n) {
      index const place = place_of(level, first + n);
      if (i == 0) machine_.await(work_.node_flags + place);
      joined = then(joined, machine_.read(work_.node_effects + element(place, i)));
    }
    return joined;
  }

  M& machine_;
  scan_plan const& plan_;
  scan_workspace<V> const& work_;
  block_scan<M, E>& join_;
  index strip_, number_;
  int column_, slice_, slices_;
  bool last_slice_;
};

}  // namespace wane::cuda::impl
