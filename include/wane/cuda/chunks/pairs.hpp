// Products of all pairs of tokens of a chunk; they are the same for all columns of the state.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/cuda/chunks/terms.hpp"

namespace wane::cuda::impl {

// One thread of a block. The equations are those of core/chunk/micro_chunk.hpp. Decays enter as
// ratios P_t / P_s, the product of the decays between tokens s < t. Where rows fade, a ratio
// depends on the row, inside a sum over rows. There the pairs (t, s) are found by halves: with m
// the last token of the first half of 16, 8, 4 or 2 tokens, P_t / P_s = (P_t / P_m) (P_m / P_s).
// The first factor goes to the term that reads, the second to the term that is written, so all
// pairs are products of matrices.
template <class Config, class Precision, machine M, class Arguments>
class chunk_pairs {
  using form = chunk_form<Config, Precision, Arguments>;
  using Token = typename form::Token;
  using stored = typename form::stored;
  using terms = chunk_terms<Config, Precision, M, Arguments>;
  using sight = typename terms::sight;
  using row_terms = typename terms::row_terms;
  using products = unit_products<Precision, M>;
  using fragment = typename products::fragment;

 public:
  WANE_HOST_DEVICE chunk_pairs(M& machine, Arguments const& a) : machine_(machine), a_(a) {}

  // Calls body(j, n) for every column of this thread; its n-th column is column j of the block.
  template <class Body>
  WANE_INLINE void for_columns(Body const& body) const {
    static_assert(Config::columns % form::lanes == 0);
    unroll<Config::columns / form::lanes>(
        [&](auto n) WANE_INLINE_LAMBDA { body(terms_.lane() + n * form::lanes, n); });
  }

  // Copies the token at `where` to shared memory, with its values of the columns from `first` on.
  // An absent token becomes zeros; `where` must then be the place of a present one. `all`: all
  // tokens of the chunk are present, so fewer checks are needed.
  WANE_INLINE sight bring(place<> where, bool present, bool all, index first) const {
    sight seen;
    int const there = static_cast<int>(at_most(a_.shape.columns - first, index{Config::columns}));
    Token const x = terms_.shared_token(where);
    terms_.whole_or_not(all && there == Config::columns, [&](auto whole) WANE_INLINE_LAMBDA {
      float value[Config::columns / form::lanes];
      for_columns([&](int j, auto n) WANE_INLINE_LAMBDA {
        value[n] = seen.note(x.value(first + (whole() ? j : at_most(j, there - 1))));
      });
      terms_.bring_rows(x, present, whole, seen,
                        [&](int i, row_terms const& r) WANE_INLINE_LAMBDA { put_row(i, r); });
      for_columns([&](int j, auto n) WANE_INLINE_LAMBDA {
        arrays_.template put<float>(form::at.value, form::value_at(terms_.token(), j),
                                    whole() || (present && j < there) ? value[n] : 0.f);
      });
    });
    if constexpr (has_direct<Token>)
      if (terms_.lane() == 0)
        arrays_.template put<float>(form::at.direct, terms_.token(),
                                    present ? seen.note(x.direct()) : 0.f);
    return seen;
  }

  // `resets`: the chunk has a decay of 0. `alone`: it is one token with such a decay, and the state
  // that it reads has been decayed already.
  struct resetting {
    bool resets, alone;
  };

  // Finds all products that the columns need. A barrier must precede it; it ends with one.
  WANE_INLINE void prepare(resetting how) const {
    if constexpr (form::by_row) {
      for (int i = machine_.thread(); i < form::rows; i += Config::threads) scale_row(i, how);
      multiply_pairs<0>();
      for_halves([&](auto half) WANE_INLINE_LAMBDA {
        for (int i = machine_.thread(); i < form::rows; i += Config::threads) near_row<half>(i);
        machine_.barrier();
        multiply_pairs<half>();
        machine_.barrier();
      });
    } else {
      if (machine_.thread() < form::tokens) scale_token(machine_.thread(), how);
      multiply_pairs<form::tokens>();
      machine_.barrier();
    }
    if constexpr (form::erases) {
      if (machine_.thread() < form::tokens) invert(machine_.thread());
      machine_.barrier();
    }
  }

  // The products of all tokens with the tokens 8 n ... 8 n + 7: sums over `length` numbers of each.
  template <class X, int length, int row_step>
  WANE_INLINE fragment pairs(std::size_t left, std::size_t right, int n) const {
    fragment sum = {};
    unroll<length / (8 * products::fragments)>([&](auto part) WANE_INLINE_LAMBDA {
      constexpr int i = part * 8 * products::fragments;
      products_.add(sum, products_.read_left(arrays_.template shared<X const>(left) + i, row_step),
                    arrays_.template shared<X const>(right) + 8 * n * row_step + i, row_step);
    });
    return sum;
  }

