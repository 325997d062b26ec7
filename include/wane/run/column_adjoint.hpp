// The adjoint over one walk: forward to keep states, then chunk by chunk backward in time.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/gradient.hpp"
#include "wane/run/walk.hpp"

namespace wane {

// Sums over many tokens are held in double.
template <class T>
struct wider_type {
  using type = T;
};
template <>
struct wider_type<float> {
  using type = double;
};
template <>
struct wider_type<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using wider = typename wider_type<T>::type;

template <class T>
T sum(T const& x) {
  return x;
}

// A decay for all lanes of V.
template <class V>
no_decay widen(no_decay) {
  return {};
}
template <class V, class D>
plain_decay<V> widen(plain_decay<D> w) {
  return {V(w.factor)};
}
template <class V, class D>
split_decay<V> widen(split_decay<D> w) {
  return {V(w.whole), V(w.rest)};
}
inline no_decay conjugate(no_decay w) { return w; }
template <class V>
plain_decay<V> conjugate(plain_decay<V> w) {
  return {conjugate(w.factor)};
}
template <class V>
split_decay<V> conjugate(split_decay<V> w) {
  return {conjugate(w.whole), conjugate(w.rest)};
}

// d(w s)/d(log w) = w s, and d(w s)/dw = s.
template <class V>
V decay_derivative(no_decay, V) {
  return V(0);
}
template <class V>
V decay_derivative(plain_decay<V>, V s) {
  return s;
}
template <class V>
V decay_derivative(split_decay<V> w, V s) {
  return carried(w, s, V(real_type<typename scalar_of_value<V>::type>(0)));
}

// Sums over columns of the gradients of one token, or over tokens too.
template <class T>
struct head_gradients {
  std::vector<row_gradient<T>> rows;
  token_gradient<T> whole{};

  explicit head_gradients(index row_count = 0) : rows(static_cast<std::size_t>(row_count)) {}

  head_gradients& operator+=(head_gradients const& other) {
    if (rows.size() < other.rows.size()) rows.resize(other.rows.size());
    for (std::size_t i = 0; i < other.rows.size(); ++i) {
      rows[i].decay += other.rows[i].decay;
      rows[i].key += other.rows[i].key;
      rows[i].query += other.rows[i].query;
      rows[i].erase_read += other.rows[i].erase_read;
      rows[i].erase_write += other.rows[i].erase_write;
    }
    whole.decay += other.whole.decay;
    whole.direct += other.whole.direct;
    return *this;
  }
};

// One group of columns (a simd of lanes, or one) of a walk. The arrays below are rows x 1 V.
template <affine_recurrence Op, class V, class Columns, class Out, class Gradients>
class column_adjoint {
 public:
  using T = accumulate_type<Op>;
  using Token = token_of<Op>;
  using Sums = head_gradients<wider<T>>;
  using decay_type =
      decltype(widen<V>(decay_of(std::declval<Token>(), index{}, std::declval<Columns>())));

  column_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                 Gradients const& gradients, Columns columns, index rows)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        columns_(columns),
        rows_(rows) {}

  // `after` receives the state after token x; it may be `before`.
  WANE_HOST_INLINE void forward(Token const& x, V const* before, V* after) const {
    V const erased = recalled(x, before);
    V const value = V(x.value(columns_));
    for (index i = 0; i < rows(); ++i) {
      V b = value;
      if constexpr (has_key<Token>) b = multiply(V(x.key(i)), value);
      if constexpr (has_erase<Token>) b = multiply_add(V(x.erase_write(i)), erased, b);
      after[i] = carried(widen<V>(decay_of(x, i, columns_)), before[i], b);
    }
  }

