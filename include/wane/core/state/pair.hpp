// sum_of and quotient_of: two recurrences over the same tokens, their outputs added or divided.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/state/state.hpp"

namespace wane {

// The base of sum_of and quotient_of. The state of a pair is [N, H, 1, n]: the numbers of the first
// part's state, row by row, and then those of the second's. So the state of a pair can be carried,
// kept, saved and packed like any other, and a pair can be a part of a pair.
template <class First, class Second>
class recurrence_pair {
 public:
  using accumulate = std::common_type_t<accumulate_type<First>, accumulate_type<Second>>;

  First const& first() const { return first_; }
  Second const& second() const { return second_; }

  // The shape of the state. The outputs have output_columns() columns, as the first part has.
  recurrence_shape shape() const {
    recurrence_shape const s = first_.shape();
    return {s.batch, s.time, s.heads, 1, numbers(first_) + numbers(second_)};
  }
  index output_columns() const { return output_shape_of(first_).columns; }

  // Throws wane::error where a tensor of a part does not fit, or the state of a part is empty.
  void check_inputs() const { check_part("first", first_), check_part("second", second_); }
  void check_parameters() const {
    if constexpr (requires { first_.check_parameters(); }) first_.check_parameters();
    if constexpr (requires { second_.check_parameters(); }) second_.check_parameters();
  }
  void check_sequences(index sequences) const {
    if constexpr (requires { first_.check_sequences(sequences); })
      first_.check_sequences(sequences);
    if constexpr (requires { second_.check_sequences(sequences); })
      second_.check_sequences(sequences);
  }

  bool counts_positions() const {
    return wane::counts_positions(first_) || wane::counts_positions(second_);
  }

  // A view of the part of the pair's state that belongs to one part. `both` is a state_view, or the
  // view of one sequence and head.
  template <class State>
  State state_of_first(State const& both) const {
    return part(both, 0, first_);
  }
  template <class State>
  State state_of_second(State const& both) const {
    return part(both, numbers(first_), second_);
  }

  //   adjoint(pair, output_gradient, decltype(pair)::gradients{.first = a, .second = b});
  //
  // Each part has its own gradients. A tensor that both parts read gets a gradient from each; the
  // caller adds them.
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
    static_assert(diagonal_recurrence<First> && diagonal_recurrence<Second>,
                  "wane: both parts of a pair must be recurrences; see "
                  "wane/core/recurrence/diagonal_recurrence.hpp");
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

//   run(sum_of(memory, attention), output);
//
// y_t = a_t + b_t, where a and b are the outputs of `first` and `second`, with the same columns.
template <class First, class Second>
class sum_of : public recurrence_pair<First, Second> {
 public:
  // Throws wane::error unless the parts have the same batch, time, heads and output columns.
  sum_of(First const& first, Second const& second)
      : recurrence_pair<First, Second>(first, second, output_shape_of(first).columns) {}

  // write(j, y_j) for the outputs a(j) and b(j) of a token.
  void put_together(index columns, auto const& a, auto const& b, auto const& write) const {
    for (index j = 0; j < columns; ++j) write(j, a(j) + b(j));
  }
};

//   run(quotient_of(numerator, denominator), output);
//
// y_t = n_t / max(d_t, floor), where n are the outputs of `first`, and d, one column, of `second`.
template <class First, class Second>
class quotient_of : public recurrence_pair<First, Second> {
 public:
  using T = typename recurrence_pair<First, Second>::accumulate;
  static_assert(!is_complex<T>,
                "wane::quotient_of: a denominator is compared with the floor, which complex "
                "numbers cannot be");

  // Throws wane::error unless the parts have the same batch, time and heads, the denominator has
  // one column, and the floor is a finite, positive, normal number.
  quotient_of(First const& numerator, Second const& denominator, double floor = 1e-10)
      : recurrence_pair<First, Second>(numerator, denominator, 1), floor_(static_cast<T>(floor)) {
    using limits = std::numeric_limits<T>;
    require(floor_ >= (limits::min)() && floor_ <= (limits::max)(), "floor is ", floor,
            "; it must be finite and at least ", (limits::min)());
  }

  // max(denominator, floor), and NaN where the denominator is NaN.
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
