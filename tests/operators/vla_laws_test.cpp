// vla keeps the laws of every recurrence, and its adjoint is that of its run.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/vla_problem.hpp"
#include "wane/operators/gla.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

using enum write_rule;
using enum penalises;

// Full and partial chunks, a block of directions and more; few rows and many, in groups of heads.
memory_size const sizes[] = {
    {.batch = 2, .time = 37, .heads = 2, .rows = 5, .columns = 3},
    {.batch = 1, .time = 64, .heads = 4, .rows = 18, .columns = 33, .groups = 2},
    {.batch = 1, .time = 300, .heads = 1, .rows = 16, .columns = 1}};

template <class Problem>
class VlaLaws : public ::testing::Test {};
using Problems =
    ::testing::Types<vla_problem<double, rls, keys>, vla_problem<double, unit, keys>,
                     vla_problem<double, projective, keys>, vla_problem<double, unit, directions>,
                     vla_problem<double, projective, directions>>;
TYPED_TEST_SUITE(VlaLaws, Problems);

TYPED_TEST(VlaLaws, Hold) {
  for (memory_size const& size : sizes)
    support::expect_to_hold(law_kit(TypeParam(size), 1e-12, 3).check());
}

TYPED_TEST(VlaLaws, OfTheAdjointHold) {
  for (memory_size const& size : sizes) {
    TypeParam problem(size);
    support::expect_to_hold(adjoint_law_kit(problem, 1e-9, 3).check());
  }
}

// Refreshes cut chunks: after every token, within a chunk, and in the next.
TYPED_TEST(VlaLaws, HoldWithARefresh) {
  for (index every : {1, 7, 20}) {
    TypeParam problem(sizes[every == 20], {.lambda = 0.1, .refresh = {every, 0.05}});
    support::expect_to_hold(law_kit(problem, 1e-12, 3).check(), "refreshed: ");
    support::expect_to_hold(adjoint_law_kit(problem, 1e-9, 3).check(), "refreshed: ");
  }
}

// The paper's denominator, whose keys are positive features.
struct divided_problem : vla_problem<double, unit, directions> {
  using vla_problem::vla_problem;
  using op_type = quotient_of<op, gla<double, no_gate>>;
  memory_data<double> features{this->size};

  explicit divided_problem(memory_size const& s) : vla_problem(s) {
    put_between(features.query.input, 0.1, 1), put_between(features.key.input, 0.1, 1);
  }
  gla<double, no_gate> sum_of_keys(index begin, index end) const {
    auto in = features.in(begin, end);
    static constexpr double one = 1;
    in.value = {&one, {in.value.extent[0], in.value.extent[1], in.value.extent[2], 1}, {}};
    return gla<double, no_gate>(in, {}, {.scale = 1});
  }
  op_type make(index begin, index end) const {
    return {vla_problem::make(begin, end), sum_of_keys(begin, end), 1e-4};
  }
  void begin(recurrent_state<double>& both, std::mt19937_64& random) const {
    op_type const all = make(0, 0);
    recurrent_state<double> own(all.first(), both.values().empty() ? 1 : this->size.batch);
    vla_problem::begin(own, random);
    both.values() = random_numbers<double>(both.values().size(), random);
    for (double& x : both.values()) x = 1 + std::abs(x);
    index const numbers = all.first().shape().rows * all.first().shape().columns,
                each = all.shape().columns;
    for (index i = 0; i < std::ssize(own.values()); ++i)
      both.values()[static_cast<std::size_t>(i / numbers * each + i % numbers)] =
          own.values()[static_cast<std::size_t>(i)];
  }
  std::vector<std::span<double>> inputs() {
    auto all = vla_problem::inputs();
    all.push_back(features.query.input.values), all.push_back(features.key.input.values);
    return all;
  }
  std::vector<std::span<double>> input_gradients() {
    auto all = vla_problem::input_gradients();
    all.push_back(features.query.summed()), all.push_back(features.key.summed());
    return all;
  }
  typename op_type::gradients gradients(index begin = 0, index end = -1) {
    return {vla_problem::gradients(begin, end),
            {.query = features.query.gradient_view(begin, end),
             .key = features.key.gradient_view(begin, end)}};
  }
};

TEST(VlaDividedByItsKeys, KeepsTheLaws) {
  divided_problem problem(sizes[0]);
  support::expect_to_hold(law_kit(problem, 1e-12, 3).check());
  support::expect_to_hold(adjoint_law_kit(problem, 1e-9, 3).check());
}

}  // namespace
}  // namespace wane::testing
