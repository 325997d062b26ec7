// What a warp does with its columns of the state while tokens pass in chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunk_pairs.hpp"

namespace wane::cuda {

// A block takes some columns of a head of a sequence through time; each of its warps has 16 of
// them, and a state of theirs, transposed, in its registers from the first chunk to the last.
template <class Config, class Precision, machine M, class Arguments>
class chunk_warp : protected chunk_pairs<Config, Precision, M, Arguments> {
  using base = chunk_pairs<Config, Precision, M, Arguments>;

 protected:
  using base::a_, base::at_, base::machine_, base::products_;
  using base::tokens, base::fades, base::by_row, base::erases, base::general;
  using typename base::Token, typename base::products, typename base::tile, typename base::stored;
  static constexpr int tiles = Config::most_rows / 8, of_factor = products::tiles;

  WANE_HOST_DEVICE chunk_warp(M& machine, Arguments const& a) : base(machine, a) {}

  // What two products by all of the chunk's tokens give: [16 columns][16 tokens].
  struct token_tiles {
    tile of[2] = {};
  };

  // What a warp has in registers: a variable of its own, whose address nobody takes.
  using warp_state = tile[tiles];

  // walk(n) for every piece of work, n counting those of a sequence, a head and a piece.
  template <class Walk>
  WANE_INLINE void for_work(index pieces, Walk const& walk) {
    auto const items = static_cast<std::uint64_t>(a_.work_items());
    for (std::uint64_t ticket; (ticket = take()) < items;) {
      auto const item = static_cast<index>(ticket), line = item / pieces;
      index const sequence = line / a_.shape.heads;
      piece_ = item % pieces, head_ = line % a_.shape.heads, sequence_ = sequence % a_.states;
      walk(sequence / a_.states);
    }
  }
  WANE_HOST_DEVICE index first_column() const { return piece_ * Config::columns; }

  // Where the numbers of a chunk of this block's head are kept.
  WANE_HOST_DEVICE index place_of_chunk(index first_token) const {
    return (first_chunk(a_.sequences, sequence_) + first_token / tokens) * a_.shape.heads + head_;
  }
  // Number e of tile r of the state kept before a chunk.
  WANE_INLINE stored* kept(index place, int r, int e) const {
    return in_pieces(a_.kept, place, a_.pieces, r, e);
  }
  // The same in states of whole rows and so many pieces, one after the other.
  template <class X>
  WANE_INLINE X* in_pieces(X* states, index place, index pieces, int r, int e) const {
    index const i = 8 * r + products_.column() + e % 2, columns = pieces * Config::columns;
    return states + (place * at_.rows + i) * columns + first_column() + column_of_number(e);
  }

  // body(k, its first row) for the factors of a product that have rows.
  template <class Body>
  WANE_INLINE void for_factors(Body const& body) const {
    unroll<tiles / of_factor>([&](auto k) WANE_INLINE_LAMBDA {
      if (k * of_factor * 8 < at_.rows) body(k, k * of_factor * 8);
    });
  }
  template <class Body>
  WANE_INLINE void for_tiles(Body const& body) const {
    unroll<tiles>([&](auto r) WANE_INLINE_LAMBDA {
      if (8 * r < at_.rows) body(r);
    });
  }
  template <class Body>
  WANE_INLINE static void for_numbers(Body const& body) {
    for (int n = 0; n < 2; ++n)
      for (int e = 0; e < 4; ++e) body(n, e);
  }
  WANE_HOST_DEVICE int token_of_number(int n, int e) const {
    return 8 * n + products_.column() + e % 2;
  }
  WANE_HOST_DEVICE int column_of_number(int e) const {
    return machine_.thread() / warp_size * 16 + products_.row() + 8 * (e / 2);
  }

