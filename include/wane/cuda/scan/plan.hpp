// scan_plan: how a scan is cut into tiles, chosen from its shape and form alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "wane/core/recurrence/composed_effect.hpp"
#include "wane/core/recurrence/recurrence.hpp"
#include "wane/cuda/machine/kernel.hpp"

namespace wane::cuda::impl {

// Threads: threads of a block. Tokens: tokens of a thread, odd so that threads with neighbouring
// tokens read different banks of shared memory. 2^FanLog2: effects that one look-back joins.
// LinkNumbers: numbers of a tensor for each link of the chain of groups, whose links are passed one
// after the other. ManyStrips: from so many strips on, one block walks each strip in order.
// KeptBytes: the effect before each thread is kept for every row while shared memory stays within
// this size, and is computed again otherwise. (99 KB: the most that a block may have on every
// device since sm_80.)
template <int Threads, int Tokens, int FanLog2, index LinkNumbers, index ManyStrips,
          std::size_t KeptBytes = 99 * 1024>
struct scan_config {
  static_assert(Threads % warp_size == 0 && Tokens % 2 == 1);
  static constexpr int threads = Threads;
  static constexpr int tokens = Tokens;
  static constexpr int fan_log2 = FanLog2;
  static constexpr index link_numbers = LinkNumbers;
  static constexpr index many_strips = ManyStrips;
  static constexpr std::size_t kept_bytes = KeptBytes;
};
// A link takes about 1.5 microseconds, in which memory moves some megabytes. 512 blocks fill a GPU.
template <class V>
using default_scan_config = scan_config<256,
                                        is_complex<V>    ? 5
                                        : sizeof(V) <= 4 ? 15
                                                         : 9,
                                        4, index{1} << 20, 512>;

// A strip is a head of a sequence (of the row, where sequences are packed) and a group of its
// columns. Its tokens are cut into tiles. 2^fan_log2 tiles are a node of level 1, 2^fan_log2 of
// these a node of level 2, and so on. A group is a node of the highest level. A block finds the
// effect of its tile. The state before the tile follows from the state before its group and the
// effects of the nodes between. Each group passes its last state to the next group. Which effects
// are joined, and in which order, depends on the tile alone: the result is the same bits in
// whatever order blocks run.
struct scan_plan {
  recurrence_shape shape;
  index sequences = 0;          // states: the batch, or the packed sequences
  int columns_log2 = 0;         // columns of a tile
  int tile_tokens = 0;          // tokens of a tile
  index column_tiles = 0;       // of a head
  index strips = 0, tiles = 0;  // tiles of a strip
  bool in_order = false;        // one block walks a strip, tile after tile, without look-back
  int levels = 1;               // of nodes
  index groups = 0;             // of a strip
  index nodes = 0;              // of all levels of a strip

  WANE_HOST_DEVICE int columns() const { return 1 << columns_log2; }
  // The place of the state of a tile and row among the states of all tiles, column 0.
  WANE_HOST_DEVICE index place_of_state(index strip, index tile, index row) const {
    return ((strip * tiles + tile) * shape.rows + row) << columns_log2;
  }
  // The number of work items. A work item is a tile, or a strip where in_order.
  WANE_HOST_DEVICE index work_items() const { return strips * (in_order ? 1 : tiles); }
};

// Offsets of the parts of shared memory in bytes.
struct shared_layout : room {
  std::size_t staged[2], output, exchange, mirror, before_tile, of_tile, carried, start, ticket,
      before_thread, after_thread;
  bool keeps_threads;  // whether before_thread and (backward) after_thread have room

  // `output_bytes`: room for staged output. `backward`: the scan also needs the effects after
  // threads.
  template <class Config, class V>
  static shared_layout of(scan_plan const& plan, std::size_t staged_bytes, std::size_t output_bytes,
                          bool backward) {
    using effect = composed_effect<V>;
    index const threads = Config::threads, tile_rows = plan.shape.rows << plan.columns_log2;
    index const thread_rows = plan.shape.rows * threads;
    shared_layout at;
    at.staged[0] = at.take(1, staged_bytes);
    at.staged[1] = at.take(1, staged_bytes);
    at.output = at.take(1, output_bytes);
    at.exchange = at.take(2 * threads, sizeof(effect));
    at.mirror = at.take(backward ? 2 * threads : 0, sizeof(effect));
    at.before_tile = at.take(tile_rows, sizeof(effect));
    at.of_tile = at.take(tile_rows, sizeof(effect));
    at.carried = at.take(tile_rows, sizeof(V));
    at.start = at.take(tile_rows, sizeof(V));
    at.ticket = at.take(1, 16);
    std::size_t const of_threads =
        rounded_up(static_cast<std::size_t>(thread_rows) * sizeof(effect)) * (backward ? 2 : 1);
    at.keeps_threads = at.bytes + of_threads <= Config::kept_bytes;
    at.before_thread = at.take(at.keeps_threads ? thread_rows : 0, sizeof(effect));
    at.after_thread = at.take(at.keeps_threads && backward ? thread_rows : 0, sizeof(effect));
    return at;
  }
};

// The parts of a workspace: counters and flags, which must be zeros at first, then effects and
// states. Without memory only the sizes are known.
template <class V>
struct scan_workspace {
  std::uint64_t *tickets = nullptr, *finished = nullptr;
  std::uint32_t *node_flags = nullptr, *group_flags = nullptr;
  composed_effect<V>* node_effects = nullptr;
  V* group_states = nullptr;
  std::size_t zeroed_bytes, bytes;

