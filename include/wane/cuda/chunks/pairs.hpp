// What the tokens of a chunk mean to each other, the same for all columns of the state.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/cuda/chunks/terms.hpp"

namespace wane::cuda::impl {

// One thread of a block. The recurrence of a chunk is that of micro_chunk.hpp. Everything that is
// multiplied by decays is a ratio P_t / P_s of two tokens of the chunk, s before t, the product of
// the decays between: it never exceeds those. Rows that fade by themselves have such ratios within
// sums over rows: there the pairs (t, s) go in halves. Between the tokens of the first and the
// second half of 16, 8, 4 or 2 tokens lies a last token m of the first, and P_t / P_s is P_t / P_m,
// a factor of what reads, times P_m / P_s, one of what was written: so all are products of
// matrices.
template <class Config, class Precision, machine M, class Arguments>
class chunk_pairs : protected chunk_terms<Config, Precision, M, Arguments> {
  using base = chunk_terms<Config, Precision, M, Arguments>;

 protected:
  using base::a_, base::at_, base::machine_, base::rows, base::stride;
  using base::tokens, base::by_row, base::erases, base::general, base::fades, base::in_logs;
  using typename base::Token, typename base::sight, typename base::row_terms;
  using products = unit_products<Precision, M>;
  using fragment = typename products::fragment;
  using stored = typename Precision::stored;

  WANE_HOST_DEVICE chunk_pairs(M& machine, Arguments const& a)
      : base(machine, a), products_(machine) {}

  WANE_INLINE static int value_at(int token, int column) {
    return token * column_stride<Config> + column;
  }
  // body(j, a constant n) for the n-th column of this thread, j of the block's.
  template <class Body>
  WANE_INLINE void for_columns(Body const& body) const {
    static_assert(Config::columns % base::lanes == 0);
    unroll<Config::columns / base::lanes>(
        [&](auto n) WANE_INLINE_LAMBDA { body(this->lane() + n * base::lanes, n); });
  }

  // Brings the token at `where`, with the columns from `first` on; one that is not present has
  // zeros, and the place of one that is. Where `all` are present, less is asked.
  WANE_INLINE sight bring(place<> where, bool present, bool all, index first) const {
    sight seen;
    int const there = static_cast<int>(at_most(a_.shape.columns - first, index{Config::columns}));
    Token const x = this->token_at(where);
    this->whole_or_not(all && there == Config::columns, [&](auto whole) WANE_INLINE_LAMBDA {
      float value[Config::columns / base::lanes];
      for_columns([&](int j, auto n) WANE_INLINE_LAMBDA {
        value[n] = seen.note(x.value(first + (whole() ? j : at_most(j, there - 1))));
      });
      this->bring_rows(x, present, whole, seen,
                       [&](int i, row_terms const& r) WANE_INLINE_LAMBDA { put_row(i, r); });
      for_columns([&](int j, auto n) WANE_INLINE_LAMBDA {
        this->template put<float>(at_.value, value_at(this->token(), j),
                                  whole() || (present && j < there) ? value[n] : 0.f);
      });
    });
    if constexpr (has_direct<Token>)
      if (this->lane() == 0)
        this->template put<float>(at_.direct, this->token(), present ? seen.note(x.direct()) : 0.f);
    return seen;
  }

  // What is done about decays of 0: `resets` where there is one; `alone` where the chunk is one
  // token with such a decay, and what is read of the state has faded already.
  struct resetting {
    bool resets, alone;
  };

  // All that the columns need of a chunk. Begins and ends behind a barrier.
  WANE_INLINE void prepare(resetting how) const {
    if constexpr (by_row) {
      for (int i = machine_.thread(); i < rows; i += Config::threads) scale_row(i, how);
      multiply_pairs<0>();
      for_halves([&](auto half) WANE_INLINE_LAMBDA {
        for (int i = machine_.thread(); i < rows; i += Config::threads) near_row<half>(i);
        machine_.barrier();
        multiply_pairs<half>();
        machine_.barrier();
      });
    } else {
      if (machine_.thread() < tokens) scale_token(machine_.thread(), how);
      multiply_pairs<tokens>();
      machine_.barrier();
    }
    if constexpr (erases) {
      if (machine_.thread() < tokens) invert(machine_.thread());
      machine_.barrier();
    }
  }

  static constexpr int warps = Config::threads / warp_size;

