// Gradients of the keyed memories with extreme decays and strengths, and keys of no length.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

// Log decays are at the ends of their range and have no gradient. Every third key and query is
// zero. The epsilon is so large that central differences see no bend there.
template <class P>
struct extreme_problem : P {
  static constexpr double decays[] = {0, -HUGE_VAL, -1e-9, -205, -0.5};

  extreme_problem() : P({1, 35, 2, 3, 5, 0, {.normalise = true, .epsilon = 1}}) {
    auto& log_decays = this->gate.values.values;
    for (double& g : log_decays) g = decays[this->bits() % 5];
    std::fill_n(log_decays.begin(), 6, -0.5);  // the first token must keep the initial state
    for (auto* x : {&this->key.input.values, &this->query.input.values})
      for (std::size_t i = 0; i < x->size(); ++i)
        if (i / 3 % 3 == 0) (*x)[i] = 0;
    if constexpr (requires { this->strength; })
      for (double& beta : this->strength.values) beta = static_cast<double>(this->bits() % 3);
  }
  std::vector<std::span<double>> inputs() { return without_gate(P::inputs()); }
  std::vector<std::span<double>> input_gradients() { return without_gate(P::input_gradients()); }

 private:
  std::vector<std::span<double>> without_gate(auto const& all) const {
    auto const& own = this->gate.values;
    std::vector<std::span<double>> others;
    for (auto const& x : all)
      if (x.data() != own.values.data() && x.data() != own.gradient.data()) others.push_back(x);
    return others;
  }
};

template <class Problem>
class MemoryHardGradients : public ::testing::Test {};
using Gated =
    ::testing::Types<gla_problem<double>, gla_problem<double, token_view<double const>>,
                     linear_attention_problem<double, sequence_view<double const>>,
                     gated_delta_net_problem<double>, kimi_problem<double>, rwkv7_problem<double>>;
TYPED_TEST_SUITE(MemoryHardGradients, Gated);

TYPED_TEST(MemoryHardGradients, AreTheDerivativesAndNothingPassesAReset) {
  extreme_problem<TypeParam> p;
  auto const results = check_adjoint_laws(p);
  // Derivatives by the inputs and the initial state, of a padded batch likewise, and threads.
  EXPECT_EQ(results.size(), 2 * (p.inputs().size() + 1) + 1);
  support::expect_to_hold(results);
  auto const& gate = p.gate.values;
  for (std::size_t i = 0; i < gate.values.size(); ++i) {
    EXPECT_TRUE(std::isfinite(gate.gradient[i])) << "log decay " << gate.values[i];
    if (gate.values[i] < -200) {
      EXPECT_NEAR(gate.gradient[i], 0, 1e-80);  // e^-205 is 9e-90
    }
  }
}

}  // namespace
}  // namespace wane::testing