 private:
  // Stores the terms of row i. Where a head fades, they are already the factors of the products.
  WANE_INLINE void put_row(int i, row_terms const& r) const {
    int const from = terms_.token() * form::stride + i, to = i * chunk_stride + terms_.token();
    if constexpr (form::by_row) {
      arrays_.template put<float>(form::at.query, from, r.query);
      arrays_.template put<float>(form::at.key, from, r.key);
      if constexpr (form::erases) arrays_.template put<float>(form::at.read, from, r.read);
      if constexpr (form::general) arrays_.template put<float>(form::at.write, from, r.write);
      arrays_.template put<float>(form::at.decay, from, r.decay);
    } else {
      arrays_.template put<stored>(form::at.faded_query, from, r.query);
      arrays_.template put<stored>(form::at.key, from, r.key);
      arrays_.template put<stored>(form::at.faded_key, to, r.key);
      if constexpr (form::erases) arrays_.template put<stored>(form::at.faded_read, from, r.read);
      if constexpr (form::general) {
        arrays_.template put<stored>(form::at.write, from, r.write);
        arrays_.template put<stored>(form::at.faded_write, to, r.write);
      }
    }
  }

  // Finds row i of the faded arrays and the decay of the row over the chunk.
  WANE_INLINE void scale_row(int i, resetting how) const {
    float w[form::tokens], p = 1.f, whole = form::in_logs ? 0.f : 1.f;
    unroll<form::tokens>([&](auto t) WANE_INLINE_LAMBDA {
      int const from = t * form::stride + i;
      float const stated = arrays_.template get<float>(form::at.decay, from);
      whole = form::in_logs ? whole + stated : whole * stated;
      arrays_.template put<float>(form::at.decay, from, w[t] = terms_.factor(stated));
      if constexpr (form::erases)
        arrays_.template put<stored>(form::at.faded_read, from,
                                     arrays_.template get<float>(form::at.read, from) * p);
      float const query = arrays_.template get<float>(form::at.query, from), old = p;
      if (!how.alone) p *= w[t];
      arrays_.template put<stored>(form::at.faded_query, from, query * (form::reads_old ? old : p));
    });
    put_whole(i, whole, how);
    p = 1.f;
    unroll<form::tokens>([&](auto n) WANE_INLINE_LAMBDA {
      constexpr int t = form::tokens - 1 - n;
      int const from = t * form::stride + i, to = i * chunk_stride + t;
      arrays_.template put<stored>(form::at.faded_key, to,
                                   arrays_.template get<float>(form::at.key, from) * p);
      if constexpr (form::general)
        arrays_.template put<stored>(form::at.faded_write, to,
                                     arrays_.template get<float>(form::at.write, from) * p);
      p *= w[t];
    });
  }
  // Where a head fades: the decays before and after token t, and of the chunk.
  WANE_INLINE void scale_token(int t, resetting how) const {
    if constexpr (form::fades) {
      float before = 1.f, end = 1.f, whole = form::in_logs ? 0.f : 1.f;
      unroll<form::tokens>([&](auto u) WANE_INLINE_LAMBDA {
        float const w = arrays_.template get<float>(form::at.factor, u);
        if (u < t) before *= w;
        if (u > t) end *= w;
        float const stated = arrays_.template get<float>(form::at.decay, u);
        whole = form::in_logs ? whole + stated : whole * stated;
      });
      float const w = how.alone ? 1.f : arrays_.template get<float>(form::at.factor, t);
      arrays_.template put<float>(form::at.to_token, t, form::reads_old ? before : before * w);
      arrays_.template put<float>(form::at.before_token, t, before);
      arrays_.template put<float>(form::at.to_end, t, end);
      if (t == 0) put_whole(0, whole, how);
    }
  }
  // Stores the decay of a whole chunk, of row i or of the head. in_logs: `whole` is a logarithm.
  WANE_INLINE void put_whole(int i, float whole, resetting how) const {
    split_decay<float> p = {whole, 0.f};
    if constexpr (form::in_logs)
      p = decay_from_log(whole);
    else if (whole >= near_one<float>)
      p = {1.f, whole - 1.f};
    // A decay that float rounds to 0 is no reset: it keeps a NaN, so it becomes the least float.
    if (!how.resets && factor_of(p) == 0.f) p = {std::numeric_limits<float>::min(), 0.f};
    // Rows that pad the state are reset, so that 0 times NaN cannot appear in them.
    if (form::by_row && i >= a_.shape.rows) p = {0.f, 0.f};
    arrays_.template put<float>(form::at.whole, i, p.whole);
    arrays_.template put<float>(form::at.rest, i, p.rest);
  }

  template <class Body>
  WANE_INLINE static void for_halves(Body const& body) {
    body(std::integral_constant<int, 8>{}), body(std::integral_constant<int, 4>{});
    body(std::integral_constant<int, 2>{}), body(std::integral_constant<int, 1>{});
  }

