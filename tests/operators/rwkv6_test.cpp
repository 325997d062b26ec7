// rwkv6 is y = scale (S + (u o k) v^T)^T r, then S <- diag(e^g) S + k v^T.
// SPDX-License-Identifier: MIT
#include "wane/operators/rwkv6.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/memory_case.hpp"
#include "support/memory_laws.hpp"
#include "support/rwkv6_problem.hpp"

namespace {

using support::index;
using wane::rwkv6;

static_assert(wane::scannable<rwkv6<float>>);
static_assert(wane::reads_before_decay<wane::token_of<rwkv6<float>>>);

template <class Io>
class Rwkv6 : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16>;
TYPED_TEST_SUITE(Rwkv6, Types);

TYPED_TEST(Rwkv6, IsItsFormula) {
  for (bool with_bonus : {false, true})
    support::for_each_memory<TypeParam>([&](auto& c) {
      auto inputs = c.naive();
      inputs.scale = c.shape.options.scale.value_or(1), inputs.log_decay = c.row_decay;
      if (with_bonus) inputs.bonus = c.bonus_view();
      auto const token = [](auto const& in, auto& s, index b, index t, index h) {
        auto const k = in.template direction<double>(in.key, b, t, h),
                   v = in.template row<double>(in.value, b, t, h);
        auto const r = support::times(in.scale, in.template direction<double>(in.query, b, t, h));
        auto y = s.read(r);
        double bonus = 0;
        for (std::size_t i = 0; in.bonus.data && i < s.rows; ++i)
          bonus += r[i] * static_cast<double>(in.bonus(h, static_cast<index>(i))) * k[i];
        for (std::size_t j = 0; j < s.columns; ++j) y[j] += bonus * v[j];
        s.fade(in.template decay<double>(b, t, h));
        s.write(k, v);
        return y;
      };
      c.expect(rwkv6<TypeParam>({.query = c.query,
                                 .key = c.key,
                                 .value = c.value,
                                 .bonus = with_bonus ? c.bonus_view() : decltype(c.bonus_view()){}},
                                c.row_decay, c.shape.options),
               inputs, token);
    });
}

TEST(Rwkv6Laws, Hold) { support::expect_memory_laws<wane::testing::rwkv6_problem>(); }
TEST(Rwkv6Laws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<wane::testing::rwkv6_problem>();
}

TEST(Rwkv6Bonus, IsRefusedInAnotherShape) {
  support::memory_case<float> c({1, 4, 2, 3, 5});
  support::expect_error({"bonus has shape [3, 2]; it must be [H, K] = [2, 3]"}, [&] {
    rwkv6<float>(
        {.query = c.query, .key = c.key, .value = c.value, .bonus = {c.bonus.data(), 3, 2}},
        c.row_decay);
  });
}

}  // namespace
