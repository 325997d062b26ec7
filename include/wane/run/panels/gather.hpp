// term_gatherer: makes a micro-chunk of four tokens of an operator.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <vector>

#include "wane/core/chunk/micro_chunk.hpp"
#include "wane/core/numbers/decay.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/state/walk.hpp"

namespace wane::impl {

// Gathers row terms of tokens in vectors. A token behind the end adds nothing and does not decay.
template <affine_recurrence Op>
class term_gatherer {
 public:
  using T = accumulate_type<Op>;
  using Token = token_of<Op>;
  using form = panel_form<T, fading_of<Token>, erasing_of<Token>>;
  static constexpr int width = form::width, tokens = micro_tokens;
  using vector = typename form::vector;

  static constexpr bool rows_in_lanes = [] {
    using Rows = lanes<width>;
    bool lies = requires(Op const& op) { op.layout(); };
    if constexpr (has_key<Token>) lies &= requires(Token x, Rows i) {
        x.key(i);
      };
    if constexpr (has_query<Token>) lies &= requires(Token x, Rows i) {
        x.query(i);
      };
    if constexpr (has_erase<Token>) lies &= requires(Token x, Rows i) {
        x.erase_read(i);
      };
    if constexpr (has_erase_write<Token>) lies &= requires(Token x, Rows i) {
        x.erase_write(i);
      };
    if constexpr (has_row_log_decay<Token>) lies &= requires(Token x, Rows i) {
        x.log_decay(i);
      };
    if constexpr (has_row_plain_decay<Token>) lies &= requires(Token x, Rows i) {
        x.decay(i);
      };
    return lies;
  }();

  explicit term_gatherer(Op const& op) : op_(op), rows_(recurrence_shape(op.shape()).rows) {
    if constexpr (rows_in_lanes) in_lanes_ = op.layout().columns;
    if constexpr (constant_decays<Op>)
      if (recurrence_shape const size = op.shape(); size.batch * size.time * size.heads > 0)
        for (index i = 0; i < rows_; i += width)
          constants_.push_back(
              row_decay(op.at(place<>{}), i, static_cast<int>(at_most(index{width}, rows_ - i))));
  }

  index numbers_to_read() const { return row_blocks() * form::reads * width; }
  index numbers_to_write() const { return row_blocks() * form::writes * width; }
  index numbers_of_terms() const { return row_blocks() * form::terms * width; }

  // Tokens k to k + 3 of a walk; behind its end the last token is repeated.
  std::array<Token, tokens> tokens_at(walk const& w, index k) const {
    static_assert(tokens == 4);
    auto const at = [&](index n) { return op_.at(w.token(at_most(w.count - 1, k + n))); };
    return {at(0), at(1), at(2), at(3)};
  }

  // The micro-chunk of the first `count` of these tokens. If `terms` is given, it receives their
  // terms as they are, not faded: [row / width][form::terms][width].
  micro_chunk<T> operator()(std::array<Token, tokens> const& x, int count, T* reads, T* writes,
                            T* terms = nullptr) const {
    micro_chunk<T> chunk;
    chunk.reads = reads, chunk.writes = writes, chunk.count = count;
    if constexpr (has_direct<Token>) {
      chunk.has_direct = true;
      for (int t = 0; t < count; ++t) chunk.direct[t] = T(x[static_cast<std::size_t>(t)].direct());
    }
    if (in_lanes_ && count == tokens)
      take_rows<true>(x.data(), count, chunk, reads, writes, terms);
    else
      take_rows<false>(x.data(), count, chunk, reads, writes, terms);
    return chunk;
  }

  // Whether the terms of a micro-chunk are finite.
  bool finite(micro_chunk<T> const& chunk) const {
    return all_finite(chunk.reads, numbers_to_read()) &&
           all_finite(chunk.writes, numbers_to_write());
  }

  // row_term: one term of up to `width` rows of a token. row_decay: the decay of these rows.
  template <class Term>
  WANE_HOST_INLINE vector row_term(Term const& term, index first, int count) const {
    return in_lanes_ ? lanes_of<true>(term, first, count) : lanes_of<false>(term, first, count);
  }
  WANE_HOST_INLINE split_decay<vector> row_decay(Token const& x, index first, int count) const {
    return in_lanes_ ? decay_at<true>(x, true, first, count)
                     : decay_at<false>(x, true, first, count);
  }

 private:
  index row_blocks() const { return (rows_ + width - 1) / width; }

