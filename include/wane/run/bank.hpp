// Time-invariant recurrences: S constant decays at once, the states of a strip in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/unroll.hpp"
#include "wane/run/bank_constants.hpp"
#include "wane/run/columns.hpp"

namespace wane {

// How far ahead of their use values are fetched.
inline constexpr index prefetch_tokens = 8;

template <class Token>
concept has_prefetch = requires(Token x) {
  x.prefetch(index{});
};

// A strip of lanes over a piece of a walk: rows [row, row + S) of the bank. The first group of
// rows begins y with direct v, the last one writes it; between them y lies in `partial`.
template <int S, bool Stream, class Op, class Columns, class V, class Out>
WANE_HOST_INLINE void walk_bank_rows(Op const& op, walk const w, Columns const columns,
                                     bank_constants<typename V::scalar> const& constants, index row,
                                     V const (&factor)[S], V const (&rest)[S], V const (&weight)[S],
                                     V (&state)[S], V* partial, sequence_view<Out> const& output) {
  using T = typename V::scalar;
  constexpr bool splits = bank_constants<T>::splits;
  bool const begins = row == 0, ends = row + S >= constants.padded_rows();
  V const direct = V(constants.direct);
  // P tokens together: each constant is loaded once for all of them, and their sums run abreast.
  auto const tokens = [&]<int P>(std::integral_constant<int, P>, index k) WANE_INLINE_LAMBDA {
    V v[P], y[P], odd[P];
    unroll<P>([&](auto p) WANE_INLINE_LAMBDA {
      auto const x = op.at(w.token(k + p));
      if constexpr (has_prefetch<decltype(x)>)
        op.at(w.token(k + p + prefetch_tokens)).prefetch(columns.first);
      v[p] = x.value(columns);
      y[p] = begins ? direct * v[p] : partial[k + p];
      odd[p] = V(T(0));
    });
    constexpr int abreast = 2;
    unroll<S / abreast>([&](auto group) WANE_INLINE_LAMBDA {
      constexpr int first = group * abreast;
      V a[abreast], b[abreast], c[abreast];
      unroll<abreast>([&](auto n) WANE_INLINE_LAMBDA {
        a[n] = factor[first + n], c[n] = weight[first + n];
        if constexpr (splits) b[n] = rest[first + n];
      });
      unroll<P>([&](auto p) WANE_INLINE_LAMBDA {
        unroll<abreast>([&](auto n) WANE_INLINE_LAMBDA {
          V drive = v[p];
          if constexpr (splits) drive = multiply_add(state[first + n], b[n], drive);
          state[first + n] = multiply_add(state[first + n], a[n], drive);
        });
        unroll<abreast>([&](auto n) WANE_INLINE_LAMBDA {
          V& sum = n % 2 ? odd[p] : y[p];
          sum = multiply_add(state[first + n], c[n], sum);
        });
      });
    });
    unroll<P>([&](auto p) WANE_INLINE_LAMBDA {
      y[p] += odd[p];
      auto const at = w.token(k + p);
      if (!ends)
        partial[k + p] = y[p];
      else if constexpr (Stream)
        stream(output.element(at, 0) + columns.first, y[p]);
      else
        output.write(at, columns, y[p]);
    });
  };
  index k = 0;
  for (; k + 2 <= w.count; k += 2) tokens(std::integral_constant<int, 2>{}, k);
  if (k < w.count) tokens(std::integral_constant<int, 1>{}, k);
}

// Constant decays, the same for all columns, and values in lanes.
template <class Op>
concept runs_as_bank = time_invariant<Op> && reads_lanes<Op> && !decays_by_element<token_of<Op>> &&
                       !has_skip<token_of<Op>> && !normalised_recurrence<Op>;

// Columns [first, last) of a walk through the bank.
template <runs_as_bank Op, class T, class Out>
class bank_runner {
 public:
  static constexpr int width = simd_width<T>;
  // Tokens a strip of columns stays with: all, in cache; few when rows stream from memory, so that
  // they are read in order (the states then lie in cache between visits); some when the rows of the
  // bank need several passes, whose partial sums lie in cache.
  static constexpr index tokens_streaming = 8, tokens_in_passes = 256;
  using vector = simd<T, width>;

  bank_runner(Op const& op, sequence_view<Out> const& output, bank_constants<T> const& constants,
              bool streaming)
      : op_(op), output_(output), constants_(constants), streaming_(streaming) {}

