// lightning_attention is S <- w_h S + k v^T, y = scale S^T q with its fixed w_h; laws are kept.
// SPDX-License-Identifier: MIT
#include "wane/operators/lightning_attention.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/gated_problems.hpp"
#include "support/laws_hold.hpp"
#include "support/memory_case.hpp"
#include "support/naive_gated.hpp"
#include "wane/spectra/rates/lightning.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace {

using wane::lightning_attention, wane::lightning_gate;
using wane::testing::lightning_problem, wane::testing::memory_size;

static_assert(wane::scannable<lightning_attention<float>>);
static_assert(wane::has_log_decay<wane::token_of<lightning_attention<float>>>);
static_assert(std::is_trivially_copyable_v<lightning_attention<float>>);

template <class Io>
class LightningAttention : public testing::Test {};
using Types = testing::Types<float, double, wane::bfloat16>;
TYPED_TEST_SUITE(LightningAttention, Types);

TYPED_TEST(LightningAttention, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) {
    c.expect(lightning_attention<TypeParam>(c.in(), {.layer = 3, .layers = 24}, c.shape.options),
             c.naive(),
             [](auto&... token) { return support::naive_lightning<double>(token..., 3, 24); });
  });
}

// In the last of many layers a head loses 1e-7 of its state in a token, and keeps the rest.
TYPED_TEST(LightningAttention, IsItsFormulaInTheLastOfManyLayers) {
  support::memory_case<TypeParam> c({1, 2000, 8, 3, 4});
  c.expect(
      lightning_attention<TypeParam>(c.in(), {9999999, 10000000}), c.naive(),
      [](auto&... token) { return support::naive_lightning<double>(token..., 9999999, 10000000); });
}

TEST(LightningGate, HasTheRatesOfTheSpectrum) {
  auto const rates = wane::spectra::lightning(12, 5, 24);
  lightning_gate<double> const gate(12, {5, 24});
  for (wane::index h = 0; h < 12; ++h)
    EXPECT_DOUBLE_EQ(gate.read({0, 7, h}), -rates[static_cast<std::size_t>(h)]);
  EXPECT_EQ(gate.read({}), 0);
}

TEST(LightningAttention, KeepsTheLaws) {
  for (memory_size const& size :
       {memory_size{1, 200, 3, 1, 1}, {2, 70, 2, 3, 17}, {1, 70, 6, 5, 4, 2}}) {
    support::expect_to_hold(check_laws(lightning_problem<float>(size), 1e-6));
    support::expect_to_hold(check_laws(lightning_problem<double>(size), 1e-12));
  }
}

TEST(LightningAttention, HasTheGradientsOfAllInputs) {
  for (memory_size const& size : {memory_size{2, 50, 2, 3, 5}, {1, 35, 6, 3, 4, 2}}) {
    lightning_problem<double> problem(size);
    support::expect_to_hold(wane::testing::check_adjoint_laws(problem));
  }
}

TEST(LightningAttention, RefusesLayersThatThereAreNot) {
  support::memory_case<float> const c({1, 3, 2, 4, 5});
  auto const refused = [&](std::vector<std::string> const& why, wane::lightning_layer layer) {
    support::expect_error(why, [&] { lightning_attention<float>(c.in(), layer); });
  };
  refused({"layers is 0", "at least 1"}, {0, 0});
  refused({"layer is -1", "from 0 to 2"}, {-1, 3});
  refused({"layer is 3", "from 0 to 2"}, {3, 3});
  support::expect_error({"value is not given"}, [&] {
    lightning_attention<float>({.query = c.query, .key = c.key}, {0, 1});
  });
}

}  // namespace
