// chunk_in_order: a micro-chunk token by token, forward and back, where a reset meets NaN.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/run/panels/chunk_terms.hpp"

namespace wane::impl {

// A reset replaces NaN and infinity in a state, which the products of a micro-chunk do not. So the
// columns are taken one at a time here. Compiled once for each form of panel.
template <class Form>
class chunk_in_order {
 public:
  using T = typename Form::scalar;
  static constexpr bool fades = Form::fading != fading::none;
  static constexpr bool erases = Form::erasing != erasing::none;
  static constexpr int tokens = micro_tokens;

  // terms: those of the first token; the others follow `width` numbers apart. values:
  // [token][value_stride].
  chunk_in_order(micro_chunk<T> const& chunk, term_array<T> const& terms, index rows, reading reads,
                 T const* values, index value_stride)
      : chunk_(chunk),
        terms_(terms),
        rows_(rows),
        reads_(reads),
        values_(values),
        value_stride_(value_stride) {}

  // Computes the state after the chunk in columns [first, last); `after` may be `before`. Rows of
  // states are `stride` apart. outputs: [token][value_stride], or null.
  [[gnu::noinline]] void advance(index first, index last, T const* before, T* after, index stride,
                                 T* outputs) const {
    std::vector<T> states(size(2 * rows_));
    T *from = states.data(), *to = from + rows_;
    for (index j = first; j < last; ++j) {
      for (index i = 0; i < rows_; ++i) from[i] = before[i * stride + j];
      for (int t = 0; t < chunk_.count; ++t, std::swap(from, to)) {
        take(t, j, from, to);
        if (outputs) outputs[t * value_stride_ + j] = output(t, j, from, to);
      }
      for (index i = 0; i < rows_; ++i) after[i * stride + j] = from[i];
    }
  }

  // Where the gradients of a chunk go: [token][value_stride], and [token][5][rows_padded], the
  // kinds decay, key, query, erase_read and erase_write.
  struct gradients {
    T *values, *rows;
    index rows_padded;
    bool in_logs;  // decays
  };
  // Takes the cotangent of the state back through the chunk, in columns [0, last). The columns
  // behind, which pad the rows, become zero.
  [[gnu::noinline]] void take_back(index last, T const* before, T* cotangent, index stride,
                                   T const* output_gradients, gradients const& to) const {
    std::vector<T> states(size((tokens + 1) * rows_)), back(size(rows_)), pending(size(rows_));
    std::fill_n(to.rows, chunk_.count * 5 * to.rows_padded, T(0));
    for (index j = 0; j < last; ++j) {
      std::fill(pending.begin(), pending.end(), T(0));
      for (index i = 0; i < rows_; ++i)
        states[size(i)] = before[i * stride + j], back[size(i)] = cotangent[i * stride + j];
      for (int t = 0; t < chunk_.count; ++t) {
        T* const state = states.data() + t * rows_;
        take(t, j, state, state + rows_);
      }
      for (int t = chunk_.count; t-- > 0;)
        take_token_back(t, j, states.data() + t * rows_, back.data(), pending.data(),
                        output_gradients[t * value_stride_ + j], to);
      for (index i = 0; i < rows_; ++i)
        cotangent[i * stride + j] = carry(0, i, back[size(i)], pending[size(i)]);
    }
    for (index i = 0; i < rows_; ++i)
      std::fill(cotangent + i * stride + last, cotangent + (i + 1) * stride, T(0));
  }