  // `cotangent` holds dL/dS after the next token (by its decay `later`, absent at the end), and
  // `pending` what the next token's erase term adds; all are brought to this token. `before` and
  // `after` are the states around it; `sums` receives what must be summed over columns.
  WANE_HOST_INLINE void backward(place<> at, V const* before, V const* after, V* cotangent,
                                 V* pending, decay_type* later, bool last, Sums& sums) const {
    Token const x = op_.at(at);
    V const dy = V(convert<T>(output_gradient_.read(at, columns_)));
    V const value = V(x.value(columns_)), erased = recalled(x, before);
    V value_gradient = V(T(0)), erase_cotangent = V(T(0));
    if constexpr (has_direct<Token>) {
      value_gradient = multiply(V(conjugate(x.direct())), dy);
      sums.whole.direct += wider<T>(sum(multiply(conjugate(value), dy)));
    }
    for (index i = 0; i < rows(); ++i) {
      V arriving = dy;
      if constexpr (has_query<Token>) arriving = multiply(V(conjugate(x.query(i))), dy);
      if constexpr (has_erase<Token>) arriving = arriving + pending[i];
      V const g = cotangent[i] =
          last ? cotangent[i] + arriving : carried(conjugate(later[i]), cotangent[i], arriving);
      decay_type const w = later[i] = widen<V>(decay_of(x, i, columns_));
      V const decay_gradient = multiply(conjugate(decay_derivative(w, before[i])), g);
      if constexpr (has_key<Token>)
        value_gradient = multiply_add(V(conjugate(x.key(i))), g, value_gradient);
      else
        value_gradient = value_gradient + g;
      if constexpr (has_erase<Token>)
        erase_cotangent = multiply_add(V(conjugate(x.erase_write(i))), g, erase_cotangent);
      if constexpr (channelwise<Op>)
        deliver_element(at, g, decay_gradient);
      else
        add_row(sums, i, dy, after[i], g, decay_gradient, value, erased);
    }
    if constexpr (has_erase<Token>)
      for (index i = 0; i < rows(); ++i) {
        pending[i] = multiply(V(conjugate(x.erase_read(i))), erase_cotangent);
        sums.rows[static_cast<std::size_t>(i)].erase_read +=
            wider<T>(sum(multiply(conjugate(before[i]), erase_cotangent)));
      }
    auto const sink = gradients_.at(at);
    if constexpr (takes_columns<decltype(sink), Columns, V>) sink.column(columns_, value_gradient);
  }

  // What the first token hands to the initial state.
  V initial_gradient(index i, V const* cotangent, V const* pending, decay_type const* later,
                     bool empty) const {
    if (empty) return cotangent[i];
    V erased = V(T(0));
    if constexpr (has_erase<Token>) erased = pending[i];
    return carried(conjugate(later[i]), cotangent[i], erased);
  }

 private:
  // Known at compile time where the loops over rows are the whole cost.
  WANE_HOST_INLINE index rows() const { return channelwise<Op> ? 1 : rows_; }

  WANE_HOST_INLINE V recalled(Token const& x, V const* state) const {
    V total = V(T(0));
    if constexpr (has_erase<Token>)
      for (index i = 0; i < rows(); ++i) total = multiply_add(V(x.erase_read(i)), state[i], total);
    (void)x, (void)state;
    return total;
  }

  void deliver_element(place<> at, V value_gradient, V decay_gradient) const {
    auto const sink = gradients_.at(at);
    if constexpr (takes_elements<decltype(sink), Columns, V>)
      sink.element(columns_, element_gradient<V>{value_gradient, decay_gradient});
  }

  void add_row(Sums& sums, index i, V dy, V after, V g, V decay_gradient, V value, V erased) const {
    auto& row = sums.rows[static_cast<std::size_t>(i)];
    auto const decay = wider<T>(sum(decay_gradient));
    row.decay += decay;
    sums.whole.decay += decay;
    if constexpr (has_key<Token>) row.key += wider<T>(sum(multiply(conjugate(value), g)));
    if constexpr (has_query<Token>) row.query += wider<T>(sum(multiply(conjugate(after), dy)));
    if constexpr (has_erase<Token>)
      row.erase_write += wider<T>(sum(multiply(conjugate(erased), g)));
  }

  Op const& op_;
  sequence_view<Out const> const& output_gradient_;
  Gradients const& gradients_;
  Columns columns_;
  index rows_;
};

}  // namespace wane
