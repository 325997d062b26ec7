// token_panel: advances a state in place by one token, in vectors of columns, for streaming.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/in_order/advance.hpp"
#include "wane/run/panels/gather.hpp"

namespace wane::impl {

template <class Op>
concept runs_in_panels =
    affine_recurrence<Op> && fits_simd<accumulate_type<Op>> && !decays_by_element<token_of<Op>> &&
    !has_skip<token_of<Op>>;

// Whether no lane is 0. A decay of 0 resets its row, a read of 0 reads nothing of it.
template <class V>
WANE_HOST_INLINE bool none_is_zero(V x) {
  return all_below(V(typename V::scalar(0)), at_least(x, -x));
}

// What a token reads and writes in R vectors of columns.
template <class Form, int R>
struct token_columns {
  typename Form::vector value[R], erased[R], y[R];
};

// Rows of a state, `stride` apart, and the terms of a token for them.
template <class T>
struct token_rows_of_state {
  term_array<T> terms;
  index count;
  T* state;
  index stride;
};

// Adds what a token reads from some rows, to erase it. Compiled once for each form, like
// write_token.
template <class Form, int R, class T = typename Form::scalar>
[[gnu::noinline]] void erase_token(token_rows_of_state<T> rows, token_columns<Form, R>& columns) {
  using vector = typename Form::vector;
  constexpr int width = Form::width;
  vector sum[2][R];  // of even and odd rows: sums that do not wait for each other
  unroll<R>([&](auto r)
                WANE_INLINE_LAMBDA { sum[0][r] = columns.erased[r], sum[1][r] = vector(T(0)); });
  for (; rows.count > 0; rows.count -= width, rows.terms.next_rows()) {
    T const* const read = rows.terms.of(erase_read_term);
    auto const add = [&](int i, vector(&to)[R]) WANE_INLINE_LAMBDA {
      vector const factor(read[i]);
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        to[r] = multiply_add(factor, vector::load(rows.state + r * width), to[r]);
      });
      rows.state += rows.stride;
    };
    if (rows.count >= width && none_is_zero(vector::load(read))) {
      for (int i = 0; i < width; i += 2) add(i, sum[0]), add(i + 1, sum[1]);
    } else {
      // A row that is not read may hold NaN.
      for (int i = 0; i < at_most(index{width}, rows.count); ++i)
        if (read[i] != T(0))
          add(i, sum[0]);
        else
          rows.state += rows.stride;
    }
  }
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA { columns.erased[r] = sum[0][r] + sum[1][r]; });
}

// Takes some rows of the state to after the token, and adds what its query reads from them.
template <class Form, bool Strictly, int R, class T = typename Form::scalar>
[[gnu::noinline]] void write_token(token_rows_of_state<T> rows, token_columns<Form, R>& columns) {
  using vector = typename Form::vector;
  constexpr int width = Form::width;
  constexpr bool fades = Form::fading != fading::none, general = Form::erasing == erasing::general;
  token_columns<Form, R> own = columns;
  split_decay<vector> w{vector(T(1)), vector(T(0))};
  if constexpr (Form::fading == fading::head)
    w = {vector::load(rows.terms.part(0)), vector::load(rows.terms.part(1))};
  bool resets = Form::fading == fading::head && !none_is_zero(factor_of(w));
  for (; rows.count > 0; rows.count -= width, rows.terms.next_rows()) {
    if constexpr (Form::fading == fading::row)
      resets = !none_is_zero(vector::load(rows.terms.of(decay_term)));
    auto const take = [&](auto may_reset) WANE_INLINE_LAMBDA {
      for (int i = 0; i < at_most(index{width}, rows.count); ++i, rows.state += rows.stride) {
        // Terms are read before a store to the state, which could change what lies in memory.
        auto const term = [&](int kind)
                              WANE_INLINE_LAMBDA { return vector(rows.terms.of(kind)[i]); };
        vector const key = term(key_term), query = term(query_term);
        vector const write = general ? term(erase_write_term) : key;
        if constexpr (Form::fading == fading::row)
          w = {vector(rows.terms.part(0)[i]), vector(rows.terms.part(1)[i])};
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          vector b = key * own.value[r];
          if constexpr (general) b = multiply_add(write, own.erased[r], b);
          vector const before = vector::load(rows.state + r * width);
          auto const carry = [&](vector add) WANE_INLINE_LAMBDA {
            if constexpr (!fades)
              return before + add;
            else if constexpr (may_reset)
              return carried(w, before, add);
            else
              return multiply_add(w.whole, before, multiply_add(w.rest, before, add));
          };
          vector const next = carry(b);
          next.store(rows.state + r * width);
          vector read = next;
          if constexpr (Strictly) read = carry(vector(T(0)));
          own.y[r] = multiply_add(query, read, own.y[r]);
        });
      }
    };
    if (resets)
      take(std::true_type{});
    else
      take(std::false_type{});
  }
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA { columns.y[r] = own.y[r]; });
}

