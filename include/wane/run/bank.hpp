// Time-invariant recurrences: S constant decays at once, the states of a strip in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <vector>

#include "wane/core/unroll.hpp"
#include "wane/run/columns.hpp"

namespace wane {

// The constants of one head. The states are held divided by key: N <- lambda N + v, y += q c N.
// Rows come in fours: the last row may be there up to four times, with a share of its weight each.
// (A row of weight zero would turn an infinite value into NaN.)
template <class T>
class bank_constants {
 public:
  // Rows treated in one pass: as many states as fit the registers, in steps of four.
  static constexpr int most_rows = simd_bytes == 64 ? 16 : 8;
  // States are corrected for the rounding of their factors every 16 tokens or, where a correction
  // so small would itself be rounded away, every 16 * 2^level. Where a product is rounded before
  // the sum, factors near one would lose more: there they are split.
  static constexpr index shortest_period = 16;
  static constexpr int levels = 11;
  static constexpr bool splits = !simd_contracts;

  template <class Op>
  bank_constants(Op const& op, index head) : rows_(recurrence_shape(op.shape()).rows) {
    auto const x = op.at(place<>{0, 0, head});
    using Token = std::remove_const_t<decltype(x)>;
    index const padded = (rows_ + 3) / 4 * 4;
    for (index i = 0; i < padded; ++i) {
      index const s = row(i);
      T key(1), query(1);
      if constexpr (has_key<Token>) key = T(x.key(s));
      if constexpr (has_query<Token>) query = T(x.query(s));
      auto const w = row_decay(x, s);
      factor.push_back(splits ? w.whole : factor_of(w));
      rest.push_back(w.rest);
      weight.push_back(query * key * share_of(i));
      keys.push_back(key);
      queries.push_back(query);
      // log of the decay over its rounded factor, exact to double's rounding of a number near 1
      double const lost = (static_cast<double>(w.whole) - static_cast<double>(factor.back())) +
                          static_cast<double>(w.rest);
      log_error_.push_back(splits || factor.back() == T(0)
                               ? 0.0
                               : std::log1p(lost / static_cast<double>(factor.back())));
      double const decay = static_cast<double>(w.whole) + static_cast<double>(w.rest);
      period_.push_back(period_of(decay, recurrence_shape(op.shape()).time));
    }
    if constexpr (has_direct<Token>) direct = x.direct();
    for (int level = 0; level < levels; ++level)
      for (index s = 0; s < padded; ++s) {
        index const period = period_[static_cast<std::size_t>(s)];
        correction_.push_back(period <= shortest_period << level ? correction_after(s, period)
                                                                 : T(0));
      }
  }

  // What the states of all rows gain, relative to themselves, when so many shortest periods have
  // gone by.
  T const* corrections(index periods) const {
    int const level = std::min(std::countr_zero(static_cast<std::uint64_t>(periods)), levels - 1);
    return correction_.data() + level * padded_rows();
  }
  // The same for row s after the last of all tokens.
  T last_correction(index s, index tokens) const {
    index const period = period_[static_cast<std::size_t>(s)];
    return correction_after(s, tokens == 0 ? 0 : (tokens - 1) % period + 1);
  }

  // The scaled state loses nothing: no row has key 0 under a state, and no row resets.
  bool usable(bool with_initial_state) const {
    for (std::size_t i = 0; i < factor.size(); ++i) {
      bool const vanishes = weight[i] == T(0) && keys[i] != T(0) && queries[i] != T(0);
      if (!std::isfinite(weight[i]) || vanishes) return false;
      if (factor[i] == T(0) || !(std::abs(factor[i]) <= T(2))) return false;
      if (with_initial_state && !(std::abs(keys[i]) >= T(1e-6))) return false;
    }
    return true;
  }

  index rows() const { return rows_; }
  index padded_rows() const { return static_cast<index>(factor.size()); }
  // The row that stands in place i.
  index row(index i) const { return i < rows_ ? i : rows_ - 1; }

  std::vector<T> factor, rest, weight, keys, queries;
  T direct = T(0);

 private:
  // exp(tokens * log_error) - 1
  T correction_after(index s, index tokens) const {
    return static_cast<T>(
        std::expm1(static_cast<double>(tokens) * log_error_[static_cast<std::size_t>(s)]));
  }

  // About the root of the memory min(T, 1 / (1 - |decay|)). What the factor's rounding adds up to
  // until then and what the correction's own rounding adds up to in a whole memory are then alike,
  // and as large as the root of the memory allows.
  static index period_of(double decay, index time) {
    double const memory = 1 / std::max(1 - std::abs(decay), 1e-12);
    double const root = std::sqrt(std::min(memory, static_cast<double>(time)));
    int level = 0;
    while (level < levels - 1 && static_cast<double>(shortest_period << (level + 1)) <= root)
      ++level;
    return shortest_period << level;
  }

  template <class Token>
  static split_decay<T> row_decay(Token const& x, index s) {
    auto const w = decay_of(x, s, index{0});
    if constexpr (std::is_same_v<std::remove_const_t<decltype(w)>, split_decay<T>>)
      return w;
    else if constexpr (std::is_same_v<std::remove_const_t<decltype(w)>, no_decay>)
      return {T(1), T(0)};
    else
      return {w.factor, T(0)};
  }

  // Shares are powers of two that add up to 1: 1/2 twice, 1/2 and 1/4 twice, or 1/4 four times.
  T share_of(index i) const {
    index const copies = (4 - rows_ % 4) % 4 + 1;
    if (i < rows_ - 1 || copies == 1) return T(1);
    return copies == 2 || (copies == 3 && i == rows_ - 1) ? T(0.5) : T(0.25);
  }

  index rows_;
  std::vector<double> log_error_;
  std::vector<index> period_;
  std::vector<T> correction_;  // [levels, padded rows]
};

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
      else if constexpr (Stream && std::is_same_v<T, Out>)
        stream(output.element(at, 0) + columns.first, y[p]);
      else
        output.write(at, columns, y[p]);
    });
  };
  index k = 0;
  for (; k + 2 <= w.count; k += 2) tokens(std::integral_constant<int, 2>{}, k);
  if (k < w.count) tokens(std::integral_constant<int, 1>{}, k);
}

// Columns [first, last) of a walk through the bank.
template <time_invariant Op, class T, class Out>
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
      streaming_ ? pass<true>(w, 0, tile, columns, whole, 0, rows, held, nullptr)
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
