// The adjoint of recurrences with rows: one token forward, one token backward.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/numbers/decay_derivative.hpp"
#include "wane/run/shared/gradients.hpp"
#include "wane/run/shared/state_lanes.hpp"

namespace wane::impl {

// The adjoint of one group of columns of a walk: the columns of a vector, or one. The arrays below
// hold one V for each row.
template <affine_recurrence Op, class V, class Columns, class Out, class Gradients>
class column_adjoint {
 public:
  using T = accumulate_type<Op>;
  using Token = token_of<Op>;
  using decay_type =
      decltype(widen<V>(decay_of(std::declval<Token>(), index{}, std::declval<Columns>())));
  // Whether the decays are computed once for a walk.
  static constexpr bool constant_decays = time_invariant<Op> && !decays_by_element<Token>;
  // Whether a token reads the state before its decay.
  static constexpr bool has_pending = has_erase<Token> || reads_before_decay<Token>;
  using Sink = sink_of<Gradients, Op>;

  column_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                 Gradients const& gradients, Columns columns, index rows,
                 decay_type const* constant, V* decay_gradients, V* rate_gradients)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        columns_(columns),
        rows_(rows),
        constant_(constant),
        decay_gradients_(decay_gradients),
        rate_gradients_(rate_gradients) {}

  // `after` receives the state after token x; it may be `before`.
  WANE_HOST_INLINE void forward(Token const& x, V const* before, V* after) const {
    V const erased = recalled(x, before);
    auto const& seen = column_of(x, columns_);
    V const written = written_of(seen, erased);
    for (index i = 0; i < rows_; ++i) {
      V b = written;
      if constexpr (has_key<Token>) b = multiply(V(x.key(i)), written);
      if constexpr (has_erase_write<Token>) b = multiply_add(V(x.erase_write(i)), erased, b);
      after[i] = carried(decay(seen, i), before[i], b);
    }
  }

  // Takes the cotangent back through one token. Before the call, `cotangent` is dL/dS after the
  // next token, `later` the decay of the next token (1 at the end), and `pending` the gradient from
  // what it reads before its decay. After the call, all three are those of this token. `before` and
  // `after` are the states before and after this token. `sums` receives the gradients that are
  // summed over columns.
  template <class A>
  WANE_HOST_INLINE void backward(place<> at, V const* before, V const* after, V* cotangent,
                                 V* pending, decay_type* later, head_gradients<A>& sums) const {
    Token const x = op_.at(at);
    V const dy = V(convert<T>(output_gradient_.read(at, columns_)));
    auto const& seen = column_of(x, columns_);
    V const value = V(seen.value(columns_)), erased = recalled(x, before);
    V const written = written_of(seen, erased);
    V value_gradient = V(T(0)), erase_cotangent = V(T(0)), step_gradient = V(T(0));
    if constexpr (has_direct<Token>) {
      sums.whole.direct += gathered<A>(multiply(conjugate(value), dy));
    }
    for (index i = 0; i < rows_; ++i) {
      // g is dL/dS after this token. A strictly causal token reads before it writes, so its query
      // adds to the cotangent after that.
      V of_query = dy, arriving = V(T(0));
      if constexpr (has_query<Token>) of_query = multiply(V(conjugate(x.query(i))), dy);
      if constexpr (!strictly_causal<Token>) arriving = of_query;
      if constexpr (has_pending) arriving = arriving + pending[i];
      V const g = cotangent[i] = carried(conjugate(later[i]), cotangent[i], arriving);
      if constexpr (reading_of<Token> == reading::faded) cotangent[i] = g + of_query;
      if constexpr (has_pending) pending[i] = reads_before_decay<Token> ? of_query : V(T(0));
      decay_type const w = later[i] = decay(seen, i);
      V const decay_gradient = multiply(conjugate(decay_derivative(w, before[i])), cotangent[i]);
      if constexpr (has_key<Token>)
        value_gradient = multiply_add(V(conjugate(x.key(i))), g, value_gradient);
      else
        value_gradient = value_gradient + g;
      if constexpr (has_erase_write<Token>)
        erase_cotangent = multiply_add(V(conjugate(x.erase_write(i))), g, erase_cotangent);
      if constexpr (has_rates<Op, Columns>) {
        V const rate = op_.rate(at.head, i, columns_), step = seen.step(columns_);
        step_gradient = by_rate(conjugate(rate), decay_gradient, step_gradient);
        rate_gradients_[i] = multiply_add(conjugate(step), decay_gradient, rate_gradients_[i]);
      }
      add_row(sums, i, dy, read_from<Token>(w, before[i], after[i]), g, decay_gradient, written,
              erased);
    }
    if constexpr (is_delta_rule<Token>) erase_cotangent = -value_gradient;
    if constexpr (has_erase<Token>)
      for (index i = 0; i < rows_; ++i) {
        auto const read = x.erase_read(i);
        if (read != decltype(read)(0))  // erase_cotangent may be NaN
          pending[i] = multiply_add(V(conjugate(read)), erase_cotangent, pending[i]);
        sums.rows[static_cast<std::size_t>(i)].erase_read +=
            gathered<A>(multiply(conjugate(before[i]), erase_cotangent));
      }
    if constexpr (has_direct<Token>)
      value_gradient = multiply_add(V(conjugate(x.direct())), dy, value_gradient);
    auto const sink = sink_at(gradients_, op_, at);
    if constexpr (takes_columns<Sink, Columns, V>) sink.column(columns_, value_gradient);
    if constexpr (takes_all_of_columns<Sink, Columns, V>)
      sink.all_of_column(
          columns_,
          column_gradients<V>{rows_, value_gradient, has_skip<Token> ? dy : V(T(0)), step_gradient,
                              decays_by_element<Token> ? decay_gradients_ : nullptr});
    if constexpr (sums_decays<Sink> && decays_by_element<Token>)
      for (index i = 0; i < rows_; ++i)
        sums.rows[static_cast<std::size_t>(i)].decay += gathered<A>(decay_gradients_[i]);
  }

