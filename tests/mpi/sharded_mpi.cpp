// Sharded calls over the processes of MPI: every rank holds its part against a run of the whole.
//   mpirun -n 3 wane-tests-mpi
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laplace_problem.hpp"
#include "support/retention_problem.hpp"
#include "support/sharded_case.hpp"
#include "support/vla_problem.hpp"
#include "wane/mpi.hpp"

namespace wane::testing {
namespace {

mpi_ranks const* group = nullptr;

memory_size const size{1, 97, 5, 8, 9};

TEST(OverMpi, MemoriesWithKeys) {
  expect_same(*group, gla_problem<float>(size), 1e-6);
  expect_same(*group, gated_delta_net_problem<double>(size), 1e-12);
  expect_same(*group, rwkv7_problem<double>(size), 1e-12);
  expect_same(*group, linear_attention_problem<double>(size), 1e-12);
}

TEST(OverMpi, MemoriesWithoutKeys) {
  expect_same(*group, support::retention_problem<double>{.columns = 130}, 1e-12);
  expect_same(*group, bank_problem<double>(2, 60, 3, 5, 7), 1e-12);
  expect_same(*group, linear_problem<decay_as::log, double>(1, 200, 1, 300), 1e-12);
  expect_same(*group, support::laplace_problem<double, spectra::window_shape::hann>({}), 1e-11);
}

TEST(OverMpi, Vla) {
  expect_same(*group, vla_problem<double, write_rule::rls, penalises::keys>(size), 1e-10);
}

// A state of 70 MB, which MPI does not send until its receiver takes it.
TEST(OverMpi, LargeStates) {
  gla_problem<float> const problem({1, 8, 17, 1024, 1024});
  auto const at = cuts(*group, 8);
  auto const rank = static_cast<std::size_t>(group->rank());
  auto const op = problem.make(at[rank], at[rank + 1]);
  std::vector<float> y(8 * 17 * 1024, NAN);
  recurrent_state<float> final(op);
  sharded_run(*group, op, {y.data(), 1, at[rank + 1] - at[rank], 17, 1024}, {.final = final});
  EXPECT_EQ(final.positions()[0], at[rank + 1]);
  for (float x : final.values()) ASSERT_TRUE(std::isfinite(x));
}

TEST(OverMpi, ARankThatThrowsEndsTheCallForAll) { expect_failure_for_all(*group, size); }

}  // namespace
}  // namespace wane::testing

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  int result;
  {
    wane::mpi_ranks const ranks(MPI_COMM_WORLD);
    wane::testing::group = &ranks;
    result = RUN_ALL_TESTS();
  }
  MPI_Finalize();
  return result;
}