  // The least number of tokens between a query and the keys that it meets. A token that reads
  // before it writes does not meet its own key; their product is 0.
  static constexpr int reads_earlier = strictly_causal<Token> ? 1 : 0;

  // Sums over rows: the products of the query and of the erase_read of token t with the key and
  // with the erase_write of token s. s is t or less for queries, and less than t for erase_reads.
  struct products {
    static constexpr int inclusive = tokens * (tokens + 1) / 2, strict = inclusive - tokens;
    static constexpr int kinds = form::erasing == erasing::general ? 2 : 1;
    static constexpr int used = inclusive + (form::erasing == erasing::none ? 0 : strict);
    static constexpr int count = (used + width - 1) / width * width;
    vector sum[kinds][count];

    products() {
      unroll<kinds>([&](auto kind) WANE_INLINE_LAMBDA {
        unroll<count>([&](auto n) WANE_INLINE_LAMBDA { sum[kind][n] = vector(T(0)); });
      });
    }
    static constexpr int of_query(int t, int s) { return t * (t + 1) / 2 + s; }
    static constexpr int of_read(int t, int s) { return inclusive + t * (t - 1) / 2 + s; }

    WANE_HOST_INLINE void store(token_products<T>& to) const {
      T totals[kinds][count];
      unroll<kinds>([&](auto kind) WANE_INLINE_LAMBDA {
        unroll<count / width>([&](auto part) WANE_INLINE_LAMBDA {
          vector some[width];
          unroll<width>([&](auto n) WANE_INLINE_LAMBDA { some[n] = sum[kind][part * width + n]; });
          sums(some).store(&totals[kind][part * width]);
        });
      });
      for (int t = 0; t < tokens; ++t)
        for (int s = 0; s <= t - reads_earlier; ++s) {
          to.query_key[t][s] = totals[0][of_query(t, s)];
          if constexpr (kinds == 2) to.query_write[t][s] = totals[1][of_query(t, s)];
          if (form::erasing == erasing::none || s == t) continue;
          to.read_key[t][s] = totals[0][of_read(t, s)];
          if constexpr (kinds == 2) to.read_write[t][s] = totals[1][of_read(t, s)];
        }
    }
  };

  // A row term of one token, read in lanes or one by one. Lanes from `count` on are 0.
  template <bool Lanes, class Term>
  WANE_HOST_INLINE static vector lanes_of(Term const& term, index first, int count) {
    if constexpr (Lanes && rows_in_lanes) {
      if (count == width) return term(lanes<width>{first});
      vector x = term(partial_lanes<width>{first, count});
      for (int l = count; l < width; ++l) x.v[l] = T(0);
      return x;
    } else {
      vector x(T(0));
      for (int l = 0; l < count; ++l) x.v[l] = T(term(first + l));
      return x;
    }
  }

  static split_decay<vector> split(plain_decay<vector> w) {
    vector const near(near_one<T>), one(T(1)), zero(T(0));
    return {where_below(w.factor, near, w.factor, one),
            where_below(w.factor, near, zero, w.factor - one)};
  }

  // Decays of some rows; 1 for a token behind the end.
  template <bool Lanes>
  WANE_HOST_INLINE static split_decay<vector> decay_at(Token const& x, bool present, index first,
                                                       int count) {
    vector const one(T(1)), zero(T(0));
    if (!present) return {one, zero};
    if constexpr (has_log_decay<Token>)
      return decay_from_log(vector(T(x.log_decay())));
    else if constexpr (has_plain_decay<Token>)
      return split(plain_decay<vector>{vector(T(x.decay()))});
    else if constexpr (has_row_log_decay<Token>)
      return decay_from_log(lanes_of<Lanes>([&](auto i) { return x.log_decay(i); }, first, count));
    else if constexpr (has_row_plain_decay<Token>) {
      vector factor = lanes_of<Lanes>([&](auto i) { return x.decay(i); }, first, count);
      for (int l = count; l < width; ++l) factor.v[l] = T(1);
      return split(plain_decay<vector>{factor});
    } else {
      return {one, zero};
    }
  }