  // This warp's columns of an array [token][column], and back.
  WANE_INLINE token_tiles columns_of(std::size_t array) const {
    token_tiles x;
    for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
      x.of[n].of[e] = this->template get<float>(array, place_of_number(n, e));
    });
    return x;
  }
  WANE_INLINE void put_columns(std::size_t array, token_tiles const& x) const {
    for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
      this->template put<float>(array, place_of_number(n, e), x.of[n].of[e]);
    });
  }

  // to += what reads the rows from `row` on, [token][row], of the state s.
  WANE_INLINE void add_reads(token_tiles& to, typename products::left const& s, std::size_t reads,
                             int row) const {
    for (int n = 0; n < 2; ++n)
      products_.add(to.of[n], s,
                    this->template shared<stored const>(reads) + 8 * n * at_.stride + row,
                    at_.stride);
  }
  // The same of what was written, [row][token].
  WANE_INLINE void add_writes(token_tiles& to, typename products::left const& s, std::size_t writes,
                              int row) const {
    for (int n = 0; n < 2; ++n)
      products_.add_transposed(
          to.of[n], s, this->template shared<stored const>(writes) + row * chunk_stride + 8 * n,
          chunk_stride);
  }
  // to += x by the products [t][s] of the chunk's tokens, summed over s; or over t, `back`.
  template <bool back = false>
  WANE_INLINE void add(token_tiles& to, token_tiles const& x, std::size_t pairs) const {
    for (int k = 0; k < 2; k += of_factor) {
      auto const a = products_.left_of(x.of + k);
      auto const* const from = this->template shared<float const>(pairs);
      for (int n = 0; n < 2; ++n)
        if constexpr (back)
          products_.add_transposed(to.of[n], a, from + 8 * k * chunk_stride + 8 * n, chunk_stride);
        else
          products_.add(to.of[n], a, from + 8 * n * chunk_stride + 8 * k, chunk_stride);
    }
  }
  template <bool back = false>
  WANE_INLINE token_tiles product(token_tiles const& x, std::size_t pairs) const {
    token_tiles sum;
    add<back>(sum, x, pairs);
    return sum;
  }
  // The state takes x of every token, by `factors`, [row][token] or, `back`, [token][row]. It is
  // not the unit that adds: its sums are cut off, not rounded, which over thousands of chunks would
  // go one way.
  template <bool back = false>
  WANE_INLINE void write(warp_state& state, token_tiles const& x, std::size_t factors) const {
    typename products::left a[2 / of_factor];
    for (int k = 0; k < 2 / of_factor; ++k) a[k] = products_.left_of(x.of + k * of_factor);
    auto const* const from = this->template shared<stored const>(factors);
    for_tiles([&](auto r) WANE_INLINE_LAMBDA {
      tile sum = {};
      for (int k = 0; k < 2 / of_factor; ++k)
        if constexpr (back)
          products_.add_transposed(sum, a[k], from + 8 * of_factor * k * at_.stride + 8 * r,
                                   at_.stride);
        else
          products_.add(sum, a[k], from + 8 * r * chunk_stride + 8 * of_factor * k, chunk_stride);
      for (int e = 0; e < 4; ++e) state[r].of[e] += sum.of[e];
    });
  }
  // From what the tokens would erase of the state alone, what they erase and what they write.
  WANE_INLINE void erase(token_tiles const& value, token_tiles& erased,
                         token_tiles& written) const {
    if constexpr (general) {
      add(erased, value, at_.read_key);
      erased = product(erased, at_.inverse);
    } else {
      for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
        written.of[n].of[e] = value.of[n].of[e] - erased.of[n].of[e];
      });
      written = product(written, at_.inverse);
    }
  }
  // x of every token by the decays of its head.
  WANE_INLINE token_tiles scaled(token_tiles x, std::size_t by_token) const {
    if constexpr (fades && !by_row)
      for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
        x.of[n].of[e] *= this->template get<float>(by_token, token_of_number(n, e));
      });
    return x;
  }
  WANE_INLINE void fade(warp_state& state) const {
    if constexpr (fades)
      for_tiles([&](auto r) WANE_INLINE_LAMBDA {
        for (int e = 0; e < 4; ++e) {
          int const i = by_row ? 8 * r + products_.column() + e % 2 : 0;
          split_decay<float> const w = {this->template get<float>(at_.whole, i),
                                        this->template get<float>(at_.rest, i)};
          state[r].of[e] = carried(w, state[r].of[e], 0.f);
        }
      });
  }

  // The state of this block's sequence and head, zero where there is none.
  template <class X>
  WANE_INLINE void load(warp_state& state, view<X, 4> const& from) const {
    unroll<tiles>([&](auto r) WANE_INLINE_LAMBDA { state[r] = {}; });
    if (from.data)
      for_state(state, [&](float& x, index i, index j) WANE_INLINE_LAMBDA {
        x = static_cast<float>(from(sequence_, head_, i, j));
      });
  }
  template <class X>
  WANE_INLINE void save(warp_state& state, view<X, 4> const& to) const {
    if (to.data)
      for_state(state, [&](float& x, index i, index j)
                           WANE_INLINE_LAMBDA { to(sequence_, head_, i, j) = static_cast<X>(x); });
  }

  // Number e of tile r of the state that segment n of a walk begins with.
  WANE_INLINE float* before(index n, int r, int e) const {
    index const place = (n * a_.states + sequence_) * a_.shape.heads + head_;
    return in_pieces(a_.segments.states, place, a_.pieces + a_.segments.unit_pieces, r, e);
  }
  // That state: for effects, where all but the first begin with none, and then for the outputs. The
  // first is read from `initial` once, whose memory may be that of what the last leaves.
  template <class X>
  WANE_INLINE void begin(warp_state& state, view<X, 4> const& initial, index n) const {
    using part = chunk_segments::part;
    if (a_.segments.now != part::outputs) load(state, n == 0 ? initial : view<X, 4>{});
    if (a_.segments.now == part::effects && n == 0) leave(state, 0);
    if (a_.segments.now == part::outputs)
      unroll<tiles>([&](auto r) WANE_INLINE_LAMBDA {
        state[r] = {};
        for (int e = 0; e < 4 && 8 * r < at_.rows; ++e) state[r].of[e] = *before(n, r, e);
      });
  }
  WANE_INLINE void leave(warp_state const& state, index n) const {
    for_tiles([&](auto r) WANE_INLINE_LAMBDA {
      for (int e = 0; e < 4; ++e) *before(n, r, e) = state[r].of[e];
    });
  }

  index sequence_ = 0, head_ = 0, piece_ = 0;

 private:
  // The next piece of work.
  WANE_HOST_DEVICE std::uint64_t take() {
    machine_.barrier();
    if (machine_.thread() == 0)
      this->template put<std::uint64_t>(at_.ticket, 0, machine_.take(a_.counters));
    machine_.barrier();
    return this->template get<std::uint64_t>(at_.ticket, 0);
  }

  WANE_HOST_DEVICE int place_of_number(int n, int e) const {
    return this->value_at(token_of_number(n, e), column_of_number(e));
  }

  // body(number, row, column) of the state that there is.
  template <class Body>
  WANE_INLINE void for_state(warp_state& state, Body const& body) const {
    for_tiles([&](auto r) WANE_INLINE_LAMBDA {
      for (int e = 0; e < 4; ++e) {
        index const i = 8 * r + products_.column() + e % 2;
        index const j = first_column() + column_of_number(e);
        if (i < a_.shape.rows && j < a_.shape.columns) body(state[r].of[e], i, j);
      }
    });
  }
};

}  // namespace wane::cuda
