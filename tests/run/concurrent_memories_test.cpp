// Calls from several threads at once on one operator: those of the remaining runners.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>

#include "support/element_memory.hpp"
#include "support/laplace_problem.hpp"
#include "support/log_linear_problem.hpp"
#include "support/mesa_problem.hpp"
#include "support/retention_problem.hpp"
#include "support/same_bits_at_once.hpp"
#include "support/substep_problems.hpp"
#include "wane/core/state/pair.hpp"
#include "wane/operators/laplace_coefficients.hpp"

namespace {

using support::expect_same_bits_at_once;
using wane::index;
using namespace wane::testing;

memory_size const size{2, 70, 3, 8, 9};

template <class T>
using decayed_by_row = gla_problem<T>;

TEST(ConcurrentCalls, OfPowerLaws) {
  expect_same_bits_at_once(support::retention_problem<float>(), "lags");
}
TEST(ConcurrentCalls, OfAMemoryThatIsLed) {
  expect_same_bits_at_once(mesa_problem<float>(size), "led");
}
TEST(ConcurrentCalls, OfLevels) {
  expect_same_bits_at_once(log_linear_of_problem<decayed_by_row, float>(size), "levels");
}
TEST(ConcurrentCalls, OfSubsteps) {
  expect_same_bits_at_once(delta_product_problem<float, 2>(size), "substeps");
}

// Problems without gradients, over all their tokens.
struct quotient_problem {
  gla_problem<float> above{size};
  linear_problem<wane::decay_as::log, float> below{size.batch, size.time, size.heads, 1};

  index time() const { return size.time; }
  auto make(index begin, index end) const {
    return wane::quotient_of(above.make(begin, end), below.make(begin, end), 0.5);
  }
};
struct element_problem {
  using inputs_type = support::element_inputs<float>;
  std::shared_ptr<inputs_type const> in = std::make_shared<inputs_type>(2, 70, 3, 8, 9);

  index time() const { return 70; }
  auto make(index, index) const {
    return support::element_memory<float, support::fades::by_rate, false>{*in};
  }
};
struct cell_problem {
  random_tensor<double> x;

  index time() const { return x.extent[1]; }
  auto make(index begin, index end) const {
    return support::tanh_cell{0.7, x.view().tokens(begin, end)};
  }
};
struct coefficients_problem {
  support::laplace_problem<float, wane::spectra::window_shape::hann> nodes{{}};

  index time() const { return nodes.time(); }
  auto make(index begin, index end) const {
    return wane::laplace_coefficients(nodes.make(begin, end));
  }
  void begin(auto& states, std::mt19937_64& random) const { nodes.begin(states, random); }
};

TEST(ConcurrentCalls, OfAPair) { expect_same_bits_at_once(quotient_problem{}, "pairs"); }
TEST(ConcurrentCalls, OfElements) { expect_same_bits_at_once(element_problem{}, "elements"); }
TEST(ConcurrentCalls, OfACellOfAUser) {
  std::mt19937_64 random(1);
  expect_same_bits_at_once(cell_problem{random_tensor<double>(2, 70, 3, 9, random)}, "in_order");
}
TEST(ConcurrentCalls, OfCoefficients) {
  expect_same_bits_at_once(coefficients_problem{}, "coefficients");
}

}  // namespace
