// Two recurrences over the same tokens whose outputs are put together: their sum, their quotient.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/state/state.hpp"

namespace wane {

// What sum_of and quotient_of share. Each part keeps its own state; that of the pair is one state,
// [N, H, 1, n]: in a row the rows of the first part's, and behind them those of the second's. So a
// pair has its state carried, kept, saved and packed as any recurrence, and may be part of a pair.
template <class First, class Second>
class recurrence_pair {
 public:
  using accumulate = std::common_type_t<accumulate_type<First>, accumulate_type<Second>>;

  First const& first() const { return first_; }
  Second const& second() const { return second_; }

  // That of the state; outputs have the columns of the first part's.
  recurrence_shape shape() const {
    recurrence_shape const s = first_.shape();
    return {s.batch, s.time, s.heads, 1, numbers(first_) + numbers(second_)};
  }
  index output_columns() const { return output_shape_of(first_).columns; }

  // Throws wane::error where a part does for its tensors, or has a state of no size.
  void check_inputs() const { check_part("first", first_), check_part("second", second_); }
  void check_parameters() const {
    if constexpr (requires { first_.check_parameters(); }) first_.check_parameters();
    if constexpr (requires { second_.check_parameters(); }) second_.check_parameters();
  }

  // The state of a part, in the memory of the pair's: of all sequences and heads, or of one.
  template <class State>
  State state_of_first(State const& both) const {
    return part(both, 0, first_);
  }
  template <class State>
  State state_of_second(State const& both) const {
    return part(both, numbers(first_), second_);
  }

  // Where the gradients of the parts go, each as its part has them; see adjoint(). What both parts
  // read has a gradient in each, and these are to be added.
  struct gradients {
    typename First::gradients first;
    typename Second::gradients second;
  };
  template <class Gradients>
  Gradients const& of_parts(Gradients const& to) const {
    return to;
  }

 protected:
  recurrence_pair(First const& first, Second const& second, index columns)
      : first_(first), second_(second) {
    static_assert(
        diagonal_recurrence<First> && diagonal_recurrence<Second>,
        "wane: both parts of a pair must be recurrences; see wane/core/recurrence/recurrence.hpp");
    static_assert(is_complex<accumulate_type<First>> == is_complex<accumulate_type<Second>>,
                  "wane: both parts of a pair must be real, or both complex");
    recurrence_shape const a = first.shape(), b = output_shape_of(second);
    check_extent("the second part", "batch", b.batch, a.batch);
    check_extent("the second part", "time", b.time, a.time);
    check_extent("the second part", "heads", b.heads, a.heads);
    check_extent("the second part", "output columns", b.columns, columns);
  }

 private:
  static index numbers(auto const& op) {
    recurrence_shape const s = op.shape();
    return s.rows * s.columns;
  }
  static void check_part(char const* name, auto const& op) {
    recurrence_shape const s = op.shape();
    require(s.rows > 0 && s.columns > 0, "the ", name, " part has ", s.rows, " rows and ",
            s.columns, " columns; it must have 1 or more");
    if constexpr (requires { op.check_inputs(); }) op.check_inputs();
  }

  template <class T>
  static view<T, 2> part(view<T, 2> const& both, index begin, auto const& op) {
    recurrence_shape const s = op.shape();
    index const step = both.stride[1];
    return {both.data + begin * step, {s.rows, s.columns}, {s.columns * step, step}};
  }
  template <class T>
  static state_view<T> part(state_view<T> const& both, index begin, auto const& op) {
    if (!both.present()) return both;
    recurrence_shape const s = op.shape();
    auto const& [data, extent, stride] = both.values;
    return {{data + begin * stride[3],
             {extent[0], extent[1], s.rows, s.columns},
             {stride[0], stride[1], s.columns * stride[3], stride[3]}},
            both.positions};
  }

  First first_;
  Second second_;
};

// y_t = a_t + b_t, of outputs a of `first` and b of `second`, of as many columns.
template <class First, class Second>
class sum_of : public recurrence_pair<First, Second> {
 public:
  // Throws wane::error when the parts have not the same tokens, heads and output columns.
  sum_of(First const& first, Second const& second)
      : recurrence_pair<First, Second>(first, second, output_shape_of(first).columns) {}

  // write(j, y_j) for the outputs a(j) and b(j) of a token.
  void put_together(index columns, auto const& a, auto const& b, auto const& write) const {
    for (index j = 0; j < columns; ++j) write(j, a(j) + b(j));
  }
};

// y_t = n_t / max(d_t, floor), of outputs n of `first` and d, one column, of `second`.
template <class First, class Second>
class quotient_of : public recurrence_pair<First, Second> {
 public:
  using T = typename recurrence_pair<First, Second>::accumulate;
  static_assert(!is_complex<T>,
                "wane::quotient_of: a denominator is compared with the floor, which complex "
                "numbers cannot be");

  // Throws wane::error when the parts have not the same tokens and heads, the denominator has more
  // than one column, or the floor is not positive and finite.
  quotient_of(First const& numerator, Second const& denominator, double floor = 1e-10)
      : recurrence_pair<First, Second>(numerator, denominator, 1), floor_(static_cast<T>(floor)) {
    using limits = std::numeric_limits<T>;
    require(floor_ >= (limits::min)() && floor_ <= (limits::max)(), "floor is ", floor,
            "; it must be finite and at least ", (limits::min)());
  }

  // NaN stays NaN.
  T divisor(T denominator) const { return denominator < floor_ ? floor_ : denominator; }

  // write(j, y_j) for the outputs n(j) and d(0) of a token.
  void put_together(index columns, auto const& n, auto const& d, auto const& write) const {
    T const by = divisor(d(0));
    for (index j = 0; j < columns; ++j) write(j, n(j) / by);
  }

 private:
  T floor_;
};

}  // namespace wane
