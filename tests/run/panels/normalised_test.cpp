// A user's operator whose last column divides the others, in every form that has a runner.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index;

enum class fades { never, by_element };

// S <- w o S + k_i v_j, y_j = sum_i S_ij / max(sum_i S_i,last, 2). The last value is 1 and is not
// read. Either the terms are constant in time (`Constant`: the form of a bank), or decays are by
// element.
template <class T, fades Decay, bool Constant>
struct mean_memory {
  static constexpr bool is_time_invariant = Constant;
  wane::sequence_view<T const> values;
  index rows;

  wane::recurrence_shape shape() const {
    auto const& x = values.extent;
    return {x[0], x[1], x[2], rows, x[3] + 1};
  }
  wane::layout layout() const { return layout_of(values); }
  T floor() const { return T(2); }

  struct token {
    mean_memory const& op;
    wane::place<> where;

    T key(index i) const { return T(1) / static_cast<T>(i + 1); }
    auto log_decay(index i, auto j) const requires(Decay == fades::by_element) {
      return decltype(value(j))(T(-0.01) * static_cast<T>(i + 1));
    }
    auto value(auto j) const {
      index const last = op.values.extent[3];
      if constexpr (std::integral<decltype(j)>) {
        return j < last ? op.values.read(where, j) : T(1);
      } else {
        wane::simd<T, decltype(j)::width> x(T(0));
        for (int l = 0; l < wane::lane_count(j); ++l) x.v[l] = value(j.first + l);
        return x;
      }
    }
  };
  token at(wane::place<> where) const { return {*this, where}; }
};

template <class T, fades Decay, bool Constant>
void expect_means(index rows, index columns) {
  constexpr index time = 40;
  support::random_values random;
  support::tensor<T> values(1, time, 2, columns), y(1, time, 2, columns),
      steps(1, time, 2, columns);
  values.fill([&](auto...) { return random.uniform(0, 1); });
  mean_memory<T, Decay, Constant> const op{values, rows};
  static_assert(wane::normalised_recurrence<decltype(op)>);
  wane::recurrent_state<T> final(op), state(op);
  wane::run(op, y.view(), wane::run_options<T>{.final = final});
  wane::step(op, steps.view(), state);
  support::nearness outputs, stepped, states;
  for (index h = 0; h < 2; ++h) {
    std::vector<double> s(static_cast<std::size_t>(rows * (columns + 1)));
    for (index t = 0; t < time; ++t) {
      std::vector<double> sums(static_cast<std::size_t>(columns + 1));
      for (index i = 0; i < rows; ++i)
        for (index j = 0; j <= columns; ++j) {
          double& x = s[static_cast<std::size_t>(i * (columns + 1) + j)];
          if (Decay == fades::by_element) x *= std::exp(-0.01 * static_cast<double>(i + 1));
          double const v = j < columns ? static_cast<double>(values(0, t, h, j)) : 1.;
          x += v / static_cast<double>(i + 1);
          sums[static_cast<std::size_t>(j)] += x;
        }
      for (index j = 0; j < columns; ++j) {
        double const mean = sums[static_cast<std::size_t>(j)] / std::max(sums.back(), 2.);
        outputs.add(static_cast<double>(y(0, t, h, j)), mean);
        stepped.add(static_cast<double>(steps(0, t, h, j)), mean);
      }
    }
    for (std::size_t n = 0; n < s.size(); ++n)
      states.add(static_cast<double>(final.values()[static_cast<std::size_t>(h) * s.size() + n]),
                 s[n]);
  }
  // Roundings of sums of 40 positive numbers.
  double const bound = sizeof(T) == 4 ? 1e-6 : 1e-14;
  EXPECT_LT(outputs.both(), bound) << rows << ", " << columns;
  EXPECT_LT(stepped.both(), bound) << rows << ", " << columns;
  EXPECT_LT(states.both(), bound) << rows << ", " << columns;
  if constexpr (sizeof(T) <= 8) {  // a long double has unused bits
    EXPECT_TRUE(y.margins_untouched());
    EXPECT_TRUE(steps.margins_untouched());
  }
}

template <class T>
class Normalised : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Normalised, Types);

TYPED_TEST(Normalised, DividesInEveryForm) {
  for (index rows : {1, 3, 20})
    for (index columns : {1, 3, 16, 33, 130}) {
      expect_means<TypeParam, fades::never, false>(rows, columns);
      expect_means<TypeParam, fades::never, true>(rows, columns);
      expect_means<TypeParam, fades::by_element, false>(rows, columns);
    }
}

// Types without vectors use the runner in_order.
TEST(NormalisedInLongDouble, Divides) { expect_means<long double, fades::never, false>(3, 5); }

}  // namespace
