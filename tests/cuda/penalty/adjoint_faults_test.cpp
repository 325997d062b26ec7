// Faults planted in the adjoint of penalised memories are each seen by the emulated GPU or in the
// result.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "support/faulty_barrier.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using config = wane::cuda::penalty_config<64>;
using memory_config = wane::cuda::chunk_config<1, 48>;
using enum wane::write_rule;

// That of tokens has one barrier, of device memory alone, which is not followed.
enum class kernel { answers, lines, lambda };

// The adjoint, one of whose kernels lacks a barrier, counted from the start of each thread.
struct faulty_adjoint {
  kernel where;
  int missing;

  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, wane::sequence_view<Out> dy, Gradients const& gradients,
                  wane::adjoint_options<State> const& options) const {
    using namespace wane::cuda;
    using at = penalised_adjoint_workspace;
    wane::testing::lent_memory memory(at::of<config, memory_config, Out>(op, options).bytes);
    auto const calls =
        penalised_adjoint_call<config, memory_config>(op, dy, gradients, memory, options);
    wane::testing::run_penalties<config>({}, calls.directions);
    wane::testing::adjoint_in_chunks<memory_config>({}, calls.memory, dy, calls.of_memory,
                                                    calls.options);
    auto const& answers = calls.answers;
    grid<config::threads>(
        kernel::answers, answers.layout.bytes, answers.work_items(),
        [&](auto& machine, wane::index n) { penalty_answer_kernel<config>(machine, answers, n); });
    wane::testing::run_in_chunks<memory_config>({}, calls.sums, calls.gradients.sums,
                                                calls.options_of_sums);
    constexpr int threads = penalised_gradient_threads;
    auto const& last = calls.gradients;
    std::size_t const bytes = 3 * threads * sizeof(float);
    wane::testing::run_blocks<threads>({}, last.chunks(), 0, [&](auto& machine, wane::index n) {
      penalised_token_gradients(machine, last, n)();
    });
    grid<threads>(kernel::lines, bytes, last.lines(), [&](auto& machine, wane::index n) {
      penalised_line_gradients(machine, last, n)();
    });
    grid<threads>(kernel::lambda, bytes, last.shape.heads,
                  [&](auto& machine, wane::index n) { give_lambda(machine, last, n); });
  }

 private:
  template <int Threads, class Body>
  void grid(kernel which, std::size_t shared, wane::index blocks, Body const& body) const {
    for (wane::index n = 0; n < blocks; ++n)
      support::run_without<Threads>(which == where ? missing : -1, shared,
                                    [&](auto& machine) { body(machine, n); });
  }
};

// Two chunks of 40 rows, in two warps; a penalty that fades and is renewed, with a final gradient.
template <wane::write_rule Rule, bool Given>
bool is_right(kernel where, int missing, wane::index time = 32) {
  support::chunk_adjoint_cases<faulty_adjoint> const cases{{where, missing}};
  try {
    return cases.distance<float>({.time = time, .heads = 1, .rows = 40, .columns = 3},
                                 [](auto const& x) { return x.template fading_vla<Rule>(Given); }) <
           1e-4;
  } catch (wane::testing::machine_fault const&) {
    return false;
  }
}

// Each of so many barriers, but for those that are not needed.
template <wane::write_rule Rule, bool Given>
void expect_seen(kernel where, int barriers, std::vector<int> const& but, wane::index time = 32) {
  EXPECT_TRUE((is_right<Rule, Given>(where, -1, time)));
  for (int n = 0; n < barriers; ++n)
    EXPECT_EQ((is_right<Rule, Given>(where, n, time)), std::count(but.begin(), but.end(), n) == 1)
        << n;
}

// One of a renewal, two parts of which one warp takes in one after the other, one of
// two in a row, since sequences without tokens need the second, and one that ends a solve where
// another follows.
TEST(FaultsOfPenaltyAdjoint, AMissingBarrierIsSeenWhicheverItIs) {
  expect_seen<rls, false>(kernel::answers, 57, {15, 40, 41, 47});
  expect_seen<unit, true>(kernel::answers, 57, {15, 40, 41, 47});
  // More tokens than threads.
  expect_seen<unit, true>(kernel::lines, 6, {}, 140);
  expect_seen<unit, true>(kernel::lambda, 1, {});
}

}  // namespace