// If the token erases, the state is read twice. Few columns are taken at once, so that their rows
// stay in the first-level cache for the second read.
template <runs_in_panels Op, class Out>
class token_panel {
 public:
  using T = accumulate_type<Op>;
  using gatherer = term_gatherer<Op>;
  using form = typename gatherer::form;
  using Token = token_of<Op>;
  using vector = typename form::vector;
  static constexpr int width = form::width;
  static constexpr bool lanes_fit = reads_lanes<Op>, divides = normalised_recurrence<Op>;

  token_panel(Op const& op, sequence_view<Out> const& output)
      : gather_(op, true), output_(output) {}

  // Whether columns are neighbours in the tensors and in `state`, and fill a vector or more.
  static bool takes(Op const& op, sequence_view<Out> const& output, view<T, 2> const& state) {
    return lanes_fit && (layout_of(op) & layout_of(output)).columns && state.stride[1] == 1 &&
           state.extent[1] >= width;
  }

  void operator()(Op const& op, walk const& w, index k, view<T, 2> const& state) {
    Token const x = gather_.token_at(w, k);
    place<> const at = w.token(k);
    T rest[columns_together];  // outputs of fewer columns than a vector has
    auto const advance = [&](index first, index last) {
      advance_columns<T>(x, state, first, static_cast<int>(last - first), rest);
    };
    index columns = state.extent[1], j = 0;
    T divisor(1);
    if constexpr (divides) {
      columns -= 1;
      advance(columns, columns + 1), divisor = divisor_of(op, rest[0]);
    }
    read_ = nothing;
    for (; j + 4 * width <= columns; j += 4 * width) take<4>(x, at, state, j, divisor);
    for (; j + width <= columns; j += width) take<1>(x, at, state, j, divisor);
    if (j == columns) return;
    advance(j, columns);
    for (index c = j; c < columns; ++c) output_.write(at, c, quotient(rest[c - j], divisor));
  }

 private:
  // Rows whose terms are read at a time.
  static constexpr index rows_at_once = 128, nothing = -1;

  template <int R>
  void take(Token const& x, place<> at, view<T, 2> const& state, index j, T divisor) {
    token_columns<form, R> columns;
    vector direct(T(0));
    if constexpr (has_direct<Token>) direct = vector(T(x.direct()));
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      if constexpr (lanes_fit) columns.value[r] = x.value(lanes<width>{j + r * width});
      columns.erased[r] = vector(T(0));
      columns.y[r] = has_direct<Token> ? direct * columns.value[r] : vector(T(0));
    });
    index const rows = state.extent[0];
    if constexpr (has_erase<Token>)
      for (index i = 0; i < rows; i += rows_at_once) erase_token(rows_of(x, state, i, j), columns);
    if constexpr (is_delta_rule<Token>)
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        columns.value[r] = columns.value[r] - columns.erased[r];
      });
    for (index i = 0; i < rows; i += rows_at_once)
      write_token<form, strictly_causal<Token>>(rows_of(x, state, i, j), columns);
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      output_.write(at, lanes<width>{j + r * width}, quotient(columns.y[r], vector(divisor)));
    });
  }

  // Rows from i on in the columns from j on. Their terms are read unless they are those read last.
  token_rows_of_state<T> rows_of(Token const& x, view<T, 2> const& state, index i, index j) {
    term_array<T> const terms{terms_, terms_ + term_kinds * rows_at_once, width};
    index const count = at_most(rows_at_once, state.extent[0] - i);
    if (read_ != i) gather_.read(x, i, i + count, terms), read_ = i;
    return {terms, count, &state(i, j), state.stride[0]};
  }

  template <class V>
  WANE_HOST_INLINE static V quotient(V y, V divisor) {
    if constexpr (divides)
      return y / divisor;
    else
      return y;
  }

  gatherer gather_;
  sequence_view<Out> const& output_;
  alignas(64) T terms_[(term_kinds + 2) * rows_at_once];
  index read_ = nothing;  // the first row whose terms are in terms_
};

// Advances a state by the tokens of one walk. Precondition: token_panel::takes().
template <runs_in_panels Op, class Out>
void step_panels(Op const& op, walk const& w, sequence_view<Out> const& output,
                 view<accumulate_type<Op>, 2> const& state) {
  token_panel<Op, Out> panel(op, output);
  for (index k = 0; k < w.count; ++k) panel(op, w, k, state);
}

}  // namespace wane::impl
