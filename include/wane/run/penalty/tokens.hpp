// penalty_runner: takes the penalty of a head through its tokens, in chunks of 16.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/penalty/chunk.hpp"

namespace wane::impl {

// A row of numbers for each of 16 tokens, [tokens][stride]: zeros behind the last number and for
// absent tokens.
template <class T>
class token_rows {
 public:
  token_rows(index rows, index stride, bool in_lanes)
      : rows_(rows), stride_(stride), in_lanes_(in_lanes), numbers_(penalty_tokens * stride) {
    std::fill_n(numbers_.data(), penalty_tokens * stride_, T(0));
  }

  index rows() const { return rows_; }
  T* data() const { return numbers_.data(); }
  T* operator[](int t) const { return data() + t * stride_; }

  // Fills the rows of the first `count` tokens with row_of(t)(i).
  template <class RowOf>
  void fill(int count, RowOf const& row_of) const {
    for (int t = 0; t < count; ++t) {
      auto const row = row_of(t);
      for_row_lanes<T>(in_lanes_, rows_,
                       [&](auto i) WANE_INLINE_LAMBDA { set_row((*this)[t], i, row(i)); });
    }
    std::fill(data() + count * stride_, data() + penalty_tokens * stride_, T(0));
  }

  void scale(int t, T by) const {
    for (index i = 0; i < rows_; ++i) (*this)[t][i] *= by;
  }
  T product(int t, T const* other) const {
    row_sum<T> total;
    for_row_lanes<T>(true, stride_, [&](auto i) WANE_INLINE_LAMBDA {
      total.add(row_at((*this)[t], i), row_at(other, i));
    });
    return total.total();
  }

 private:
  index rows_, stride_;
  bool in_lanes_;
  aligned_numbers<T> numbers_;
};

// The penalty of one sequence and head: its factor R and the current chunk of tokens.
template <penalised_memory Op>
class penalty_runner {
 public:
  using T = typename Op::accumulate;
  static constexpr int tokens = penalty_tokens;

  explicit penalty_runner(Op const& op)
      : op_(op),
        rows_(recurrence_shape(op.shape()).rows),
        chunk_(rows_),
        keys_(rows_, chunk_.stride(), op.layout().columns),
        directions_(rows_, chunk_.stride(), op.layout().columns),
        asked_(rows_, chunk_.stride(), op.layout().columns),
        found_(rows_, chunk_.stride(), op.layout().columns) {}

  // Reads the factor from element(i, j), j >= i, of the last columns of a state.
  template <class Element>
  void load(index head, Element const& element) {
    lambda_ = static_cast<T>(op_.lambda(head));
    chunk_.factor.load(lambda_, element);
    if constexpr (fading_penalty<Op>) left_.log = element(0, rows_);
  }
  penalty_factor<T>& factor() { return chunk_.factor; }
  T log_left() const { return left_.log; }
  index stride() const { return chunk_.stride(); }

  // Writes the write direction of token k, f M_k^-1 key, to direction(k); factor(k, f) receives f.
  template <class Direction, class Factor>
  void write_directions(walk const& w, Direction const& direction, Factor const& factor) {
    for_chunks(
        w,
        [&](index k, int count) {
          if (op_.penalises_keys())
            chunk_.own(found_.data());
          else
            chunk_.apply(keys_.data(), found_.data());
          scale_found(op_.penalises_keys() ? 1 : 2, count);
          add_refresh(w, k, count, keys_);
          for (int t = 0; t < count; ++t) {
            T by(1);
            if constexpr (Op::rule == write_rule::unit)
              by = write_factor<Op::rule>(found_.product(t, found_[t]), T(0));
            if constexpr (Op::rule == write_rule::projective)
              by = write_factor<Op::rule>(T(0), found_.product(t, keys_[t]));
            T* const to = direction(k + t);
            for (index i = 0; i < rows_; ++i) to[i] = by * found_[t][i];
            factor(k + t, by);
          }
        },
        [](index) {});
  }

