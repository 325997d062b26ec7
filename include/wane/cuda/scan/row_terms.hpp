// row_terms: what the tokens of a column hold for one row of the state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::cuda::impl {

// Terms that are the same at every token are read once, by read(); the others come from token x.
template <class Op, bool Packed>
class row_terms {
  using Token = token_of<Op>;
  using V = accumulate_type<Op>;
  // Packed scans of longer numbers have no registers left for terms.
  static constexpr bool has_room = !Packed || sizeof(V) <= sizeof(float);
  static constexpr bool fixed_terms = has_room && time_invariant<Op>;

 public:
  static constexpr bool fixed_decay = has_room && (time_invariant<Op> || constant_decays<Op>);
  using decay_type = decltype(decay_of(std::declval<Token const&>(), index{}, index{}));

  WANE_HOST_DEVICE row_terms(index row, index column) : row_(row), column_(column) {}

  WANE_HOST_DEVICE void read(Token const& x) {
    if constexpr (fixed_decay) decay_ = decay_of(x, row_, column_);
    if constexpr (fixed_terms) key_ = key_of(x), query_ = query_of(x);
  }

  WANE_HOST_DEVICE decay_type decay() const requires fixed_decay { return decay_; }
  WANE_HOST_DEVICE decay_type decay(Token const& x) const {
    if constexpr (fixed_decay)
      return decay_;
    else
      return decay_of(x, row_, column_);
  }
  // 1 where tokens have no key, or no query.
  WANE_HOST_DEVICE V key(Token const& x) const {
    if constexpr (fixed_terms)
      return key_;
    else
      return key_of(x);
  }
  WANE_HOST_DEVICE V query(Token const& x) const {
    if constexpr (fixed_terms)
      return query_;
    else
      return query_of(x);
  }
  // key value
  WANE_HOST_DEVICE V write(Token const& x, V value) const {
    if constexpr (has_key<Token>)
      return multiply(key(x), value);
    else
      return value;
  }

 private:
  WANE_HOST_DEVICE V key_of(Token const& x) const {
    if constexpr (has_key<Token>)
      return convert<V>(x.key(row_));
    else
      return V(1);
  }
  WANE_HOST_DEVICE V query_of(Token const& x) const {
    if constexpr (has_query<Token>)
      return convert<V>(x.query(row_));
    else if constexpr (has_element_query<Token>)
      return convert<V>(x.query(row_, column_));
    else
      return V(1);
  }

  index row_, column_;
  decay_type decay_{};
  V key_{1}, query_{1};
};

}  // namespace wane::cuda::impl
