// Sharded calls over the processes of MPI: every rank holds its part against a run of the whole.
//   mpirun -n 3 wane-tests-mpi
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laplace_problem.hpp"
#include "support/memory_problems.hpp"
#include "support/retention_problem.hpp"
#include "support/vla_problem.hpp"
#include "wane/mpi.hpp"
#include "wane/run/run.hpp"
#include "wane/testing/problem.hpp"

namespace wane::testing {
namespace {

mpi_ranks const* group = nullptr;

// The cut before each rank, and the end; rank 1 has no tokens where there are three ranks or more.
std::vector<index> cuts(index time) {
  std::vector<index> at;
  for (index r = 0; r <= group->size(); ++r) at.push_back(time * r / group->size());
  if (group->size() > 2) at[2] = at[1];
  return at;
}

// Each rank finds its part of the outputs and gradients that one process finds.
template <class P>
void expect_same(P problem, double bound) {
  using Op = operator_of<P>;
  using T = accumulate_type<Op>;
  Op const all = problem.make(0, problem.time());
  recurrence_shape const shape = all.shape(), outputs = output_shape_of(all);
  recurrent_state<T> initial(all);
  std::mt19937_64 bits(1);
  impl::begin_states(problem, initial, bits);
  result<T, output_type<Op>> whole(outputs, initial), parts = whole;
  run(all, whole.view(), run_options<T>{.initial = initial, .final = whole.state, .threads = 1});

  auto const at = cuts(problem.time());
  auto const rank = static_cast<std::size_t>(group->rank());
  index const begin = at[rank], end = at[rank + 1];
  recurrent_state<T> start(all);
  sharding<T> const shard{.start = start};
  sharded_run(*group, problem.make(begin, end), parts.view().tokens(begin, end),
              run_options<T>{.initial = initial, .final = parts.state, .threads = 1}, shard);
  distance outputs_apart, states_apart, gradients_apart;
  for (index b = 0; b < shape.batch; ++b)
    for (index t = begin; t < end; ++t)
      for (index h = 0; h < shape.heads; ++h)
        for (index j = 0; j < outputs.columns; ++j)
          outputs_apart.see<output_type<Op>>({parts.view()(b, t, h, j)},
                                             {whole.view()(b, t, h, j)});
  EXPECT_LE(outputs_apart.relative(), bound);
  if (group->rank() + 1 == group->size()) {
    states_apart.see<T>(parts.state.values(), whole.state.values());
    EXPECT_LE(states_apart.relative(), bound);
    EXPECT_EQ(parts.state.positions(), whole.state.positions());
  }

  using Input = impl::input_of<P>;
  P own = problem;
  for (P* p : {&problem, &own})
    for (auto gradient : p->input_gradients())
      std::fill(gradient.begin(), gradient.end(), Input(0));
  result<T, output_type<Op>> dy(outputs, initial);
  dy.output = random_numbers<output_type<Op>>(whole.output.size(), bits);
  adjoint(all, dy.view(), problem.gradients(),
          adjoint_options<T>{.initial = initial, .threads = 1});
  sharded_adjoint(*group, own.make(begin, end), dy.view().tokens(begin, end),
                  own.gradients(begin, end), adjoint_options<T>{.initial = initial, .threads = 1},
                  shard);
  // The sum over ranks is the gradient of the whole, of parameters too.
  auto const expected = problem.input_gradients();
  auto const found = own.input_gradients();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::vector<Input> sum(found[i].begin(), found[i].end());
    sum_over_ranks(*group, std::span(sum));
    gradients_apart.see<Input>(sum, {expected[i].begin(), expected[i].end()});
  }
  EXPECT_LE(gradients_apart.relative(), bound);
}

memory_size const size{1, 97, 5, 8, 9};

TEST(OverMpi, MemoriesWithKeys) {
  expect_same(gla_problem<float>(size), 1e-6);
  expect_same(gated_delta_net_problem<double>(size), 1e-12);
  expect_same(rwkv7_problem<double>(size), 1e-12);
  expect_same(linear_attention_problem<double>(size), 1e-12);
}

TEST(OverMpi, MemoriesWithoutKeys) {
  expect_same(support::retention_problem<double>{.columns = 130}, 1e-12);
  expect_same(bank_problem<double>(2, 60, 3, 5, 7), 1e-12);
  expect_same(linear_problem<decay_as::log, double>(1, 200, 1, 300), 1e-12);
  expect_same(support::laplace_problem<double, spectra::window_shape::hann>({}), 1e-11);
}

TEST(OverMpi, Vla) {
  expect_same(vla_problem<double, write_rule::rls, penalises::keys>(size), 1e-10);
}

// A state of 70 MB, which MPI does not send until its receiver takes it.
TEST(OverMpi, LargeStates) {
  gla_problem<float> const problem({1, 8, 17, 1024, 1024});
  auto const at = cuts(8);
  auto const rank = static_cast<std::size_t>(group->rank());
  auto const op = problem.make(at[rank], at[rank + 1]);
  std::vector<float> y(8 * 17 * 1024, NAN);
  recurrent_state<float> final(op);
  sharded_run(*group, op, {y.data(), 1, at[rank + 1] - at[rank], 17, 1024}, {.final = final});
  EXPECT_EQ(final.positions()[0], at[rank + 1]);
  for (float x : final.values()) ASSERT_TRUE(std::isfinite(x));
}

TEST(OverMpi, ARankThatThrowsEndsTheCallForAll) {
  gla_problem<float> const problem(size);
  int const bad = group->size() / 2;
  auto const op = problem.make(0, group->rank() == bad ? 7 : 9);
  std::vector<float> y(9 * 5 * 9);
  try {
    sharded_run(*group, op, {y.data(), 1, 9, 5, 9}, run_options<float>{});
    ADD_FAILURE() << "nothing was thrown";
  } catch (rank_failure const& e) {
    EXPECT_EQ(e.rank(), bad);
    EXPECT_EQ(std::string(e.what()),
              "rank " + std::to_string(bad) + " failed: output has time 9; it must be 7");
  } catch (error const& e) {
    EXPECT_EQ(group->rank(), bad);
    EXPECT_EQ(std::string(e.what()), "output has time 9; it must be 7");
  }
  expect_same(gla_problem<double>(size), 1e-12);  // the group can still be used
}

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
