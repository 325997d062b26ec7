// token_panel: advances a state in place by one token, in vectors of columns, for streaming.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/in_order/advance.hpp"
#include "wane/run/panels/gather.hpp"
#include "wane/run/panels/token_rows.hpp"

namespace wane::impl {

template <class Op>
concept runs_in_panels =
    affine_recurrence<Op> && fits_simd<accumulate_type<Op>> && !decays_by_element<token_of<Op>> &&
    !has_skip<token_of<Op>>;

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

  // Token k of a walk, in the columns [j, end).
  void operator()(Op const& op, walk const& w, index k, view<T, 2> const& state, index j,
                  index end) {
    Token const x = gather_.token_at(w, k);
    place<> const at = w.token(k);
    T rest[columns_together];  // outputs of fewer columns than a vector has
    auto const advance = [&](index first, index last) {
      advance_columns<T>(x, state, first, static_cast<int>(last - first), rest);
    };
    T divisor(1);
    if constexpr (divides) {
      end -= 1;
      advance(end, end + 1), divisor = divisor_of(op, at, rest[0]);
    }
    read_ = nothing;
    if constexpr (!has_erase<Token>)
      for (; lanes_fit && end - j >= many; j = std::min(end, j + columns_at_once))
        take_many(x, at, state, j, std::min(end, j + columns_at_once), divisor);
    for (; j + 4 * width <= end; j += 4 * width) take<4>(x, at, state, j, divisor);
    for (; j + width <= end; j += width) take<1>(x, at, state, j, divisor);
    if (j == end) return;
    advance(j, end);
    for (index c = j; c < end; ++c) output_.write(at, c, quotient(rest[c - j], divisor));
  }

 private:
  // Rows whose terms are read at a time.
  static constexpr index rows_at_once = 128, nothing = -1;
  // Of `many` columns and more, so many at a time are passed through by rows.
  static constexpr index many = 256, columns_at_once = 512;

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
      write_token<form, reading_of<Token>>(rows_of(x, state, i, j), columns);
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      output_.write(at, lanes<width>{j + r * width}, quotient(columns.y[r], vector(divisor)));
    });
  }

  // Columns [j, end), at most columns_at_once, for a token that does not erase.
  void take_many(Token const& x, place<> at, view<T, 2> const& state, index j, index end,
                 T divisor) {
    if constexpr (lanes_fit) {
      auto const address = reinterpret_cast<std::uintptr_t>(&state(0, j));
      int const first =
          static_cast<int>((simd_bytes - address % simd_bytes) % simd_bytes / sizeof(T));
      index const begin = j + first, whole = (end - begin) / width;
      many_columns const columns{first, static_cast<int>((end - begin) % width), whole};
      // Calls body(a vector of columns, its place in value_and_y_).
      auto const for_vectors = [&](auto const& body) WANE_INLINE_LAMBDA {
        T* to = value_and_y_;
        if (columns.first > 0) body(partial_lanes<width>{j, columns.first}, to);
        for (index n = 0; n < whole; ++n) body(lanes<width>{begin + n * width}, to += 2 * width);
        if (columns.last > 0)
          body(partial_lanes<width>{begin + whole * width, columns.last}, to + 2 * width);
      };
      vector direct(T(0));
      if constexpr (has_direct<Token>) direct = vector(T(x.direct()));
      for_vectors([&](auto at_columns, T* to) WANE_INLINE_LAMBDA {
        vector const v = x.value(at_columns);
        v.store(to), (has_direct<Token> ? direct * v : vector(T(0))).store(to + width);
      });
      for (index i = 0; i < state.extent[0]; i += rows_at_once)
        write_rows<form, reading_of<Token>>(rows_of(x, state, i, j), columns, value_and_y_);
      sequence_view<Out> const output = output_;
      for_vectors([&](auto at_columns, T const* from) WANE_INLINE_LAMBDA {
        output.write(at, at_columns, quotient(vector::load(from + width), vector(divisor)));
      });
    }
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
  alignas(64) T
      value_and_y_[has_erase<Token> ? 1 : 2 * (columns_at_once + 2 * width)];  // of write_rows
};

// Advances a state by the tokens of one walk. Precondition: token_panel::takes().
template <runs_in_panels Op, class Out>
void step_panels(Op const& op, walk const& w, sequence_view<Out> const& output,
                 view<accumulate_type<Op>, 2> const& state) {
  token_panel<Op, Out> panel(op, output);
  for (index k = 0; k < w.count; ++k) panel(op, w, k, state, 0, state.extent[1]);
}

}  // namespace wane::impl
