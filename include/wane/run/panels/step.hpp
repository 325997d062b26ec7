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

// A token: the terms of its rows, [row / width][kind][width], and its direct term.
template <class T>
struct token_terms {
  T const* terms;
  index rows;
  bool has_direct = false;
  T direct = 0;
};

// Advances R vectors of columns of a state by a token; rows of the state are `stride` apart. If the
// token erases, the state is read twice. Few columns are taken at once, so that their rows stay in
// the first-level cache for the second read. Compiled once for each form, not for each operator.
template <class Form, bool Strictly, int R, class T = typename Form::scalar>
[[gnu::noinline]] void take_token(token_terms<T> const& x, T* state, index stride, T const* values,
                                  T* outputs) {
  using vector = typename Form::vector;
  constexpr int width = Form::width;
  constexpr bool fades = Form::fading != fading::none;
  vector value[R], erased[R], y[R];
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
    value[r] = vector::load(values + r * width);
    erased[r] = vector(T(0));
    y[r] = x.has_direct ? vector(x.direct) * value[r] : vector(T(0));
  });
  auto const none_is_zero = [](vector v) { return all_below(vector(T(0)), at_least(v, -v)); };
  // Calls body(terms of a block of rows, number of rows, address of its first row).
  auto const for_blocks = [&](auto const& body) WANE_INLINE_LAMBDA {
    T const* terms = x.terms;
    T* row = state;
    for (index i = 0; i < x.rows; i += width, terms += term_kinds * width, row += width * stride)
      body(terms, static_cast<int>(at_most(index{width}, x.rows - i)), row);
  };
  if constexpr (Form::erasing != erasing::none) {
    vector odd[R] = {};  // of every other row: sums that do not wait for each other
    for_blocks([&](T const* terms, int count, T const* s) WANE_INLINE_LAMBDA {
      T const* const read = terms + erase_read_term * width;
      auto const add = [&](int i, vector(&to)[R]) WANE_INLINE_LAMBDA {
        vector const factor(read[i]);
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          to[r] = multiply_add(factor, vector::load(s + i * stride + r * width), to[r]);
        });
      };
      if (count == width && none_is_zero(vector::load(read))) {
        for (int i = 0; i < width; i += 2) add(i, erased), add(i + 1, odd);
      } else {
        for (int i = 0; i < count; ++i)
          if (read[i] != T(0)) add(i, erased);
      }
    });
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { erased[r] = erased[r] + odd[r]; });
  }
  if constexpr (Form::erasing == erasing::delta)
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { value[r] = value[r] - erased[r]; });
  for_blocks([&](T const* terms, int count, T* s) WANE_INLINE_LAMBDA {
    auto const take_rows = [&](auto may_reset) WANE_INLINE_LAMBDA {
      for (int i = 0; i < count; ++i, ++terms, s += stride)
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          vector b = vector(terms[key_term * width]) * value[r],
                 before = vector::load(s + r * width);
          if constexpr (Form::erasing == erasing::general)
            b = multiply_add(vector(terms[erase_write_term * width]), erased[r], b);
          vector next = before + b, read = before;
          if constexpr (fades) {
            split_decay<vector> const w{vector(terms[whole_term * width]),
                                        vector(terms[rest_term * width])};
            auto const carry = [&](vector add) WANE_INLINE_LAMBDA {
              if constexpr (may_reset) return carried(w, before, add);
              return multiply_add(w.whole, before, multiply_add(w.rest, before, add));
            };
            next = carry(b);
            if constexpr (Strictly) read = carry(vector(T(0)));
          }
          next.store(s + r * width);
          y[r] = multiply_add(vector(terms[query_term * width]), Strictly ? read : next, y[r]);
        });
    };
    if (fades && !none_is_zero(vector::load(terms + factor_term * width)))
      take_rows(std::true_type{});
    else
      take_rows(std::false_type{});
  });
  unroll<R>([&](auto r) WANE_INLINE_LAMBDA { y[r].store(outputs + r * width); });
}

template <runs_in_panels Op, class Out>
class token_panel {
 public:
  using T = accumulate_type<Op>;
  using gatherer = term_gatherer<Op>;
  using Token = token_of<Op>;
  static constexpr int width = gatherer::width;
  static constexpr bool lanes_fit = reads_lanes<Op>, divides = normalised_recurrence<Op>;

  token_panel(Op const& op, sequence_view<Out> const& output) : gather_(op), output_(output) {
    if (gather_.numbers_of_token() > most_on_stack)
      many_ = aligned_numbers<T>(gather_.numbers_of_token());
  }

  // Whether columns are neighbours in the tensors and in `state`, and fill a vector or more.
  static bool takes(Op const& op, sequence_view<Out> const& output, view<T, 2> const& state) {
    return lanes_fit && (layout_of(op) & layout_of(output)).columns && state.stride[1] == 1 &&
           state.extent[1] >= width;
  }

  void operator()(Op const& op, place<> at, view<T, 2> const& state) const {
    Token const x = op.at(at);
    T rest[columns_together];  // outputs of fewer columns than a vector has
    auto const advance = [&](index first, index last) {
      advance_columns<T>(x, state, std::integral_constant<int, 1>{}, first,
                         static_cast<int>(last - first), rest);
    };
    index columns = state.extent[1], j = 0;
    T divisor(1);
    if constexpr (divides) {
      columns -= 1;
      advance(columns, columns + 1), divisor = divisor_of(op, rest[0]);
    }
    alignas(64) T few[most_on_stack];
    T* const terms = many_.data() ? many_.data() : few;
    gather_(x, terms);
    token_terms<T> token{terms, state.extent[0]};
    if constexpr (has_direct<Token>) token.has_direct = true, token.direct = T(x.direct());
    for (; j + 4 * width <= columns; j += 4 * width) take<4>(x, token, at, state, j, divisor);
    for (; j + width <= columns; j += width) take<1>(x, token, at, state, j, divisor);
    if (j == columns) return;
    advance(j, columns);
    for (index c = j; c < columns; ++c) output_.write(at, c, quotient(rest[c - j], divisor));
  }

 private:
  static constexpr index most_on_stack = term_kinds * 128;

  template <int R>
  void take(Token const& x, token_terms<T> const& token, place<> at, view<T, 2> const& state,
            index j, T divisor) const {
    using form = typename gatherer::form;
    using vector = typename form::vector;
    alignas(64) T values[R * width], outputs[R * width];
    if constexpr (lanes_fit)
      for (int r = 0; r < R; ++r)
        vector(x.value(lanes<width>{j + r * width})).store(values + r * width);
    take_token<form, strictly_causal<Token>, R>(token, &state(0, j), state.stride[0], values,
                                                outputs);
    for (int r = 0; r < R; ++r)
      output_.write(at, lanes<width>{j + r * width},
                    quotient(vector::load(outputs + r * width), vector(divisor)));
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
  aligned_numbers<T> many_;  // the terms of a token with more than 128 rows
};

// Advances a state by the tokens of one walk. Precondition: token_panel::takes().
template <runs_in_panels Op, class Out>
void step_panels(Op const& op, walk const& w, sequence_view<Out> const& output,
                 view<accumulate_type<Op>, 2> const& state) {
  token_panel<Op, Out> const panel(op, output);
  for (index k = 0; k < w.count; ++k) panel(op, w.token(k), state);
}

}  // namespace wane::impl
