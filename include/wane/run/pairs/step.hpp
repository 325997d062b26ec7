// One token of a pair of recurrences: both parts take it, and their outputs are put together.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/state/pair.hpp"
#include "wane/run/in_order/advance.hpp"
#include "wane/run/shared/by_table.hpp"

namespace wane::impl {

// Outputs of one token, on the stack up to `few` columns and allocated beyond.
template <class T>
class token_outputs {
 public:
  explicit token_outputs(index columns)
      : columns_(columns), many_(static_cast<std::size_t>(columns > few ? columns : 0)) {}

  // The same numbers at every place.
  sequence_view<T> view() { return {data(), {1, 1, 1, columns_}, {0, 0, 0, 1}}; }
  T operator()(index j) const { return (columns_ > few ? many_.data() : few_)[j]; }

 private:
  static constexpr index few = 2048;
  T* data() { return columns_ > few ? many_.data() : few_; }

  index columns_;
  std::vector<T> many_;
  T few_[few];
};

// One token of a pair: both parts take it into their parts of the state. Allocates nothing up to
// 2048 outputs a head.
template <paired_recurrence Op, class State, class Write>
void advance(Op const& op, place<> at, view<State, 2> state, Write const& write) {
  using T = accumulate_type<Op>;
  token_outputs<T> a(output_shape_of(op.first()).columns), b(output_shape_of(op.second()).columns);
  walk const token{at.sequence, at.batch, at.head, at.time, 1, 1, at.position};
  step_by_table(op.first(), token, a.view(), op.state_of_first(state));
  step_by_table(op.second(), token, b.view(), op.state_of_second(state));
  op.put_together(op.output_columns(), a, b, write);
}

}  // namespace wane::impl