  template <bool Lanes>
  [[gnu::noinline]] void take_rows(Token const* x, int count, micro_chunk<T>& chunk, T* reads,
                                   T* writes, T* terms) const {
    products sum;
    constexpr bool fades = form::fading != fading::none;
    vector const one(T(1)), zero(T(0));
    split_decay<vector> w[tokens], all{one, zero};
    vector factor[tokens];
    auto const take_decays = [&](index first, int present) WANE_INLINE_LAMBDA {
      all = {one, zero};
      unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
        if constexpr (constant_decays<Op>)
          w[t] = t < count ? constants_[static_cast<std::size_t>(first / width)]
                           : split_decay<vector>{one, zero};
        else
          w[t] = decay_at<Lanes>(x[t], t < count, first, present);
        factor[t] = factor_of(w[t]);
        all = {all.whole * w[t].whole, multiply_add(all.whole, w[t].rest, all.rest * factor[t])};
      });
      chunk.resets |= !all_below(zero, at_least(all.whole, -all.whole));
    };
    if constexpr (form::fading == fading::head) {
      take_decays(0, width);
      chunk.whole = all.whole[0], chunk.rest = all.rest[0];
    }
    for (index i = 0; i < rows_; i += width) {
      int const rows = static_cast<int>(at_most(index{width}, rows_ - i));
      if constexpr (form::fading == fading::row) take_decays(i, rows);
      vector key[tokens], query[tokens], erase_read[tokens], erase_write[tokens];
      unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
        auto const term = [&](auto const& of) WANE_INLINE_LAMBDA {
          return t < count ? lanes_of<Lanes>(of, i, rows) : zero;
        };
        auto const ones = [](auto) { return T(1); };
        if constexpr (has_key<Token>)
          key[t] = term([&](auto r) { return x[t].key(r); });
        else
          key[t] = t < count ? lanes_of<false>(ones, i, rows) : zero;
        if constexpr (has_query<Token>)
          query[t] = term([&](auto r) { return x[t].query(r); });
        else
          query[t] = t < count ? lanes_of<false>(ones, i, rows) : zero;
        if constexpr (has_erase<Token>)
          erase_read[t] = term([&](auto r) { return x[t].erase_read(r); });
        if constexpr (has_erase_write<Token>)
          erase_write[t] = term([&](auto r) { return x[t].erase_write(r); });
      });
      if (terms) {
        unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
          key[t].store(terms + t * width);
          query[t].store(terms + (tokens + t) * width);
          if constexpr (has_erase<Token>) erase_read[t].store(terms + (2 * tokens + t) * width);
          if constexpr (has_erase_write<Token>)
            erase_write[t].store(terms + (3 * tokens + t) * width);
          if constexpr (fades) factor[t].store(terms + (4 * tokens + t) * width);
        });
        terms += form::terms * width;
      }
      // Every key, faded from its own token to the last.
      auto const fade = [&](vector const(&written)[tokens], int kind, T* to) WANE_INLINE_LAMBDA {
        unroll<tokens>([&](auto s) WANE_INLINE_LAMBDA {
          vector faded = written[s];
          unroll<tokens - s>([&](auto n) WANE_INLINE_LAMBDA {
            constexpr int t = s + n;
            if constexpr (t > s) {
              if constexpr (form::erasing != erasing::none) {
                auto& product = sum.sum[kind][products::of_read(t, s)];
                product = multiply_add(erase_read[t], faded, product);
              }
              if constexpr (fades) faded = faded * factor[t];
            }
            if constexpr (t >= s + reads_earlier) {
              auto& product = sum.sum[kind][products::of_query(t, s)];
              product = multiply_add(query[t], faded, product);
            }
          });
          faded.store(to + s * width);
        });
      };
      fade(key, 0, writes);
      if constexpr (form::erasing == erasing::general)
        fade(erase_write, 1, writes + tokens * width);
      vector passed = one;  // P_{t-1}
      unroll<tokens>([&](auto t) WANE_INLINE_LAMBDA {
        if constexpr (form::erasing != erasing::none)
          (t == 0 ? erase_read[t] : erase_read[t] * passed).store(reads + (tokens + t) * width);
        if constexpr (fades) passed = t == 0 ? factor[t] : passed * factor[t];
        (fades ? query[t] * passed : query[t]).store(reads + t * width);
      });
      if constexpr (form::fading == fading::row) {
        all.whole.store(writes + form::keys * width);
        all.rest.store(writes + (form::keys + 1) * width);
      }
      reads += form::reads * width, writes += form::writes * width;
    }
    sum.store(chunk.products);
  }

  Op const& op_;
  index rows_;
  std::vector<split_decay<vector>> constants_;  // [row / width], if decays are constants
  bool in_lanes_ = false;
};

}  // namespace wane::impl
