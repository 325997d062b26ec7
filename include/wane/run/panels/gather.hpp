// term_gatherer: reads the terms of an operator's tokens, into micro-chunks and into arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <vector>

#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/panels/chunk_terms.hpp"

namespace wane::impl {

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

  // If tokens come one a call, decays that are constants are read again with each, because keeping
  // them takes memory.
  explicit term_gatherer(Op const& op, bool one_a_call = false)
      : op_(op), rows_(recurrence_shape(op.shape()).rows) {
    if constexpr (rows_in_lanes) in_lanes_ = op.layout().columns;
    if constexpr (constant_decays<Op>)
      if (recurrence_shape const size = op.shape();
          !one_a_call && size.batch * size.time * size.heads > 0)
        for (index i = 0; i < rows_; i += width)
          constants_.push_back(own_decay<false>(
              op.at(place<>{}), i, static_cast<int>(at_most(index{width}, rows_ - i))));
  }

  index numbers_to_read() const { return row_blocks() * form::reads * width; }
  index numbers_to_write() const { return row_blocks() * form::writes * width; }
  index numbers_of_terms() const { return row_blocks() * form::terms * width; }
  // Terms and parts of decays of a chunk in arrays.
  index numbers_in_arrays() const { return row_blocks() * (term_kinds + 2) * tokens * width; }

  // Token k of a walk; behind its end the last token.
  [[gnu::noinline]] Token token_at(walk const& w, index k) const {
    return op_.at(w.token(at_most(w.count - 1, k)));
  }
  std::array<Token, tokens> tokens_at(walk const& w, index k) const {
    static_assert(tokens == 4);
    return {token_at(w, k), token_at(w, k + 1), token_at(w, k + 2), token_at(w, k + 3)};
  }

  // The micro-chunk of the first `count` of these tokens. `arrays` is memory for numbers_in_arrays.
  // For `terms`, see make_chunk.
  micro_chunk<T> operator()(std::array<Token, tokens> const& x, int count, T* reads, T* writes,
                            T* arrays, T* terms = nullptr) const {
    micro_chunk<T> chunk;
    chunk.count = count;
    if constexpr (has_direct<Token>) {
      chunk.has_direct = true;
      for (int t = 0; t < count; ++t) chunk.direct[t] = T(x[static_cast<std::size_t>(t)].direct());
    }
    if constexpr (has_reads<Token>)
      chunk.reads_nothing = !(x[0].reads() || x[1].reads() || x[2].reads() || x[3].reads());
    if constexpr (has_writes<Token> && !(has_direct<Token> && has_erase<Token>))
      chunk.first_writes_alone = !(x[1].writes() || x[2].writes() || x[3].writes());
    constexpr reading reads_from = reading_of<Token>;
    if constexpr (rows_in_lanes)
      if (in_lanes_ && count == tokens && rows_ % width == 0) {
        make_chunk<form, reads_from>(terms_in_lanes{*this, x}, rows_, reads, writes, terms, chunk);
        return chunk;
      }
    terms_in_arrays<form> const source{read(x, count, arrays)};
    make_chunk<form, reads_from>(source, rows_, reads, writes, terms, chunk);
    return chunk;
  }

  // Reads the first `count` of these tokens into arrays; returns those of the first. The arrays of
  // the next begin `width` numbers further. Tokens from `count` on add nothing and do not decay.
  term_array<T> read(std::array<Token, tokens> const& x, int count, T* arrays) const {
    term_array<T> const first{arrays, arrays + numbers_of_terms(), tokens * width};
    for (int t = 0; t < tokens; ++t) {
      term_array<T> const to{first.terms + t * width, first.parts + t * width, first.step};
      if (t < count)
        read(x[static_cast<std::size_t>(t)], 0, rows_, to);
      else
        clear_terms<form>(to, rows_);
    }
    return first;
  }
  // Reads rows [first, end) of a token; `first` is a multiple of `width`. From `end` to the next
  // multiple, terms become 0.
  [[gnu::noinline]] void read(Token const& x, index first, index end, term_array<T> to) const {
    auto const take = [&](auto full, index i, int count) WANE_INLINE_LAMBDA {
      auto const store = [&](auto kind) WANE_INLINE_LAMBDA {
        term_at<full>(kind, x, i, count).store(to.of(kind));
      };
      store(term_constant<key_term>{}), store(term_constant<query_term>{});
      if constexpr (has_erase<Token>) store(term_constant<erase_read_term>{});
      if constexpr (has_erase_write<Token>) store(term_constant<erase_write_term>{});
      if (form::fading == fading::none || (form::fading == fading::head && i > first)) return;
      auto const w = decay_at<full>(x, i, count);
      factor_of(w).store(to.of(decay_term)), w.whole.store(to.part(0)), w.rest.store(to.part(1));
    };
    for (index i = first; i < end; i += width, to.next_rows())
      if (rows_in_lanes && in_lanes_ && i + width <= end)
        take(std::true_type{}, i, width);
      else
        take(std::false_type{}, i, static_cast<int>(at_most(index{width}, end - i)));
  }

 private:
  // The terms of four tokens whose rows come in lanes and fill whole vectors. No branch asks how
  // many rows there are: a compiler takes the addresses of tensors out of a loop only where they
  // are used without a condition.
  struct terms_in_lanes {
    term_gatherer const& gather;
    std::array<Token, tokens> const& x;

    WANE_HOST_INLINE vector term(auto kind, auto t, index i) const {
      return term_at<true>(kind, x[t], i, width);
    }
    WANE_HOST_INLINE split_decay<vector> decay(auto t, index i) const {
      return gather.template decay_at<true>(x[t], i, width);
    }
  };

  index row_blocks() const { return (rows_ + width - 1) / width; }

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
  template <bool Lanes>
  WANE_HOST_INLINE static vector term_at(auto kind, Token const& x, index first, int count) {
    auto const rows = [&](auto const& of)
                          WANE_INLINE_LAMBDA { return lanes_of<Lanes>(of, first, count); };
    auto const ones = [&] { return lanes_of<false>([](index) { return T(1); }, first, count); };
    if constexpr (kind == key_term) {
      if constexpr (has_key<Token>)
        return rows([&](auto r) { return x.key(r); });
      else
        return ones();
    } else if constexpr (kind == query_term) {
      if constexpr (has_query<Token>)
        return rows([&](auto r) { return x.query(r); });
      else
        return ones();
    } else if constexpr (kind == erase_read_term) {
      return rows([&](auto r) { return x.erase_read(r); });
    } else {
      return rows([&](auto r) { return x.erase_write(r); });
    }
  }

  // Decays of some rows.
  template <bool Lanes>
  WANE_HOST_INLINE split_decay<vector> decay_at(Token const& x, index first, int count) const {
    if constexpr (constant_decays<Op>)
      if (!constants_.empty()) return constants_[static_cast<std::size_t>(first / width)];
    return own_decay<Lanes>(x, first, count);
  }
  template <bool Lanes>
  WANE_HOST_INLINE static split_decay<vector> own_decay(Token const& x, index first, int count) {
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
      return {vector(T(1)), vector(T(0))};
    }
  }

  Op const& op_;
  index rows_;
  struct nothing {};
  using constants =
      std::conditional_t<constant_decays<Op>, std::vector<split_decay<vector>>, nothing>;
  [[no_unique_address]] constants constants_;  // [row / width]
  bool in_lanes_ = false;
};

}  // namespace wane::impl
