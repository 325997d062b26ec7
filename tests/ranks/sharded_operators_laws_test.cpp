// sharded_run and sharded_adjoint keep their laws for operators without keys, and for vla.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laplace_problem.hpp"
#include "support/laws_hold.hpp"
#include "support/retention_problem.hpp"
#include "support/retrieval_problem.hpp"
#include "support/vla_problem.hpp"
#include "wane/operators/undecayed_retrieval.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace wane::testing {
namespace {

TEST(ShardedChannels, KeepTheLaws) {
  support::expect_to_hold(
      check_sharded_laws(linear_problem<decay_as::log, float>(1, 150, 2, 3), 1e-6));
  support::expect_to_hold(
      check_sharded_laws(linear_problem<decay_as::factor, double>(2, 90, 1, 200), 1e-12));
  support::expect_to_hold(
      check_sharded_laws(linear_problem<decay_as::log, std::complex<double>>(1, 60, 2, 70), 1e-12));
}

TEST(ShardedBank, KeepsTheLaws) {
  support::expect_to_hold(check_sharded_laws(bank_problem<float>(1, 120, 2, 4, 70), 1e-6));
  support::expect_to_hold(check_sharded_laws(bank_problem<double>(2, 60, 3, 5, 7), 1e-12));
}

TEST(ShardedRetention, KeepsTheLaws) {
  support::expect_to_hold(check_sharded_laws(
      support::retention_problem<double>{.batch = 1, .tokens = 200, .columns = 70}, 1e-12));
  support::expect_to_hold(check_sharded_laws(support::retention_problem<float>{}, 2e-6));
}

TEST(ShardedRetrieval, KeepsTheLaws) {
  memory_size const size{1, 80, 2, 4, 9};
  support::expect_to_hold(
      check_sharded_laws(retrieval_problem<double, normaliser::none>(size), 1e-12));
  support::expect_to_hold(
      check_sharded_laws(retrieval_problem<double, normaliser::decayed>(size), 1e-12));
  support::expect_to_hold(
      check_sharded_laws(retrieval_problem<double, normaliser::undecayed>(size), 1e-12));
}

TEST(ShardedVla, KeepsTheLaws) {
  memory_size const size{1, 70, 3, 6, 9};
  support::expect_to_hold(
      check_sharded_laws(vla_problem<double, write_rule::rls, penalises::keys>(size), 1e-11));
  support::expect_to_hold(check_sharded_laws(
      vla_problem<double, write_rule::unit, penalises::directions>(size), 1e-11));
  support::expect_to_hold(check_sharded_laws(
      vla_problem<double, write_rule::rls, penalises::keys, token_view<double const>>(size),
      1e-11));
}

TEST(ShardedLaplace, KeepsTheLaws) {
  using spectra::window_shape;
  support::laplace_size const size{};
  support::expect_to_hold(
      check_sharded_laws(support::laplace_problem<double, window_shape::none>(size), 1e-12));
  support::expect_to_hold(
      check_sharded_laws(support::laplace_problem<double, window_shape::hann>(size), 1e-11));
  support::expect_to_hold(
      check_sharded_laws(support::laplace_problem<double, window_shape::rectangular>(size), 1e-11));
}

TEST(ShardedUserMemory, KeepsTheLaws) {
  support::expect_to_hold(
      check_sharded_laws(user_memory_problem<double, support::erases::yes>(1, 60, 2, 5, 9), 1e-12));
}

}  // namespace
}  // namespace wane::testing
