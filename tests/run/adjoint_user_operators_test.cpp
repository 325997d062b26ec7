// The adjoint of a user's keyed memories, with gradients of their own, against complex steps.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/keyed_case.hpp"

namespace {

using support::arrangement;
using support::erases;
using support::forgets;
using support::index;
using wane::direction;

template <forgets Decay, erases Erase>
void expect_adjoint() {
  for (direction way : {direction::forward, direction::reverse}) {
    support::keyed_case<double, Decay, Erase> a(2, 20, 2, 3, 4, arrangement::spread);
    a.expect_adjoint(way, {}, 1e-9);
    support::keyed_case<double, Decay, Erase> b(1, 67, 1, 5, 1, arrangement::plain);
    b.expect_adjoint(way, {}, 1e-9);
    support::keyed_case<double, Decay, Erase> packed(1, 40, 2, 2, 3, arrangement::plain);
    packed.expect_adjoint(way, {0, 0, 1, 18, 18, 39, 40}, 1e-9);
  }
}

TEST(AdjointOfUserOperators, OfLinearAttentionIsTheDerivative) {
  expect_adjoint<forgets::never, erases::no>();
}
TEST(AdjointOfUserOperators, WithDecayByHeadIsTheDerivative) {
  expect_adjoint<forgets::by_head, erases::no>();
}
TEST(AdjointOfUserOperators, WithDecayByRowIsTheDerivative) {
  expect_adjoint<forgets::by_row, erases::no>();
}
TEST(AdjointOfUserOperators, OfTheDeltaRuleIsTheDerivative) {
  expect_adjoint<forgets::never, erases::yes>();
}
TEST(AdjointOfUserOperators, OfTheGatedDeltaRuleIsTheDerivative) {
  expect_adjoint<forgets::by_head, erases::yes>();
  expect_adjoint<forgets::by_row, erases::yes>();
}

}  // namespace