  // Row i of near_query and near_read, for the middles between `half` and `half` tokens.
  template <int half>
  WANE_INLINE void near_row(int i) const {
    float p = 1.f;
    for (int t = 0; t < form::tokens; ++t) {
      if (!(t & half)) continue;
      int const from = t * form::stride + i;
      if ((t & (half - 1)) == 0) p = 1.f;
      if constexpr (form::erases)
        arrays_.template put<stored>(form::at.near_read, from,
                                     arrays_.template get<float>(form::at.read, from) * p);
      float const query = arrays_.template get<float>(form::at.query, from), old = p;
      p *= arrays_.template get<float>(form::at.decay, from);
      arrays_.template put<stored>(form::at.near_query, from, query * (form::reads_old ? old : p));
    }
    for (int t = form::tokens - 1; t >= 0; --t) {
      if (t & half) continue;
      int const from = t * form::stride + i;
      if ((t & (half - 1)) == half - 1) p = 1.f;
      arrays_.template put<stored>(form::at.near_query, from,
                                   arrays_.template get<float>(form::at.key, from) * p);
      if constexpr (form::erases) {
        float write = 0.f;
        if constexpr (form::general) write = arrays_.template get<float>(form::at.write, from);
        arrays_.template put<stored>(form::at.near_read, from, write * p);
      }
      p *= arrays_.template get<float>(form::at.decay, from);
    }
  }

  // Products of pairs of tokens. Where a head fades they are all found at once. Where rows fade,
  // `what` = 0 finds the products of each token with itself and zeros elsewhere, and `what` > 0
  // those between two halves of 2 * what tokens.
  template <int what>
  WANE_INLINE void multiply_pairs() const {
    constexpr bool halves = form::by_row && what > 0;
    constexpr std::size_t query = halves         ? form::at.near_query
                                  : form::by_row ? form::at.query
                                                 : form::at.faded_query;
    constexpr std::size_t read = halves         ? form::at.near_read
                                 : form::by_row ? form::at.read
                                                : form::at.faded_read;
    constexpr std::size_t key = halves ? form::at.near_query : form::at.key;
    constexpr std::size_t write = halves ? form::at.near_read : form::at.write;
    using X = std::conditional_t<form::by_row && !halves, float, stored>;
    auto const multiply = [&](int job, bool by_query, std::size_t reads, std::size_t writes,
                              std::size_t to) WANE_INLINE_LAMBDA {
      for (int n = 0; n < 2; ++n)
        if ((2 * job + n) % form::warps == machine_.thread() / warp_size)
          put_pairs<what>(pairs<X, form::rows, form::stride>(reads, writes, n), n, by_query, to);
    };
    multiply(0, true, query, key, form::at.query_key);
    if constexpr (form::erases) multiply(1, false, read, key, form::at.read_key);
    if constexpr (form::general) multiply(2, true, query, write, form::at.query_write);
    if constexpr (form::general) multiply(3, false, read, write, form::at.read_write);
  }
  template <int what>
  WANE_INLINE void put_pairs(fragment const& x, int n, bool by_query, std::size_t to) const {
    for (int e = 0; e < 4; ++e) {
      int const t = products_.row() + 8 * (e / 2), s = 8 * n + products_.column() + e % 2;
      bool const counts = s < t || (s == t && by_query && !strictly_causal<Token>);
      float const product = x.of[e];
      if constexpr (!form::by_row)
        arrays_.template put<float>(to, t * chunk_stride + s,
                                    counts ? product * ratio(t, s, by_query) : 0.f);
      else if constexpr (what == 0)
        arrays_.template put<float>(to, t * chunk_stride + s, counts && s == t ? product : 0.f);
      else if ((t & what) && !(s & what) && t / (2 * what) == s / (2 * what))
        arrays_.template put<float>(to, t * chunk_stride + s, product);
    }
  }
  // Where a head fades: P_t / P_s, or P_{t-1} / P_s for what is read before its decay.
  WANE_INLINE float ratio(int t, int s, bool by_query) const {
    float p = 1.f;
    if constexpr (form::fades) {
      int const end = by_query && !form::reads_old ? t : t - 1;
      unroll<form::tokens>([&](auto u) WANE_INLINE_LAMBDA {
        float const w = arrays_.template get<float>(form::at.factor, u);
        if (u > s && u <= end) p *= w;
      });
    }
    return p;
  }

  // Column c of (1 - N)^-1, where N is read_write in a general memory and -read_key otherwise.
  WANE_INLINE void invert(int c) const {
    float x[form::tokens];
    unroll<form::tokens>([&](auto t) WANE_INLINE_LAMBDA { x[t] = t == c ? 1.f : 0.f; });
    unroll<form::tokens>([&](auto s) WANE_INLINE_LAMBDA {
      arrays_.template put<float>(form::at.inverse, s * chunk_stride + c, x[s]);
      unroll<form::tokens - 1 - s>([&](auto n) WANE_INLINE_LAMBDA {
        constexpr int t = s + 1 + n, at = t * chunk_stride + s;
        float const erased = form::general ? arrays_.template get<float>(form::at.read_write, at)
                                           : -arrays_.template get<float>(form::at.read_key, at);
        x[t] = multiply_add(erased, x[s], x[t]);
      });
    });
  }

  M& machine_;
  Arguments const& a_;
  shared_arrays<M> const arrays_{machine_};
  terms const terms_{machine_, a_};
  products const products_{machine_};
};

}  // namespace wane::cuda::impl
