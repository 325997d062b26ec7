// retnet is S <- gamma_h S + k v^T, y = scale S^T q, gamma one number a head.
// SPDX-License-Identifier: MIT
#include "wane/operators/retnet.hpp"

#include <gtest/gtest.h>

#include "support/memory_case.hpp"

namespace {

using wane::retnet;

static_assert(wane::scannable<retnet<float>>);

template <class Io>
class Retnet : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(Retnet, Types);

TYPED_TEST(Retnet, IsItsFormula) {
  using number = wane::widened<TypeParam>;
  support::for_each_memory<TypeParam>([](auto& c) {
    // The naive loop has no strides, so the log decay of each head is repeated for every token.
    std::vector<TypeParam> stored;
    std::vector<number> log_gamma;
    for (support::index h = 0; h < c.shape.heads; ++h) {
      stored.push_back(support::stored<TypeParam>(-0.3 / static_cast<double>(1 + h * h * h)));
      log_gamma.push_back(static_cast<number>(stored.back()));
    }
    auto inputs = c.naive();
    inputs.log_decay = {stored.data(), {1, c.shape.time, c.shape.heads, 1}, {0, 0, 1, 0}};
    c.expect(retnet<TypeParam>(c.in(), {{log_gamma.data(), c.shape.heads}}, c.shape.options),
             inputs, [](auto&... token) { return support::naive_gla<double>(token...); });
  });
}

// Sun et al. 2023, eq. 5: o_n = sum over m <= n of gamma^(n-m) (q_n . k_m) v_m.
TEST(RetnetInParallelForm, IsTheSame) {
  support::index const time = 50, rows = 3;
  support::memory_case<double> c({1, time, 1, rows, 2});
  double const log_gamma = std::log1p(-0x1p-5);
  wane::run(retnet<double>(c.in(), {{&log_gamma, 1}}, {.scale = 1}), c.output.view());
  support::nearness near;
  for (support::index n = 0; n < time; ++n)
    for (support::index j = 0; j < 2; ++j) {
      double o = 0;
      for (support::index m = 0; m <= n; ++m)
        for (support::index i = 0; i < rows; ++i)
          o += std::pow(1 - 0x1p-5, n - m) * c.query(0, n, 0, i) * c.key(0, m, 0, i) *
               c.value(0, m, 0, j);
      near.add(c.output(0, n, 0, j), o);
    }
  EXPECT_LT(near.both(), 1e-12);
}

}  // namespace
