// RWKV-6, Comba and Gated DeltaNet-2 in chunks of wane::cuda on an emulated GPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/erasing_problems.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/rwkv6_problem.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

using chunks = emulated_runner<cuda::impl::chunk_config<1, 16>>;

template <class Problem>
class EmulatedFamily : public ::testing::Test {};
using Memories =
    ::testing::Types<rwkv6_problem<float>, comba_problem<float>, gated_delta_net2_problem<float>>;
TYPED_TEST_SUITE(EmulatedFamily, Memories);

TYPED_TEST(EmulatedFamily, KeepsTheLaws) {
  chunks const runner({.order = turns::last_taken});
  support::expect_to_hold(check_laws(TypeParam({1, 33, 2, 5, 17, 1}), 1e-6, 1, runner));
}

// All gradients of a run from zeros, by each input in turn.
template <class Problem, class Adjoint>
std::vector<std::vector<float>> gradients_of(Problem& p, Adjoint const& adjoint) {
  auto const& s = p.size;
  std::mt19937_64 bits(3);
  auto const dy =
      random_numbers<float>(static_cast<std::size_t>(s.batch * s.time * s.heads * s.columns), bits);
  adjoint(p.make(0, s.time),
          sequence_view<float const>(dy.data(), s.batch, s.time, s.heads, s.columns), p.gradients(),
          adjoint_options<float>{});
  std::vector<std::vector<float>> all;
  for (auto const& each : p.input_gradients()) all.emplace_back(each.begin(), each.end());
  return all;
}
TYPED_TEST(EmulatedFamily, HasTheGradientsOfTheCpu) {
  TypeParam p({2, 37, 4, 16, 40, 2}), other(p);
  auto const is = gradients_of(p, chunks());
  auto const should_be =
      gradients_of(other, [](auto const& op, auto const& dy, auto const& to, auto const& options) {
        wane::adjoint(op, dy, to, options);
      });
  for (std::size_t n = 0; n < is.size(); ++n) {
    support::nearness near;
    for (std::size_t i = 0; i < is[n].size(); ++i)
      near.add(static_cast<double>(is[n][i]), static_cast<double>(should_be[n][i]));
    EXPECT_LE(near.both(), 2e-6) << "input " << n;
  }
}

}  // namespace
}  // namespace wane::testing
