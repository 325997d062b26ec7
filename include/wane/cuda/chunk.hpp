// The chunk kernel: memories with keys, 16 tokens at a time, by products of matrices.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunk_pairs.hpp"

namespace wane::cuda {

// A block takes some columns of a head of a sequence through time; each of its warps has 16 of
// them, and their state, transposed, in its registers from the first token to the last.
template <class Config, class Precision, machine M, class Op, class Out, class State>
class chunk_walk : chunk_pairs<Config, Precision, M, chunk_arguments<Op, Out, State>> {
  using base = chunk_pairs<Config, Precision, M, chunk_arguments<Op, Out, State>>;
  using base::a_, base::at_, base::machine_, base::products_;
  using base::tokens, base::fades, base::by_row, base::erases, base::general;
  using typename base::Token, typename base::products, typename base::tile, typename base::stored;
  static constexpr int tiles = Config::most_rows / 8, of_factor = products::tiles;

 public:
  WANE_HOST_DEVICE chunk_walk(M& machine, chunk_arguments<Op, Out, State> const& a)
      : base(machine, a) {}

  WANE_HOST_DEVICE void operator()() {
    auto const items = static_cast<std::uint64_t>(a_.work_items());
    for (std::uint64_t ticket; (ticket = take()) < items;) {
      auto const item = static_cast<index>(ticket), line = item / a_.pieces;
      first_column_ = item % a_.pieces * Config::columns;
      head_ = line % a_.shape.heads, sequence_ = line / a_.shape.heads;
      walk();
    }
    write_positions(machine_, a_, a_.counters + 1,
                    this->template shared<std::uint64_t>(at_.ticket) + 1);
  }

 private:
  // What two products by all of the chunk's tokens give: [16 columns][16 tokens].
  struct token_tiles {
    tile of[2] = {};
  };

  // What a warp has in registers: a variable of its own, whose address nobody takes.
  using warp_state = tile[tiles];

  // The next piece of work.
  WANE_HOST_DEVICE std::uint64_t take() {
    machine_.barrier();
    if (machine_.thread() == 0)
      this->template put<std::uint64_t>(at_.ticket, 0, machine_.take(a_.counters));
    machine_.barrier();
    return this->template get<std::uint64_t>(at_.ticket, 0);
  }

  WANE_INLINE void walk() {
    sequence_list const& all = a_.sequences;
    index const begin = all.starts ? all.starts[sequence_] : 0, count = all.length(sequence_);
    index const seen = all.positions ? all.positions[sequence_] : 0;
    index const batch = all.starts ? 0 : sequence_;
    auto const place_of = [&](index k) WANE_INLINE_LAMBDA {
      return place<>{batch, begin + (all.stride > 0 ? k : count - 1 - k), head_, seen + k + 1};
    };
    warp_state state;
    load(state);
    int one_by_one = 0;  // tokens that are to be taken so
    for (index k = 0; k < count;) {
      int const n = one_by_one > 0 ? 1 : static_cast<int>(at_most(index{tokens}, count - k));
      bool const present = this->token() < n;
      auto const found = this->bring(place_of(k + this->token()), present, first_column_);
      // A product with a decay of 0 is a reset only of finite numbers, and one with a token that is
      // not read is 0 only of these.
      bool const resets = machine_.any(found.resets || (n > 1 && !found.finite()));
      if (resets && n > 1) {
        one_by_one = n;
        continue;
      }
      this->prepare(resets);
      advance(state, resets);
      machine_.barrier();
      if (present)
        for (int j = this->lane(); j < Config::columns; j += base::lanes)
          if (first_column_ + j < a_.shape.columns)
            a_.output.write(place_of(k + this->token()), first_column_ + j,
                            this->template get<float>(at_.value, this->value_at(this->token(), j)));
      k += n, one_by_one -= one_by_one > 0;
    }
    save(state);
  }

