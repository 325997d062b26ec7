// Gradients that are sums over columns: of every token, or of a head over all its tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/gradient.hpp"
#include "wane/cuda/call/check_adjoint.hpp"
#include "wane/cuda/call/sequences.hpp"
#include "wane/cuda/scan/plan.hpp"

namespace wane::cuda::impl {

// Gradients by the terms of a row, summed over tokens and columns. For the head, `decay` is summed
// over rows too, and `key` is the gradient by direct.
template <class V>
struct row_sums {
  using wide = typename composed_effect<V>::wide;
  wide decay{0}, key{0}, query{0};
};
template <class V>
WANE_HOST_DEVICE row_sums<V> added(row_sums<V> const& a, row_sums<V> const& b) {
  return {add(a.decay, b.decay), add(a.key, b.key), add(a.query, b.query)};
}

// Gradients by the terms of a token, summed over the columns of a tile. Their order: decays of all
// rows, keys, queries, direct. Terms that tokens lack are left out.
template <class Op>
struct token_sums {
  using Token = token_of<Op>;
  static constexpr bool decay =
      !std::same_as<decltype(decay_of(std::declval<Token>(), 0, index{})), no_decay> &&
      !constant_decays<Op>;
  static constexpr int kinds = decay + has_key<Token> + has_query<Token>;