  // The products of all tokens by the tokens 8 n ... 8 n + 7, sums over `length` numbers of each.
  template <class X, int length, int row_step>
  WANE_INLINE fragment pairs(std::size_t left, std::size_t right, int n) const {
    fragment sum = {};
    unroll<length / (8 * products::fragments)>([&](auto part) WANE_INLINE_LAMBDA {
      constexpr int i = part * 8 * products::fragments;
      products_.add(sum, products_.read_left(this->template shared<X const>(left) + i, row_step),
                    this->template shared<X const>(right) + 8 * n * row_step + i, row_step);
    });
    return sum;
  }

  products products_;

 private:
  // Of a row that fades, the terms; of a head, they are what reads the state and is written.
  WANE_INLINE void put_row(int i, row_terms const& r) const {
    int const from = this->token() * stride + i, to = i * chunk_stride + this->token();
    if constexpr (by_row) {
      this->template put<float>(at_.query, from, r.query);
      this->template put<float>(at_.key, from, r.key);
      if constexpr (erases) this->template put<float>(at_.read, from, r.read);
      if constexpr (general) this->template put<float>(at_.write, from, r.write);
      this->template put<float>(at_.decay, from, r.decay);
    } else {
      this->template put<stored>(at_.faded_query, from, r.query);
      this->template put<stored>(at_.key, from, r.key);
      this->template put<stored>(at_.faded_key, to, r.key);
      if constexpr (erases) this->template put<stored>(at_.faded_read, from, r.read);
      if constexpr (general) {
        this->template put<stored>(at_.write, from, r.write);
        this->template put<stored>(at_.faded_write, to, r.write);
      }
    }
  }

