// Every operator of wane keeps every law, in every scalar type and ragged shape.
// SPDX-License-Identifier: MIT
#include "wane/testing/laws.hpp"

#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/problems.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

using support::expect_to_hold;

// Agreement of runners, HOUSE's 1e-6 in float; in double the same multiple of its rounding.
template <class T>
constexpr double agreement = sizeof(real_type<T>) == 4 ? 1e-6 : 1e-13;

template <class T>
class Laws : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Laws, Scalars);

constexpr index times[] = {5, 64, 129, 1000};
constexpr index widths[] = {1, 2, 3, 4, 7, 8, 16, 63, 65};

TYPED_TEST(Laws, LinearRecurrenceWithLogDecays) {
  for (index time : times)
    for (index channels : widths)
      expect_to_hold(check_laws(linear_problem<decay_as::log, TypeParam>(1, time, 1, channels),
                                agreement<TypeParam>));
}

TYPED_TEST(Laws, LinearRecurrenceWithPlainFactors) {
  for (index time : times)
    for (index channels : widths)
      expect_to_hold(check_laws(linear_problem<decay_as::factor, TypeParam>(1, time, 1, channels),
                                agreement<TypeParam>));
}

TYPED_TEST(Laws, LinearRecurrenceWithSeveralHeadsAndSequences) {
  for (index channels : {1, 4, 17})
    expect_to_hold(check_laws(linear_problem<decay_as::log, TypeParam>(3, 100, 2, channels),
                              agreement<TypeParam>));
}

TYPED_TEST(Laws, ExponentialBank) {
  std::vector<index> const few{5, 129}, many{5, 64, 129, 1000};
  for (index time : is_complex<TypeParam> ? few : many)
    for (index states : {1, 4, 16, 19, 33})
      for (index channels : {1, 16, 33})
        expect_to_hold(
            check_laws(bank_problem<TypeParam>(1, time, 2, states, channels), agreement<TypeParam>),
            std::to_string(time) + " tokens, " + std::to_string(states) + " states, " +
                std::to_string(channels) + " channels: ");
}

TYPED_TEST(Laws, UsersMemory) {
  for (index time : times)
    expect_to_hold(
        check_laws(user_memory_problem<TypeParam>(1, time, 2, 5, 7), agreement<TypeParam>));
}

TYPED_TEST(Laws, UsersMemoryThatErases) {
  for (index time : times)
    expect_to_hold(
        check_laws(user_eraser_problem<TypeParam>(1, time, 2, 5, 7), agreement<TypeParam>));
}

template <class T>
class AdjointLaws : public ::testing::Test {};
using Doubles = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(AdjointLaws, Doubles);

template <class P>
void expect_adjoint(P p) {
  expect_to_hold(check_adjoint_laws(p));
}

TYPED_TEST(AdjointLaws, LinearRecurrence) {
  for (index channels : {1, 3, 16, 17}) {
    expect_adjoint(linear_problem<decay_as::log, TypeParam>(2, 100, 2, channels));
    expect_adjoint(linear_problem<decay_as::factor, TypeParam>(2, 100, 2, channels));
  }
}

TYPED_TEST(AdjointLaws, ExponentialBank) {
  for (index states : {1, 16, 19})
    for (index channels : {1, 8, 13})
      expect_adjoint(bank_problem<TypeParam>(2, 70, 2, states, channels));
}

TYPED_TEST(AdjointLaws, UsersMemory) {
  expect_adjoint(user_memory_problem<TypeParam>(2, 70, 2, 5, 7));
}

TYPED_TEST(AdjointLaws, UsersMemoryThatErases) {
  expect_adjoint(user_eraser_problem<TypeParam>(2, 70, 2, 5, 7));
}

// The test of the tests: what breaks a law is told, and by the law it breaks.
std::vector<std::string> broken(std::vector<law_result> const& results) {
  std::vector<std::string> laws;
  for (law_result const& r : results)
    if (!r.holds()) laws.push_back(r.law);
  return laws;
}

// Its decay depends on where a token lies in the tensor, not on its position in the sequence.
struct clock_problem {
  struct memory {
    sequence_view<double const> x;
    recurrence_shape shape() const { return {1, x.extent[1], 1, 1, x.extent[3]}; }
    struct token {
      sequence_view<double const> const& x;
      place<> where;
      double decay() const { return 1 / (2. + static_cast<double>(where.time)); }
      double value(index j) const { return x.read(where, j); }
    };
    token at(place<> where) const { return {x, where}; }
  };
  std::vector<double> x = std::vector<double>(80, 1.);
  index time() const { return 40; }
  memory make(index begin, index end) const {
    return {sequence_view<double const>(x.data(), 1, 40, 1, 2).tokens(begin, end)};
  }
};

TEST(BrokenLaws, AreThoseOfPiecesWhereADecayLooksAtTheTensor) {
  EXPECT_EQ(
      broken(check_laws(clock_problem(), 1e-13)),
      (std::vector<std::string>{"step = run", "split = whole", "the size of pieces does not matter",
                                "reverse: split = whole", "packed = separate", "effects compose"}));
}

// Hands each input the gradient of the other.
struct swapped_problem : linear_problem<decay_as::log, double> {
  using linear_problem::linear_problem;
  auto input_gradients() {
    return std::array<std::span<double>, 2>{drive.gradient, decay.gradient};
  }
};

TEST(BrokenLaws, AreTheDerivativesWhereGradientsAreSwapped) {
  swapped_problem p(1, 20, 1, 3);
  EXPECT_EQ(broken(check_adjoint_laws(p)),
            (std::vector<std::string>{"adjoint: derivative of a padded batch by input 0",
                                      "adjoint: derivative of a padded batch by input 1",
                                      "adjoint: derivative by input 0",
                                      "adjoint: derivative by input 1"}));
}

// A run and an adjoint that take padding for tokens.
struct without_lengths : cpu_runner {
  void operator()(auto const& op, auto output, auto options) const {
    options.lengths = {};
    run(op, output, options);
  }
};
struct adjoint_without_lengths : cpu_adjoint {
  void operator()(auto const& op, auto output_gradient, auto const& to, auto options) const {
    options.lengths = {};
    adjoint(op, output_gradient, to, options);
  }
};

TEST(BrokenLaws, AreThoseOfPaddedBatchesWherePaddingIsRead) {
  linear_problem<decay_as::log, double> p(2, 20, 1, 3);
  EXPECT_EQ(broken(check_laws(p, 1e-13, 1, without_lengths())),
            std::vector<std::string>{"padded = separate"});
  EXPECT_EQ(broken(check_adjoint_laws(p, 1e-8, 1, adjoint_without_lengths())),
            (std::vector<std::string>{"adjoint: derivative of a padded batch by initial state",
                                      "adjoint: derivative of a padded batch by input 0",
                                      "adjoint: derivative of a padded batch by input 1"}));
}

}  // namespace
}  // namespace wane::testing
