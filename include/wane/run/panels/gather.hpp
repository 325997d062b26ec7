// gather: reads the terms of an operator's tokens into arrays, for panels of every form.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/panels/chunk_terms.hpp"
#include "wane/run/shared/aligned.hpp"

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

  explicit term_gatherer(Op const& op) : op_(op), rows_(recurrence_shape(op.shape()).rows) {
    if constexpr (rows_in_lanes) in_lanes_ = op.layout().columns;
    if constexpr (constant_decays<Op>)
      if (recurrence_shape const size = op.shape(); size.batch * size.time * size.heads > 0) {
        constants_ = aligned_numbers<T>(numbers_of_token());
        read_decays(op.at(place<>{}), of_token(constants_.data()));
      }
  }

  index numbers_to_read() const { return row_blocks() * form::reads * width; }
  index numbers_to_write() const { return row_blocks() * form::writes * width; }
  index numbers_of_terms() const { return row_blocks() * form::terms * width; }
  index numbers_of_token() const { return row_blocks() * term_kinds * width; }

  // Tokens k to k + 3 of a walk; behind its end the last token is repeated.
  std::array<Token, tokens> tokens_at(walk const& w, index k) const {
    static_assert(tokens == 4);
    auto const at = [&](index n) { return op_.at(w.token(at_most(w.count - 1, k + n))); };
    return {at(0), at(1), at(2), at(3)};
  }

  // The first `count` of these tokens. terms: [row / width][kind][token][width].
  micro_chunk<T> operator()(std::array<Token, tokens> const& x, int count, T* reads, T* writes,
                            T* terms) const {
    micro_chunk<T> chunk;
    chunk.count = count;
    if constexpr (has_direct<Token>) {
      chunk.has_direct = true;
      for (int t = 0; t < count; ++t) chunk.direct[t] = T(x[static_cast<std::size_t>(t)].direct());
    }
    for (int t = 0; t < tokens; ++t) {
      term_array<T> const to{terms + t * width, tokens * width, form::terms * width};
      if (t < count)
        read(x[static_cast<std::size_t>(t)], to);
      else
        clear_terms<form>(to, rows_);
    }
    take_terms<form>(terms, rows_, strictly_causal<Token>, reads, writes, chunk);
    return chunk;
  }

  // The terms of one token, [row / width][kind][width].
  void operator()(Token const& x, T* terms) const { read(x, of_token(terms)); }

  // Whether terms of a micro-chunk are finite.
  bool finite(micro_chunk<T> const& chunk) const {
    return all_finite(chunk.reads, numbers_to_read()) &&
           all_finite(chunk.writes, numbers_to_write());
  }

 private:
  index row_blocks() const { return (rows_ + width - 1) / width; }
  static term_array<T> of_token(T* terms) { return {terms, width, term_kinds * width}; }

  [[gnu::noinline]] void read(Token const& x, term_array<T> const& to) const {
    auto const ones = [](index) { return T(1); };
    if constexpr (has_key<Token>)
      read_rows([&](auto i) WANE_INLINE_LAMBDA { return x.key(i); }, to.of(key_term), to.block);
    else
      fill_rows(ones, to.of(key_term), to.block);
    if constexpr (has_query<Token>)
      read_rows([&](auto i) WANE_INLINE_LAMBDA { return x.query(i); }, to.of(query_term), to.block);
    else
      fill_rows(ones, to.of(query_term), to.block);
    if constexpr (has_erase<Token>)
      read_rows([&](auto i) WANE_INLINE_LAMBDA { return x.erase_read(i); }, to.of(erase_read_term),
                to.block);
    if constexpr (has_erase_write<Token>)
      read_rows([&](auto i) WANE_INLINE_LAMBDA { return x.erase_write(i); },
                to.of(erase_write_term), to.block);
    if constexpr (constant_decays<Op>)
      copy_decays(to);
    else
      read_decays(x, to);
  }

  void read_decays(Token const& x, term_array<T> const& to) const {
    T* const decay = to.of(factor_term);
    if constexpr (has_log_decay<Token>)
      std::fill_n(decay, width, T(x.log_decay()));
    else if constexpr (has_plain_decay<Token>)
      std::fill_n(decay, width, T(x.decay()));
    else if constexpr (has_row_log_decay<Token>)
      read_rows([&](auto i) WANE_INLINE_LAMBDA { return x.log_decay(i); }, decay, to.block);
    else if constexpr (has_row_plain_decay<Token>)
      read_rows([&](auto i) WANE_INLINE_LAMBDA { return x.decay(i); }, decay, to.block, T(1));
    if constexpr (form::fading != fading::none)
      split_decays<form, decays_in_logs<Token>>(to, rows_);
  }
  void copy_decays(term_array<T> const& to) const {
    T const* from = constants_.data();
    for (index i = 0, at = 0; i < rows_; i += width, at += to.block, from += term_kinds * width)
      for (int kind : {factor_term, whole_term, rest_term})
        vector::load(from + kind * width).store(to.of(kind) + at);
  }

  // A term of all rows, in blocks of `width` that are `block` apart; behind the last row `padding`.
  template <class Term>
  WANE_HOST_INLINE void read_rows(Term const& term, T* to, index block, T padding = T(0)) const {
    if constexpr (rows_in_lanes)
      if (in_lanes_) {
        index i = 0;
        for (; i + width <= rows_; i += width, to += block) vector(term(lanes<width>{i})).store(to);
        if (i == rows_) return;
        int const count = static_cast<int>(rows_ - i);
        vector(term(partial_lanes<width>{i, count})).store(to);
        std::fill(to + count, to + width, padding);
        return;
      }
    fill_rows(term, to, block, padding);
  }
  // The same, one row at a time.
  template <class Term>
  WANE_HOST_INLINE void fill_rows(Term const& term, T* to, index block, T padding = T(0)) const {
    for (index i = 0; i < rows_; i += width, to += block)
      for (index l = 0; l < width; ++l) to[l] = i + l < rows_ ? T(term(i + l)) : padding;
  }

  Op const& op_;
  index rows_;
  aligned_numbers<T> constants_;  // the terms of a token whose decays are constants
  bool in_lanes_ = false;
};

}  // namespace wane::impl