  // x(k, key) points to a vector x of token k; receive(k, row, rest) gets row = M_k^-1 x and
  // rest = 1 - u_k . M_k^-1 u_k, the latter with M_k before a refresh. refreshed(k) is called when
  // factor() has been refreshed after token k.
  template <class X, class Receive, class Refreshed>
  void apply(walk const& w, X const& x, Receive const& receive, Refreshed const& refreshed) {
    for_chunks(
        w,
        [&](index k, int count) {
          asked_.fill(count, [&](int t) {
            T const* const row = x(k + t, keys_[t]);
            return [row](auto i) WANE_INLINE_LAMBDA { return row_at(row, i); };
          });
          chunk_.apply(asked_.data(), found_.data());
          scale_found(2, count);
          add_refresh(w, k, count, asked_);
          for (int t = 0; t < count; ++t) receive(k + t, found_[t], chunk_.rest(t));
        },
        refreshed);
  }

 private:
  bool is_refreshed_after(walk const& w, index k) const {
    return op_.refresh().comes_after(w.token(k).position);
  }
  // The last token of a chunk sees M after the refresh: M^-1 x + amount x.
  void add_refresh(walk const& w, index k, int count, token_rows<T> const& x) const {
    if (!is_refreshed_after(w, k + count - 1)) return;
    T const amount = static_cast<T>(op_.refresh().amount);
    for (index i = 0; i < rows_; ++i)
      found_[count - 1][i] = multiply_add(amount, x[count - 1][i], found_[count - 1][i]);
  }

  // M^-1 = over_^2 (R^T R)^-1. Directions entered R times over_, which leaves one factor for them;
  // other vectors need both.
  void scale_found(int times, int count) const {
    if constexpr (fading_penalty<Op>)
      for (int t = 0; t < count; ++t) found_.scale(t, times == 1 ? over_[t] : over_[t] * over_[t]);
  }
  // Applies the decays of at most `most` tokens from k on, and returns of how many. A token before
  // which M is renewed begins a chunk.
  index fade(walk const& w, index k, index most) {
    for (index t = 0; t < most; ++t) {
      penalty_left<T> left = left_;
      if (left.fades_too_far(op_, w.token(k + t))) {
        if (t > 0) return t;
        renew_penalty(chunk_.factor.as_part(), left.log, lambda_);
        left.log = T(0);
      }
      left_ = left;
      over_[t] = left.over();
    }
    return most;
  }

  // Calls body(first token, count) between the begin and the end of every chunk. A refresh ends a
  // chunk; refreshed(k) is called after it.
  template <class Body, class Refreshed>
  void for_chunks(walk const& w, Body const& body, Refreshed const& refreshed) {
    index const every = op_.refresh().every;
    for (index k = 0; k < w.count;) {
      index most = std::min<index>(tokens, w.count - k);
      if (every > 0) most = std::min(most, every - (w.token(k).position - 1) % every);
      if constexpr (fading_penalty<Op>) most = fade(w, k, most);
      int const count = static_cast<int>(most);
      keys_.fill(count, [&](int t) {
        auto const x = op_.terms_at(w.token(k + t));
        return [x](auto i) WANE_INLINE_LAMBDA { return x.key(i); };
      });
      bool const keys_serve = op_.penalises_keys() && !fading_penalty<Op>;
      if (!keys_serve)
        directions_.fill(count, [&](int t) { return op_.direction_at(w.token(k + t)); });
      if constexpr (fading_penalty<Op>)
        for (int t = 0; t < count; ++t) directions_.scale(t, over_[t]);
      T* const directions = keys_serve ? keys_.data() : directions_.data();
      chunk_.begin(directions);
      body(k, count);
      chunk_.end(directions);
      k += count;
      if (!is_refreshed_after(w, k - 1)) continue;
      refresh_penalty(chunk_.factor.as_part(), static_cast<T>(op_.refresh().amount));
      refreshed(k - 1);
    }
  }

  Op const& op_;
  index const rows_;
  T lambda_ = 0, over_[tokens];
  penalty_left<T> left_{};
  penalty_chunk<T> chunk_;
  token_rows<T> keys_, directions_, asked_, found_;
};

}  // namespace wane::impl
