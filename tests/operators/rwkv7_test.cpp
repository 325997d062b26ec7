// rwkv7 is S <- (diag(e^g) - (a o c) c^T) S + k v^T, y = scale S^T r + (r . (rho o k)) v.
// SPDX-License-Identifier: MIT
#include "wane/operators/rwkv7.hpp"

#include <gtest/gtest.h>

#include "support/memory_case.hpp"
#include "wane/run/adjoint.hpp"

namespace {

using wane::rwkv7;

static_assert(wane::affine_recurrence<rwkv7<float>> && !wane::scannable<rwkv7<float>>);
static_assert(wane::has_erase_write<wane::token_of<rwkv7<float>>>);

template <class Io>
class Rwkv7 : public ::testing::Test {
 public:
  static void expect_formula(support::memory_case<Io>& c,
                             wane::view<wane::widened<Io> const, 2> const& bonus) {
    auto inputs = c.naive();
    inputs.scale = c.shape.options.scale.value_or(1);  // RWKV-7 has none
    inputs.log_decay = c.slow_decay, inputs.removal = c.removal, inputs.rate = c.rate;
    inputs.bonus = bonus;
    auto in = c.rwkv7_in();
    in.bonus = bonus;
    c.expect(rwkv7<Io>(in, c.slow_decay, c.shape.options), inputs,
             [](auto&... token) { return support::naive_rwkv7<double>(token...); });
  }
};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(Rwkv7, Types);

TYPED_TEST(Rwkv7, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) { TestFixture::expect_formula(c, {}); });
}

TYPED_TEST(Rwkv7, IsItsFormulaWithABonus) {
  support::for_each_memory<TypeParam>(
      [](auto& c) { TestFixture::expect_formula(c, c.bonus_view()); });
}

// Without a bonus its gradient is the one at a bonus of 0.
TEST(Rwkv7WithoutABonus, HasTheGradientOfABonusOfZero) {
  support::memory_case<double> c({2, 20, 2, 3, 4});
  std::vector<double> zeros(6), of_none(6, -1), of_zeros(6, -1);
  auto in = c.rwkv7_in();
  for (bool given : {false, true}) {
    in.bonus = {};
    if (given) in.bonus = {zeros.data(), 2, 3};
    wane::adjoint(rwkv7<double>(in, c.slow_decay), c.value.view(),
                  {.bonus = {(given ? of_zeros : of_none).data(), 2, 3}});
  }
  EXPECT_EQ(of_none, of_zeros);
  EXPECT_NE(of_none[0], 0);
}

}  // namespace
