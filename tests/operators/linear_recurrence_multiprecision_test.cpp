// The templates of wane with 50 digits agree with a loop that does not use wane.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_dec_float.hpp>

#include "support/naive.hpp"
#include "support/random_values.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index;
using wane::decay_as;

template <class Real>
class Multiprecision : public ::testing::Test {
 public:
  static constexpr index time = 40, columns = 3, rows = 5;
  std::vector<Real> decay, drive, output = std::vector<Real>(time * columns);
  std::vector<Real> initial;

  Multiprecision() {
    support::random_values random;
    for (index i = 0; i < time * columns; ++i) {
      decay.emplace_back(i % 11 == 7 ? -HUGE_VAL : random.log_decay());
      drive.emplace_back(random.uniform(-1, 1));
    }
    for (index i = 0; i < rows * columns; ++i) initial.emplace_back(random.uniform(-1, 1));
  }

  wane::sequence_view<Real const> of(std::vector<Real> const& x) const {
    return {x.data(), 1, time, 1, columns};
  }
  wane::state_view<Real const> state(index row_count) const {
    return {{initial.data(), 1, 1, row_count, columns}};
  }
  // Both sides round to 50 digits or more; forty tokens lose two of them.
  static bool near(Real const& a, Real const& b) { return abs(a - b) <= Real(1e-46); }
};
using Reals =
    ::testing::Types<boost::multiprecision::cpp_bin_float_50,
                     boost::multiprecision::number<boost::multiprecision::cpp_dec_float<50>,
                                                   boost::multiprecision::et_off>>;
TYPED_TEST_SUITE(Multiprecision, Reals);

template <decay_as Form, class Real, class Case>
void expect_linear(Case& test) {
  wane::linear_recurrence<Form, Real> const op(
      {.decay = test.of(test.decay), .drive = test.of(test.drive)});
  wane::sequence_view<Real> const y(test.output.data(), 1, Case::time, 1, Case::columns);
  wane::run_options<Real> options;
  options.initial = test.state(1);
  wane::run(op, y, options);
  for (index c = 0; c < Case::columns; ++c)
    support::naive_channel<Form == decay_as::log, Real>(
        {0, Case::time}, test.initial[static_cast<std::size_t>(c)],
        [&](index t) { return test.of(test.decay)(0, t, 0, c); },
        [&](index t) { return test.of(test.drive)(0, t, 0, c); },
        [&](index t, Real const& h) { EXPECT_TRUE(test.near(y(0, t, 0, c), h)); });
}

TYPED_TEST(Multiprecision, LogDecaysAreTheFormula) {
  expect_linear<decay_as::log, TypeParam>(*this);
}

TYPED_TEST(Multiprecision, PlainFactorsAreTheFormula) {
  for (auto& x : this->decay) x = exp(x) * (x < TypeParam(-0.01) ? -1 : 1);
  expect_linear<decay_as::factor, TypeParam>(*this);
}

TYPED_TEST(Multiprecision, BankIsTheFormula) {
  using Real = TypeParam;
  support::random_values random;
  support::naive_nodes<Real> nodes;
  for (index s = 0; s < this->rows; ++s) {
    nodes.log_decay.emplace_back(random.log_decay());
    nodes.key.emplace_back(random.uniform(-1, 1));
    nodes.query.emplace_back(random.uniform(-1, 1));
  }
  nodes.direct = Real(0.3);
  wane::exponential_bank<Real> const op({.value = this->of(this->drive),
                                         .log_decay = {nodes.log_decay.data(), 1, this->rows},
                                         .key = {nodes.key.data(), 1, this->rows},
                                         .query = {nodes.query.data(), 1, this->rows},
                                         .direct = {&nodes.direct, 1}});
  wane::sequence_view<Real> const y(this->output.data(), 1, this->time, 1, this->columns);
  wane::run_options<Real> options;
  options.initial = this->state(this->rows);
  wane::run(op, y, options);
  for (index c = 0; c < this->columns; ++c) {
    std::vector<Real> h;
    for (index s = 0; s < this->rows; ++s)
      h.push_back(this->initial[static_cast<std::size_t>(s * this->columns + c)]);
    support::naive_bank<Real>(
        {0, this->time}, nodes, h, [&](index t) { return this->of(this->drive)(0, t, 0, c); },
        [&](index t, Real const& right, Real const&) {
          EXPECT_TRUE(this->near(y(0, t, 0, c), right));
        });
  }
}

}  // namespace