  // Row i of what reads the state before the chunk, and of what goes into the one after it.
  WANE_INLINE void scale_row(int i, resetting how) const {
    float w[tokens], p = 1.f, whole = in_logs ? 0.f : 1.f;
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
      int const from = t * stride + i;
      float const stated = this->template get<float>(at_.decay, from);
      whole = in_logs ? whole + stated : whole * stated;
      this->template put<float>(at_.decay, from, w[t] = this->factor(stated));
      if constexpr (erases)
        this->template put<stored>(at_.faded_read, from,
                                   this->template get<float>(at_.read, from) * p);
      if (!how.alone) p *= w[t];
      this->template put<stored>(at_.faded_query, from,
                                 this->template get<float>(at_.query, from) * p);
    });
    put_whole(i, whole, how);
    p = 1.f;
    unroll<tokens>([&](auto n) WANE_INLINE_LAMBDA {
      constexpr int t = tokens - 1 - n;
      int const from = t * stride + i, to = i * chunk_stride + t;
      this->template put<stored>(at_.faded_key, to, this->template get<float>(at_.key, from) * p);
      if constexpr (general)
        this->template put<stored>(at_.faded_write, to,
                                   this->template get<float>(at_.write, from) * p);
      p *= w[t];
    });
  }
  // The same for a head: factors of token t.
  WANE_INLINE void scale_token(int t, resetting how) const {
    if constexpr (fades) {
      float before = 1.f, end = 1.f, whole = in_logs ? 0.f : 1.f;
      unroll<tokens>([&](auto u) WANE_INLINE_LAMBDA {
        float const w = this->template get<float>(at_.factor, u);
        if (u < t) before *= w;
        if (u > t) end *= w;
        float const stated = this->template get<float>(at_.decay, u);
        whole = in_logs ? whole + stated : whole * stated;
      });
      float const own = how.alone ? 1.f : this->template get<float>(at_.factor, t);
      this->template put<float>(at_.to_token, t, before * own);
      this->template put<float>(at_.before_token, t, before);
      this->template put<float>(at_.to_end, t, end);
      if (t == 0) put_whole(0, whole, how);
    }
  }
  // The decay of a whole chunk, a logarithm or a factor, of row i or of the head.
  WANE_INLINE void put_whole(int i, float whole, resetting how) const {
    split_decay<float> p = {whole, 0.f};
    if constexpr (in_logs)
      p = decay_from_log(whole);
    else if (whole >= near_one<float>)
      p = {1.f, whole - 1.f};
    // What fades so far that float has no number for it is not reset: a NaN stays.
    if (!how.resets && factor_of(p) == 0.f) p = {std::numeric_limits<float>::min(), 0.f};
    // Rows that pad the state keep nothing, not even 0 times what is no number.
    if (by_row && i >= a_.shape.rows) p = {0.f, 0.f};
    this->template put<float>(at_.whole, i, p.whole);
    this->template put<float>(at_.rest, i, p.rest);
  }

  template <class Body>
  WANE_INLINE static void for_halves(Body const& body) {
    body(std::integral_constant<int, 8>{}), body(std::integral_constant<int, 4>{});
    body(std::integral_constant<int, 2>{}), body(std::integral_constant<int, 1>{});
  }

  // Row i of tokens before and behind the middles between `half` and `half` of them.
  template <int half>
  WANE_INLINE void near_row(int i) const {
    float p = 1.f;
    for (int t = 0; t < tokens; ++t) {
      if (!(t & half)) continue;
      int const from = t * stride + i;
      if ((t & (half - 1)) == 0) p = 1.f;
      if constexpr (erases)
        this->template put<stored>(at_.near_read, from,
                                   this->template get<float>(at_.read, from) * p);
      p *= this->template get<float>(at_.decay, from);
      this->template put<stored>(at_.near_query, from,
                                 this->template get<float>(at_.query, from) * p);
    }
    for (int t = tokens - 1; t >= 0; --t) {
      if (t & half) continue;
      int const from = t * stride + i;
      if ((t & (half - 1)) == half - 1) p = 1.f;
      this->template put<stored>(at_.near_query, from,
                                 this->template get<float>(at_.key, from) * p);
      if constexpr (erases) {
        float write = 0.f;
        if constexpr (general) write = this->template get<float>(at_.write, from);
        this->template put<stored>(at_.near_read, from, write * p);
      }
      p *= this->template get<float>(at_.decay, from);
    }
  }

  // Products of pairs of tokens. What: all of them, of heads; of rows that fade those of a token
  // with itself, and zeros elsewhere (0), and those of two halves.
  template <int what>
  WANE_INLINE void multiply_pairs() const {
    constexpr bool halves = by_row && what > 0;
    constexpr std::size_t query = halves ? at_.near_query : by_row ? at_.query : at_.faded_query;
    constexpr std::size_t read = halves ? at_.near_read : by_row ? at_.read : at_.faded_read;
    constexpr std::size_t key = halves ? at_.near_query : at_.key;
    constexpr std::size_t write = halves ? at_.near_read : at_.write;
    using X = std::conditional_t<by_row && !halves, float, stored>;
    auto const multiply = [&](int job, bool by_query, std::size_t reads, std::size_t writes,
                              std::size_t to) WANE_INLINE_LAMBDA {
      for (int n = 0; n < 2; ++n)
        if ((2 * job + n) % warps == machine_.thread() / warp_size)
          put_pairs<what>(pairs<X, rows, stride>(reads, writes, n), n, by_query, to);
    };
    multiply(0, true, query, key, at_.query_key);
    if constexpr (erases) multiply(1, false, read, key, at_.read_key);
    if constexpr (general) multiply(2, true, query, write, at_.query_write);
    if constexpr (general) multiply(3, false, read, write, at_.read_write);
  }
  template <int what>
  WANE_INLINE void put_pairs(fragment const& x, int n, bool by_query, std::size_t to) const {
    for (int e = 0; e < 4; ++e) {
      int const t = products_.row() + 8 * (e / 2), s = 8 * n + products_.column() + e % 2;
      bool const counts = s < t || (s == t && by_query && !strictly_causal<Token>);
      float const product = x.of[e];
      if constexpr (!by_row)
        this->template put<float>(to, t * chunk_stride + s,
                                  counts ? product * ratio(t, s, by_query) : 0.f);
      else if constexpr (what == 0)
        this->template put<float>(to, t * chunk_stride + s, counts && s == t ? product : 0.f);
      else if ((t & what) && !(s & what) && t / (2 * what) == s / (2 * what))
        this->template put<float>(to, t * chunk_stride + s, product);
    }
  }
  // Of a head: P_t / P_s for a query, P_{t-1} / P_s for what erases.
  WANE_INLINE float ratio(int t, int s, bool by_query) const {
    float p = 1.f;
    if constexpr (fades) {
      int const end = by_query ? t : t - 1;
      unroll<tokens>([&](auto u) WANE_INLINE_LAMBDA {
        float const w = this->template get<float>(at_.factor, u);
        if (u > s && u <= end) p *= w;
      });
    }
    return p;
  }

  // Column c of (1 - N)^-1, N what a token erases of what those before it wrote.
  WANE_INLINE void invert(int c) const {
    float x[tokens];
    unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA { x[t] = t == c ? 1.f : 0.f; });
    unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA {
      this->template put<float>(at_.inverse, s * chunk_stride + c, x[s]);
      unroll<tokens - 1 - s>([&](auto n) WANE_INLINE_LAMBDA {
        constexpr int t = s + 1 + n, at = t * chunk_stride + s;
        float const erased = general ? this->template get<float>(at_.read_write, at)
                                     : -this->template get<float>(at_.read_key, at);
        x[t] = multiply_add(erased, x[s], x[t]);
      });
    });
  }
};

}  // namespace wane::cuda::impl