  WANE_HOST_DEVICE static index numbers(index rows) { return kinds * rows + has_direct<Token>; }
};

// Bytes of workspace for sums. Each group of columns has one sum per tile where the recurrence is
// time-invariant, since these sums run over tokens too, and one sum per token otherwise.
template <class Op>
std::size_t bytes_of_sums(scan_plan const& plan) {
  using V = accumulate_type<Op>;
  auto const size = [](index count) { return static_cast<std::size_t>(count); };
  if constexpr (!gives_sums<Op>)
    return 0;
  else if constexpr (time_invariant<Op>)
    return size(plan.strips * plan.tiles * (plan.shape.rows + 1)) * sizeof(row_sums<V>);
  else
    return size(plan.strips * plan.shape.time * token_sums<Op>::numbers(plan.shape.rows)) *
           sizeof(V);
}

// Blocks of the kernel that adds up sums. Time-invariant: one block for each row of a head, and one
// for the head. Otherwise: one block for some tokens of a head, with 5 rows + 1 numbers for each
// token in shared memory (all_gradients).
inline constexpr std::size_t shared_bytes_of_sums = 48 * 1024;
template <class Op>
WANE_HOST_DEVICE index tokens_of_sums(index rows) {
  index const fit =
      static_cast<index>(shared_bytes_of_sums / sizeof(accumulate_type<Op>)) / (5 * rows + 1);
  return fit < 1 ? 1 : at_most(index{warp_size}, fit);
}
template <class Op>
index blocks_of_sums(scan_plan const& plan) {
  recurrence_shape const& shape = plan.shape;
  if constexpr (time_invariant<Op>) return shape.heads * (shape.rows + 1);
  index const tokens = tokens_of_sums<Op>(shape.rows);
  return plan.strips / plan.column_tiles * ((shape.time + tokens - 1) / tokens);
}

// Sum over the threads of a block; only thread 0 gets it. Passes two barriers.
template <class M, class V>
WANE_HOST_DEVICE row_sums<V> sum_of_block(M& machine, row_sums<V> sums, row_sums<V>* exchange) {
  int const thread = machine.thread();
  for (int by = 1; by < warp_size; by *= 2) {
    auto const lower = machine.shuffle_up(sums, by);
    if (thread % warp_size >= by) sums = added(lower, sums);
  }
  machine.barrier();
  if (thread % warp_size == warp_size - 1)
    machine.write_shared(exchange + thread / warp_size, sums);
  machine.barrier();
  if (thread == 0) {
    sums = machine.read_shared(exchange);
    for (int w = 1; w < M::threads / warp_size; ++w)
      sums = added(sums, machine.read_shared(exchange + w));
  }
  return sums;
}

// One block for each head and row: adds up the sums of all tiles in a fixed order and calls the
// sink.
template <machine M, class Arguments>
WANE_HOST_DEVICE void sum_tiles(M& machine, Arguments const& a, index block) {
  using Op = decltype(Arguments::op);
  using V = accumulate_type<Op>;
  using Sink = sink_of<decltype(Arguments::gradients), Op>;
  index const rows = a.plan.shape.rows, heads = a.plan.shape.heads;
  index const head = block / (rows + 1), i = block % (rows + 1);
  index const of_head = a.plan.column_tiles * a.plan.tiles;  // tiles of a row of the batch
  row_sums<V> sums;
  for (index n = machine.thread(); n < a.plan.strips / (heads * a.plan.column_tiles) * of_head;
       n += M::threads) {
    index const tile = (n / of_head * heads + head) * of_head + n % of_head;
    sums = added(sums, a.tile_sums[tile * (rows + 1) + i]);
  }
  sums = sum_of_block(machine, sums, reinterpret_cast<row_sums<V>*>(machine.shared()));
  if (machine.thread() != 0) return;
  auto const sink = sink_at(a.gradients, a.op, place<>{0, 0, head});
  auto const as_v = [](auto const& x) { return convert<V>(x); };
  if constexpr (takes_rows<Sink, V>)
    if (i < rows)
      sink.row(i, row_gradient<V>{as_v(sums.decay), as_v(sums.key), as_v(sums.query), V(0), V(0)});
  if constexpr (takes_tokens<Sink, V>)
    if (i == rows) sink.whole(token_gradient<V>{as_v(sums.decay), as_v(sums.key)});
}

// Calls the sink for a token, its rows first.
template <class Sink, class V>
WANE_HOST_DEVICE void give_token(Sink const& sink, all_gradients<V> const& g) {
  if constexpr (takes_rows<Sink, V>)
    for (index i = 0; i < g.rows; ++i)
      sink.row(
          i, row_gradient<V>{g.decay[i], g.key[i], g.query[i], g.erase_read[i], g.erase_write[i]});
  if constexpr (takes_tokens<Sink, V>) sink.whole(g.whole);
  if constexpr (takes_all<Sink, V>) sink.all(g);
}

// One block for some tokens of a head: sums over the groups of columns, in their order, and calls
// the sink for every token.
template <bool Packed, machine M, class Arguments>
WANE_HOST_DEVICE void sum_column_tiles(M& machine, Arguments const& a, index block) {
  using Op = decltype(Arguments::op);
  using V = accumulate_type<Op>;
  using wide = typename row_sums<V>::wide;
  using sums = token_sums<Op>;
  index const rows = a.plan.shape.rows, time = a.plan.shape.time, tiles = a.plan.column_tiles;
  index const most = tokens_of_sums<Op>(rows), blocks = (time + most - 1) / most;
  index const row_head = block / blocks, first = block % blocks * most;
  index const count = at_most(most, time - first);
  // Each token has five kinds of rows, as in all_gradients, and direct.
  index const room = 5 * rows + 1, each = sums::numbers(rows);
  V* const tokens = reinterpret_cast<V*>(machine.shared());
  bool const there[] = {sums::decay, has_key<token_of<Op>>,   has_query<token_of<Op>>, false,
                        false,       has_direct<token_of<Op>>};
  for (index n = machine.thread(); n < count * room; n += M::threads) {
    index const token = n / room, kind = n % room / rows;
    index number = n % room;
    for (index earlier = 0; earlier < kind; ++earlier)
      if (!there[earlier]) number -= rows;
    wide total{0};
    for (index c = 0; there[kind] && c < tiles; ++c)
      total =
          add(total,
              convert<wide>(
                  a.token_sums[((row_head * tiles + c) * time + first + token) * each + number]));
    machine.write_shared(tokens + n, convert<V>(total));
  }
  machine.barrier();
  if (machine.thread() >= count) return;
  V* const g = tokens + machine.thread() * room;
  wide decay{0};
  for (index i = 0; i < rows; ++i) decay = add(decay, convert<wide>(machine.read_shared(g + i)));
  token_gradient<V> const whole{convert<V>(decay), machine.read_shared(g + 5 * rows)};
  index const batch = row_head / a.plan.shape.heads, head = row_head % a.plan.shape.heads;
  sequence_cursor<Packed> const cursor(a.sequences, batch, first + machine.thread());
  auto const sink = sink_at(a.gradients, a.op, cursor.at(batch, head));
  give_token(sink, all_gradients<V>{rows, false, g, g + rows, g + 2 * rows, g + 3 * rows,
                                    g + 4 * rows, whole});
}

}  // namespace wane::cuda::impl