  scan_workspace(scan_plan const& plan, void* memory) {
    auto const strips = static_cast<std::size_t>(plan.strips);
    auto const nodes = strips * static_cast<std::size_t>(plan.nodes);
    auto const groups = strips * static_cast<std::size_t>(plan.groups);
    auto const of_each = static_cast<std::size_t>(plan.shape.rows) << plan.columns_log2;
    zeroed_bytes = 16 + rounded_up(4 * (nodes + groups));
    std::size_t const effects = rounded_up(nodes * of_each * sizeof(composed_effect<V>));
    bytes = zeroed_bytes + effects + rounded_up(groups * of_each * sizeof(V));
    if (!memory) return;
    auto* const start = static_cast<std::byte*>(memory);
    tickets = reinterpret_cast<std::uint64_t*>(start);
    finished = tickets + 1;
    node_flags = reinterpret_cast<std::uint32_t*>(start + 16);
    group_flags = node_flags + nodes;
    node_effects = reinterpret_cast<composed_effect<V>*>(start + zeroed_bytes);
    group_states = reinterpret_cast<V*>(start + zeroed_bytes + effects);
  }
  kernel_counters counters() const { return {tickets, zeroed_bytes}; }
};

// Counts the bytes that a tile of an operator's tensors takes.
struct staged_size {
  int numbers;
  std::size_t* bytes;

  template <class View>
  WANE_HOST_DEVICE View by_column(View const& x) const {
    *bytes += rounded_up(static_cast<std::size_t>(numbers) * sizeof(*x.data));
    return x;
  }
  template <class View>
  WANE_HOST_DEVICE View whole(View const& x) const {
    return x;
  }
};

// `sequences` is the number of states of the run.
template <class Config, class Op>
scan_plan plan_scan(Op const& op, index sequences, bool packed) {
  scan_plan plan;
  plan.shape = op.shape();
  plan.sequences = sequences;
  index const time = plan.shape.time, columns = plan.shape.columns;
  // Whether tiles take 2^(log2 + 1) columns; more than 32 only where one tile holds all tokens.
  auto const fits = [&](int log2) {
    return columns > index{1} << log2 && Config::threads >> (log2 + 1) > 0 &&
           (log2 < 5 || time <= (Config::threads >> (log2 + 1)) * Config::tokens);
  };
  while (fits(plan.columns_log2)) ++plan.columns_log2;
  plan.tile_tokens = (Config::threads >> plan.columns_log2) * Config::tokens;
  plan.column_tiles = (columns + plan.columns() - 1) >> plan.columns_log2;
  plan.strips = (packed ? 1 : plan.shape.batch) * plan.shape.heads * plan.column_tiles;
  plan.tiles = time == 0 ? 1 : (time + plan.tile_tokens - 1) / plan.tile_tokens;
  plan.in_order = plan.tiles == 1 || plan.strips >= Config::many_strips;
  if (!plan.in_order) {
    index const numbers = plan.strips * plan.columns() * time;
    index const links = numbers / Config::link_numbers > 1 ? numbers / Config::link_numbers : 1;
    while (plan.tiles >> (plan.levels * Config::fan_log2) > links) ++plan.levels;
    for (int level = 0; level < plan.levels; ++level)
      plan.nodes += plan.tiles >> (level * Config::fan_log2);
    plan.groups = plan.tiles >> (plan.levels * Config::fan_log2);
  }
  return plan;
}

// Bytes of a tile of all tensors that an operator moves.
template <class Config, class Op>
std::size_t staged_bytes(Op const& op) {
  std::size_t bytes = 0;
  if constexpr (movable_tensors<Op>)
    (void)on_other_memory(op, staged_size{Config::threads * Config::tokens, &bytes});
  return bytes;
}

}  // namespace wane::cuda::impl