  // load(s, j) gives the states before, if there are any, save(s, j, h) takes them after.
  template <class Load, class Save>
  void operator()(walk const& w, index first, index last, bool loads, Load const& load, bool saves,
                  Save const& save) const {
    index const rows = constants_.padded_rows(), strips = (last - first + width - 1) / width;
    std::vector<vector> held(static_cast<std::size_t>(rows * strips), vector(T(0)));
    auto const lane = [&](index s, index j) -> std::pair<vector&, index> {
      return {held[static_cast<std::size_t>((j - first) / width * rows + s)], (j - first) % width};
    };
    for (index i = 0; loads && i < rows; ++i)
      for (index j = first; j < last; ++j) {
        auto const [states, l] = lane(i, j);
        states.v[l] = load(constants_.row(i), j) / constants_.keys[static_cast<std::size_t>(i)];
      }
    walk_tiles(w, first, last, held.data());
    for (index s = 0; saves && s < constants_.rows(); ++s) {
      T const correction = constants_.last_correction(s, w.count);
      for (index j = first; j < last; ++j) {
        auto const [states, l] = lane(s, j);
        T const n = states.v[l];
        save(s, j, constants_.keys[static_cast<std::size_t>(s)] * (n + correction * n));
      }
    }
  }

 private:
  void walk_tiles(walk const& w, index first, index last, vector* held) const {
    index const rows = constants_.padded_rows(), whole = (last - first) / width;
    lanes<width> const columns{first};
    partial_lanes<width> const rest{first + whole * width,
                                    static_cast<int>((last - first) % width)};
    vector* const rest_states = held + whole * rows;
    if (rows <= bank_constants<T>::most_rows) {
      index const tile = streaming_ ? tokens_streaming : w.count;
      streaming_ ? pass<streamable<T, Out>>(w, 0, tile, columns, whole, 0, rows, held, nullptr)
                 : pass<false>(w, 0, tile, columns, whole, 0, rows, held, nullptr);
      if (rest.count) pass<false>(w, 0, w.count, rest, 1, 0, rows, rest_states, nullptr);
      return;
    }
    for (index k = 0; k < w.count; k += tokens_in_passes) {
      walk const part = w.part(k, tokens_in_passes);
      for (index strip = 0; strip < whole; ++strip)
        passes(part, k, lanes<width>{first + strip * width}, held + strip * rows);
      if (rest.count) passes(part, k, rest, rest_states);
    }
  }

  template <class Columns>
  void passes(walk const& part, index seen, Columns columns, vector* states) const {
    vector partial[tokens_in_passes];
    for (index row = 0, rows = constants_.padded_rows(); row < rows;) {
      index const some = std::min<index>(rows - row, bank_constants<T>::most_rows);
      pass<false>(part, seen, part.count, columns, 1, row, some, states, partial);
      row += some;
    }
  }

  template <bool Stream>
  void pass(walk const& w, index seen, index tile, auto columns, index strips, index row,
            index rows, vector* states, vector* partial) const {
    if constexpr (bank_constants<T>::most_rows == 16) {
      if (rows == 16) some_rows<16, Stream>(w, seen, tile, columns, strips, row, states, partial);
      if (rows == 12) some_rows<12, Stream>(w, seen, tile, columns, strips, row, states, partial);
    }
    if (rows == 8) some_rows<8, Stream>(w, seen, tile, columns, strips, row, states, partial);
    if (rows == 4) some_rows<4, Stream>(w, seen, tile, columns, strips, row, states, partial);
  }

  // Rows [row, row + S) over `strips` neighbouring vectors of columns; `seen` tokens came before.
  template <int S, bool Stream, class Columns>
  [[gnu::noinline]] void some_rows(walk const w, index seen, index tile, Columns const first,
                                   index strips, index row, vector* first_states,
                                   vector* partial) const {
    constexpr index period = bank_constants<T>::shortest_period;
    Op const op = op_;
    sequence_view<Out> const output = output_;
    index const rows = constants_.padded_rows();
    vector factor[S], rest[S], weight[S];
    for (int s = 0; s < S; ++s) {
      auto const i = static_cast<std::size_t>(row + s);
      factor[s] = vector(constants_.factor[i]);
      rest[s] = vector(constants_.rest[i]);
      weight[s] = vector(constants_.weight[i]);
    }
    for (index k = 0; k < w.count; k += tile) {
      walk const visit = w.part(k, tile);
      Columns columns = first;
      vector* states = first_states + row;
      for (index strip = 0; strip < strips; ++strip, states += rows, columns.first += width) {
        vector held[S];
        unroll<S>([&](auto s) WANE_INLINE_LAMBDA { held[s] = states[s]; });
        for (index n = 0; n < visit.count; n += period) {
          if (index const before = seen + k + n;
              !bank_constants<T>::splits && before > 0 && before % period == 0) {
            T const* const correction = constants_.corrections(before / period) + row;
            unroll<S>([&](auto s) WANE_INLINE_LAMBDA {
              held[s] = multiply_add(held[s], vector(correction[s]), held[s]);
            });
          }
          walk_bank_rows<S, Stream>(op, visit.part(n, period), columns, constants_, row, factor,
                                    rest, weight, held, partial ? partial + n : nullptr, output);
        }
        unroll<S>([&](auto s) WANE_INLINE_LAMBDA { states[s] = held[s]; });
      }
    }
  }

  Op const& op_;
  sequence_view<Out> const& output_;
  bank_constants<T> const& constants_;
  bool streaming_;
};

}  // namespace wane
