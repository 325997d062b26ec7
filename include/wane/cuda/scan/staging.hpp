// Copies tiles of tensors to shared memory, while other tiles are worked on, and out again.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/view.hpp"
#include "wane/cuda/scan/plan.hpp"

namespace wane::cuda::impl {

// The work of a block at a time: some tokens and columns of one head of one row of the batch.
struct tile {
  index strip, number;  // number of the tile in its strip
  index batch, head;
  index first_column, first_token;  // the latter in the order of the walk
  index first_time;                 // the earliest token
  int columns, tokens;              // within the tensor
};

// Tile `number` of a strip; `stride` is 1 forward and -1 in reverse.
WANE_HOST_DEVICE inline tile tile_at(scan_plan const& plan, index strip, index number, int stride) {
  index const row_head = strip / plan.column_tiles, time = plan.shape.time;
  tile part;
  part.strip = strip, part.number = number;
  part.batch = row_head / plan.shape.heads, part.head = row_head % plan.shape.heads;
  part.first_column = strip % plan.column_tiles << plan.columns_log2;
  part.first_token = number * plan.tile_tokens;
  index const columns = plan.shape.columns - part.first_column, tokens = time - part.first_token;
  part.columns = static_cast<int>(at_most(index{plan.columns()}, columns));
  part.tokens = static_cast<int>(at_most(index{plan.tile_tokens}, tokens));
  part.first_time = stride > 0 ? part.first_token : time - part.first_token - part.tokens;
  return part;
}

// Cuts a tile of a tensor into `count` contiguous rows of `row_bytes` bytes. A row has `units`
// units of 1 to 16 bytes.
struct tile_cut {
  int count, row_bytes, units, unit;
  bool by_number, joined;

  template <class T>
  WANE_HOST_DEVICE tile_cut(view<T, 4> const& x, tile const& part, int stride) {
    constexpr int size = sizeof(T);
    by_number = x.stride[3] != 1 && part.columns > 1;
    // Whole tokens that are contiguous in memory form one row.
    joined = !by_number && part.columns == stride && x.stride[1] == stride;
    count = joined ? 1 : part.tokens * (by_number ? part.columns : 1);
    row_bytes = size * (by_number ? 1 : joined ? part.tokens * part.columns : part.columns);
    auto const step = static_cast<std::uintptr_t>(joined ? 0 : x.stride[1] * size);
    auto const skip = static_cast<std::uintptr_t>(by_number ? x.stride[3] * size : 0);
    auto const all = reinterpret_cast<std::uintptr_t>(first(x, part)) | step | skip |
                     static_cast<std::uintptr_t>(row_bytes) |
                     static_cast<std::uintptr_t>(joined ? 0 : stride * size) | 16;
    unit = static_cast<int>(all & (~all + 1));
    units = row_bytes / unit;
  }

  template <class T>
  WANE_HOST_DEVICE static T* first(view<T, 4> const& x, tile const& part) {
    return x.element({part.batch, part.first_time, part.head}, part.first_column);
  }

  // Calls each(bytes in the tensor, bytes in the tile) for every unit of this thread.
  template <class T, class Each>
  WANE_HOST_DEVICE void for_units(view<T, 4> const& x, tile const& part, int stride, int thread,
                                  int threads, Each const& each) const {
    using byte = std::conditional_t<std::is_const_v<T>, std::byte const, std::byte>;
    byte* const start = reinterpret_cast<byte*>(first(x, part));
    if (units == 0) return;
    int const rows_on = threads / units, units_on = threads % units;
    int row = thread / units, at = thread % units;
    for (; row < count; row += rows_on, at += units_on) {
      if (at >= units) {
        at -= units;
        if (++row == count) return;
      }
      int const offset = at * unit;
      int const token = by_number ? row / part.columns : row;
      int const column = by_number ? row % part.columns : 0;
      each(start + (token * x.stride[1] + column * x.stride[3]) * static_cast<index>(sizeof(T)) +
               offset,
           (token * stride + column) * static_cast<int>(sizeof(T)) + offset, unit);
    }
  }
};

// Replaces the tensors that a token reads by column with copies of a tile of them.
template <class M>
struct stage_tensors {
  M& machine;
  tile part;
  int stride;   // numbers between tokens of a copy
  int numbers;  // that a copy has room for
  std::byte* to;
  std::size_t* used;
  bool copies;  // false: only returns views of the copies

  template <class T>
  WANE_HOST_DEVICE view<T, 4> by_column(view<T, 4> const& x) const {
    if (!x.data || part.tokens == 0) return x;
    // A tile with a column beyond the tensor (a denominator) is not copied but read in place.
    if (part.first_column + part.columns > x.extent[3]) return x;
    std::byte* const place = to + *used;
    *used += rounded_up(static_cast<std::size_t>(numbers) * sizeof(T));
    if (copies)
      tile_cut(x, part, stride)
          .for_units(x, part, stride, machine.thread(), M::threads,
                     [&](std::byte const* from, int offset, int unit) {
                       machine.copy(place + offset, from, unit);
                     });
    view<T, 4> near = x;
    near.stride[0] = near.stride[2] = 0, near.stride[1] = stride, near.stride[3] = 1;
    near.data = reinterpret_cast<T*>(place) - (part.first_time * stride + part.first_column);
    return near;
  }
  template <class View>
  WANE_HOST_DEVICE View whole(View const& x) const {
    return x;
  }
};

}  // namespace wane::cuda::impl
