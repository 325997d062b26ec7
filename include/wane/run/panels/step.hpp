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

// If the token erases, the state is read twice. Few columns are taken at once, so that their rows
// stay in the first-level cache for the second read.
template <runs_in_panels Op, class Out>
class token_panel {
 public:
  using T = accumulate_type<Op>;
  using gatherer = term_gatherer<Op>;
  using Token = token_of<Op>;
  using vector = typename gatherer::vector;
  static constexpr int width = gatherer::width;
  static constexpr bool fades = gatherer::form::fading != fading::none;
  static constexpr bool lanes_fit = reads_lanes<Op>, divides = normalised_recurrence<Op>;

  token_panel(Op const& op, sequence_view<Out> const& output) : gather_(op), output_(output) {}

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
    for (; j + 4 * width <= columns; j += 4 * width) take<4>(x, at, state, j, divisor);
    for (; j + width <= columns; j += width) take<1>(x, at, state, j, divisor);
    if (j == columns) return;
    advance(j, columns);
    for (index c = j; c < columns; ++c) output_.write(at, c, quotient(rest[c - j], divisor));
  }

 private:
  template <int R>
  [[gnu::noinline]] void take(Token const& x, place<> at, view<T, 2> const& state, index j,
                              T divisor) const {
    index const stride = state.stride[0];
    vector value[R], erased[R], y[R];
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      if constexpr (lanes_fit) value[r] = x.value(lanes<width>{j + r * width});
      erased[r] = y[r] = vector(T(0));
    });
    if constexpr (has_direct<Token>) {
      vector const direct(T(x.direct()));
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { y[r] = direct * value[r]; });
    }
    if constexpr (has_erase<Token>) {
      vector odd[R] = {};  // of every other row: sums that do not wait for each other
      for_blocks(state, j, [&](index first, int count, T* s) WANE_INLINE_LAMBDA {
        T read[width];
        vector const reads =
            gather_.row_term([&](auto i) { return x.erase_read(i); }, first, count);
        reads.store(read);
        auto const add = [&](int i, vector(&to)[R]) WANE_INLINE_LAMBDA {
          vector const factor(read[i]);
          T const* const row = s + i * stride;
          unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
            to[r] = multiply_add(factor, vector::load(row + r * width), to[r]);
          });
        };
        if (count == width && none_is_zero(reads)) {
          for (int i = 0; i < width; i += 2) add(i, erased), add(i + 1, odd);
        } else {
          for (int i = 0; i < count; ++i)
            if (read[i] != T(0)) add(i, erased);
        }
      });
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { erased[r] = erased[r] + odd[r]; });
    }
    if constexpr (is_delta_rule<Token>)
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { value[r] = value[r] - erased[r]; });
    for_blocks(state, j, [&](index first, int count, T* s) WANE_INLINE_LAMBDA {
      T key[width], query[width], write[width], whole[width], rest[width];
      if constexpr (has_key<Token>)
        gather_.row_term([&](auto i) { return x.key(i); }, first, count).store(key);
      if constexpr (has_query<Token>)
        gather_.row_term([&](auto i) { return x.query(i); }, first, count).store(query);
      if constexpr (has_erase_write<Token>)
        gather_.row_term([&](auto i) { return x.erase_write(i); }, first, count).store(write);
      bool resets = false;
      if constexpr (fades) {
        auto const w = gather_.row_decay(x, first, count);
        w.whole.store(whole), w.rest.store(rest);
        resets = !none_is_zero(factor_of(w));
      }
      auto const take_rows = [&](auto may_reset) WANE_INLINE_LAMBDA {
        for (int i = 0; i < count; ++i, s += stride)
          unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
            vector b = value[r], next = vector::load(s + r * width);
            if constexpr (has_key<Token>) b = vector(key[i]) * b;
            if constexpr (has_erase_write<Token>) b = multiply_add(vector(write[i]), erased[r], b);
            vector const before = next;
            auto const w = [&] {
              if constexpr (fades)
                return split_decay<vector>{vector(whole[i]), vector(rest[i])};
              else
                return no_decay{};
            }();
            if constexpr (!fades || may_reset)
              next = carried(w, before, b);
            else
              next = multiply_add(w.whole, before, multiply_add(w.rest, before, b));
            next.store(s + r * width);
            vector const read = read_from<Token>(w, before, next);
            if constexpr (has_query<Token>)
              y[r] = multiply_add(vector(query[i]), read, y[r]);
            else
              y[r] = y[r] + read;
          });
      };
      if (resets)
        take_rows(std::true_type{});
      else
        take_rows(std::false_type{});
    });
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      output_.write(at, lanes<width>{j + r * width}, quotient(y[r], vector(divisor)));
    });
  }

  WANE_HOST_INLINE static bool none_is_zero(vector x) {
    return all_below(vector(T(0)), at_least(x, -x));
  }

  template <class V>
  WANE_HOST_INLINE static V quotient(V y, V divisor) {
    if constexpr (divides)
      return y / divisor;
    else
      return y;
  }

  // Calls body(first row, number of rows, address of column j of the first row) for blocks of rows.
  template <class Body>
  WANE_HOST_INLINE static void for_blocks(view<T, 2> const& state, index j, Body const& body) {
    index const rows = state.extent[0];
    for (index i = 0; i < rows; i += width)
      body(i, static_cast<int>(at_most(index{width}, rows - i)), &state(i, j));
  }

  gatherer gather_;
  sequence_view<Out> const& output_;
};

// Advances a state by the tokens of one walk. Precondition: token_panel::takes().
template <runs_in_panels Op, class Out>
void step_panels(Op const& op, walk const& w, sequence_view<Out> const& output,
                 view<accumulate_type<Op>, 2> const& state) {
  token_panel<Op, Out> const panel(op, output);
  for (index k = 0; k < w.count; ++k) panel(op, w.token(k), state);
}

}  // namespace wane::impl