  // dL/dS of the initial state, from the arrays of the first token.
  V initial_gradient(index i, V const* cotangent, V const* pending, decay_type const* later) const {
    return carried(conjugate(later[i]), cotangent[i], has_pending ? pending[i] : V(T(0)));
  }

 private:
  template <class Seen>
  WANE_HOST_INLINE decay_type decay(Seen const& x, index i) const {
    if constexpr (constant_decays)
      return constant_[i];
    else
      return widen<V>(decay_of(x, i, columns_));
  }

  WANE_HOST_INLINE V recalled(Token const& x, V const* state) const {
    V total = V(T(0));
    if constexpr (has_erase<Token>)
      for (index i = 0; i < rows_; ++i) {
        auto const read = x.erase_read(i);
        if (read != decltype(read)(0)) total = multiply_add(V(read), state[i], total);
      }
    (void)x, (void)state;
    return total;
  }

  // The value that the key writes.
  template <class Seen>
  WANE_HOST_INLINE V written_of(Seen const& x, V erased) const {
    V const value = V(x.value(columns_));
    if constexpr (is_delta_rule<Token>)
      return value - erased;
    else
      return value;
  }

  template <class A>
  WANE_HOST_INLINE void add_row(head_gradients<A>& sums, index i, V dy, V read, V g,
                                V decay_gradient, V written, V erased) const {
    auto& row = sums.rows[static_cast<std::size_t>(i)];
    if constexpr (decays_by_element<Token>) {
      decay_gradients_[i] = decay_gradient;
    } else {
      auto const decay = gathered<A>(decay_gradient);
      row.decay += decay;
      sums.whole.decay += decay;
    }
    if constexpr (has_key<Token>) row.key += gathered<A>(multiply(conjugate(written), g));
    if constexpr (has_query<Token>) row.query += gathered<A>(multiply(conjugate(read), dy));
    if constexpr (has_erase_write<Token>)
      row.erase_write += gathered<A>(multiply(conjugate(erased), g));
  }

  Op const& op_;
  sequence_view<Out const> const& output_gradient_;
  Gradients const& gradients_;
  Columns columns_;
  index rows_;
  decay_type const* constant_;
  V *decay_gradients_, *rate_gradients_;
};

}  // namespace wane::impl