  // The chunk that is prepared, through the columns of this warp.
  WANE_INLINE void advance(warp_state& state, bool alone) {
    token_tiles read, erased;
    if (alone) {
      if constexpr (erases)
        for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
          tile s[of_factor];
          unroll<of_factor>([&](auto n) WANE_INLINE_LAMBDA {
            s[n] = where_read(state[k * of_factor + n], row + 8 * n);
          });
          add_reads(erased, products_.left_of(s), at_.reads[1], row);
        });
      fade(state);
    }
    for_factors([&](auto k, int row) WANE_INLINE_LAMBDA {
      auto const s = products_.left_of(state + k * of_factor);
      if constexpr (erases)
        if (!alone) add_reads(erased, s, at_.reads[1], row);
      add_reads(read, s, at_.reads[0], row);
    });
    if constexpr (fades && !by_row) {
      scale(read, at_.to_token);
      if constexpr (erases) scale(erased, at_.before_token);
    }
    token_tiles const value = values();
    token_tiles written = value;
    if constexpr (general) {
      add(erased, value, at_.read_key);
      erased = product(erased, at_.inverse);
      add(read, erased, at_.query_write);
    } else if constexpr (erases) {
      for_numbers([&](int n, int e) { written.of[n].of[e] -= erased.of[n].of[e]; });
      written = product(written, at_.inverse);
    }
    add(read, written, at_.query_key);
    if constexpr (has_direct<Token>)
      for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
        float const direct = this->template get<float>(at_.direct, token_of_number(n, e));
        read.of[n].of[e] = multiply_add(direct, value.of[n].of[e], read.of[n].of[e]);
      });
    if (!alone) fade(state);
    write(state, written, at_.writes[0]);
    if constexpr (general) write(state, erased, at_.writes[1]);
    for_numbers(
        [&](int n, int e) { machine_.write_shared(place_of_number(n, e), read.of[n].of[e]); });
  }

  // A tile of the state, but for rows that a token which resets does not read to erase.
  WANE_INLINE tile where_read(tile s, int row) const {
    for (int e = 0; e < 4; ++e)
      if (this->template get<float>(at_.read, row + products_.column() + e % 2) == 0.f)
        s.of[e] = 0.f;
    return s;
  }

  // body(k, its first row) for the factors of a product that have rows.
  template <class Body>
  WANE_INLINE void for_factors(Body const& body) const {
    unroll<tiles / of_factor>([&](auto k) WANE_INLINE_LAMBDA {
      if (k * of_factor * 8 < at_.rows) body(k, k * of_factor * 8);
    });
  }
  WANE_INLINE void add_reads(token_tiles& to, typename products::left const& s, std::size_t reads,
                             int row) const {
    for (int n = 0; n < 2; ++n)
      products_.add(to.of[n], s,
                    this->template shared<stored const>(reads) + 8 * n * at_.stride + row,
                    at_.stride);
  }
  // to += x by the products [t][s] of the chunk's tokens, summed over s.
  WANE_INLINE void add(token_tiles& to, token_tiles const& x, std::size_t pairs) const {
    for (int k = 0; k < 2; k += of_factor) {
      auto const a = products_.left_of(x.of + k);
      for (int n = 0; n < 2; ++n)
        products_.add(to.of[n], a,
                      this->template shared<float const>(pairs) + 8 * n * chunk_stride + 8 * k,
                      chunk_stride);
    }
  }
  WANE_INLINE token_tiles product(token_tiles const& x, std::size_t pairs) const {
    token_tiles sum;
    add(sum, x, pairs);
    return sum;
  }
  // The state takes what the tokens write. It is not the unit that adds: its sums are cut off, not
  // rounded, which over thousands of chunks would go one way.
  WANE_INLINE void write(warp_state& state, token_tiles x, std::size_t writes) const {
    if constexpr (fades && !by_row) scale(x, at_.to_end);
    typename products::left a[2 / of_factor];
    for (int k = 0; k < 2 / of_factor; ++k) a[k] = products_.left_of(x.of + k * of_factor);
    for_tiles([&](auto r) WANE_INLINE_LAMBDA {
      tile sum = {};
      for (int k = 0; k < 2 / of_factor; ++k)
        products_.add(
            sum, a[k],
            this->template shared<stored const>(writes) + 8 * r * chunk_stride + 8 * of_factor * k,
            chunk_stride);
      for (int e = 0; e < 4; ++e) state[r].of[e] += sum.of[e];
    });
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
  WANE_HOST_DEVICE float* place_of_number(int n, int e) const {
    return this->template shared<float>(at_.value) +
           this->value_at(token_of_number(n, e), column_of_number(e));
  }
  WANE_INLINE token_tiles values() const {
    token_tiles v;
    for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
      v.of[n].of[e] = machine_.read_shared(static_cast<float const*>(place_of_number(n, e)));
    });
    return v;
  }
  WANE_INLINE void scale(token_tiles& x, std::size_t by_token) const {
    for_numbers([&](int n, int e) WANE_INLINE_LAMBDA {
      x.of[n].of[e] *= this->template get<float>(by_token, token_of_number(n, e));
    });
  }

  // body(number, row, column) of the state that there is.
  template <class Body>
  WANE_INLINE void for_state(warp_state& state, Body const& body) const {
    for_tiles([&](auto r) WANE_INLINE_LAMBDA {
      for (int e = 0; e < 4; ++e) {
        index const i = 8 * r + products_.column() + e % 2;
        index const j = first_column_ + column_of_number(e);
        if (i < a_.shape.rows && j < a_.shape.columns) body(state[r].of[e], i, j);
      }
    });
  }
  WANE_INLINE void load(warp_state& state) const {
    unroll<tiles>([&](auto r) WANE_INLINE_LAMBDA { state[r] = {}; });
    if (a_.initial.data)
      for_state(state, [&](float& x, index i, index j) WANE_INLINE_LAMBDA {
        x = static_cast<float>(a_.initial(sequence_, head_, i, j));
      });
  }
  WANE_INLINE void save(warp_state& state) const {
    if (a_.final.data)
      for_state(state, [&](float& x, index i, index j) WANE_INLINE_LAMBDA {
        a_.final(sequence_, head_, i, j) = static_cast<State>(x);
      });
  }

  index sequence_ = 0, head_ = 0, first_column_ = 0;
};

}  // namespace wane::cuda