 private:
  static std::size_t size(index i) { return static_cast<std::size_t>(i); }
  T term(int kind, int t, index i) const {
    constexpr int width = Form::width;
    return terms_.of(kind)[(i / width * Form::terms + t) * width + i % width];
  }
  // The whole (0) or the rest (1) of the decay of row i.
  T part(int which, int t, index i) const {
    constexpr int width = Form::width;
    if (Form::fading == fading::head) i = 0;
    return terms_.part(which)[(i / width * 2 * tokens + t) * width + i % width];
  }
  T carry(int t, index i, T state, T added) const {
    if constexpr (fades)
      return carried(split_decay<T>{part(0, t, i), part(1, t, i)}, state, added);
    else
      return state + added;
  }
  // What the token reads from the state to erase, and what its key writes.
  T erased(int t, T const* state) const {
    T total(0);
    if constexpr (erases)
      for (index i = 0; i < rows_; ++i)
        if (T const read = term(erase_read_term, t, i); read != T(0))
          total = multiply_add(read, state[i], total);
    return total;
  }
  T written(int t, index j, T erased) const {
    T const value = values_[t * value_stride_ + j];
    return Form::erasing == erasing::delta ? value - erased : value;
  }

  void take(int t, index j, T const* before, T* after) const {
    T const found = erased(t, before), value = written(t, j, found);
    for (index i = 0; i < rows_; ++i) {
      T b = term(key_term, t, i) * value;
      if constexpr (Form::erasing == erasing::general)
        b = multiply_add(term(erase_write_term, t, i), found, b);
      after[i] = carry(t, i, before[i], b);
    }
  }
  T read_from(int t, index i, T const* before, T const* after) const {
    return reads_ == reading::written ? after[i]
           : reads_ == reading::faded ? carry(t, i, before[i], T(0))
                                      : before[i];
  }
  T output(int t, index j, T const* before, T const* after) const {
    T y = chunk_.has_direct ? chunk_.direct[t] * values_[t * value_stride_ + j] : T(0);
    for (index i = 0; i < rows_; ++i)
      y = multiply_add(term(query_term, t, i), read_from(t, i, before, after), y);
    return y;
  }

  // `back` holds dL/dS after the next token, before its decay, and `pending` what the next token
  // adds that reads before its decay; both are brought to this token. The state after it follows
  // the one before.
  void take_token_back(int t, index j, T const* before, T* back, T* pending, T dy,
                       gradients const& to) const {
    T const* const after = before + rows_;
    T const found = erased(t, before), value = written(t, j, found);
    T of_value(0), of_erased(0);
    auto const row = [&](int kind, index i) -> T& {
      return to.rows[(t * 5 + kind) * to.rows_padded + i];
    };
    for (index i = 0; i < rows_; ++i) {
      T const of_query = term(query_term, t, i) * dy;
      T const arriving = pending[i] + (reads_ == reading::written ? of_query : T(0));
      T const g = t + 1 < chunk_.count ? carry(t + 1, i, back[i], arriving) : back[i] + arriving;
      back[i] = reads_ == reading::faded ? g + of_query : g;
      pending[i] = reads_ == reading::old ? of_query : T(0);
      of_value = multiply_add(term(key_term, t, i), g, of_value);
      if constexpr (fades)
        row(0, i) += (to.in_logs ? carry(t, i, before[i], T(0)) : before[i]) * back[i];
      row(1, i) += value * g;
      row(2, i) += read_from(t, i, before, after) * dy;
      if constexpr (Form::erasing == erasing::general) {
        of_erased = multiply_add(term(erase_write_term, t, i), g, of_erased);
        row(4, i) += found * g;
      }
    }
    if constexpr (Form::erasing == erasing::delta) of_erased = -of_value;
    if constexpr (erases)
      for (index i = 0; i < rows_; ++i) {
        T const read = term(erase_read_term, t, i);
        if (read != T(0)) pending[i] = multiply_add(read, of_erased, pending[i]);
        row(3, i) += before[i] * of_erased;
      }
    if (chunk_.has_direct) of_value = multiply_add(chunk_.direct[t], dy, of_value);
    to.values[t * value_stride_ + j] = of_value;
  }

  micro_chunk<T> const& chunk_;
  term_array<T> terms_;
  index rows_;
  reading reads_;
  T const* values_;
  index value_stride_;
};

}  // namespace wane::impl
