// Threads that the system does not start: results are right, or the call or OpenMP says so.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <system_error>

#include "support/child_process.hpp"
#include "support/problems.hpp"
#include "wane/run/run.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace {

using namespace wane::testing;

// From here on this process starts no thread. Root may start any number, so it becomes nobody.
void forbid_threads() {
  rlimit const one{1, 1};
  if ((getuid() == 0 && setuid(65534) != 0) || setrlimit(RLIMIT_NPROC, &one) != 0) _exit(99);
}
bool can_start_threads() {
  try {
    std::thread([] {}).join();
    return true;
  } catch (std::system_error const&) {
    return false;
  }
}

using problem = linear_problem<wane::decay_as::log, float>;

result<float> outputs_on(problem const& p, int threads) {
  auto const op = p.make(0, p.time());
  result<float> to(wane::output_shape_of(op), wane::recurrent_state<float>(op));
  wane::run(op, to.view(), {.final = to.state, .threads = threads});
  return to;
}

// 0: the results are right.
int status_of_run(int threads) {
  problem const p(3, 50, 2, 8);
  auto const right = outputs_on(p, 1);
  forbid_threads();
  return outputs_on(p, threads).same_bits(right) ? 0 : 1;
}
// 0: no rank waits for one without a thread, and somebody says that there is none.
int status_of_ranks() {
  forbid_threads();
  int without = 0;
  for (auto const& thrown : outcomes_on_ranks(3, [](thread_rank const& ranks) {
         int const mine = ranks.rank();
         std::vector<int> all(3);
         ranks.all_gather(std::as_bytes(std::span(&mine, 1)),
                          std::as_writable_bytes(std::span(all)));
       }))
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (std::system_error const&) {
      ++without;
    } catch (wane::rank_failure const&) {
    }
  return without > 0 ? 0 : 1;
}

// The tests below call these in a new process, in which no thread has been started yet.
class ThreadsThatDoNotStart : public testing::Test {
 protected:
  void SetUp() override {
    support::child_process probe([] {
      forbid_threads();
      return !can_start_threads();
    });
    if (probe.outcome() != "true") GTEST_SKIP() << "threads cannot be forbidden here";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(ThreadsThatDoNotStart, AreNotNeededByOne) {
  EXPECT_EXIT(_exit(status_of_run(1)), testing::ExitedWithCode(0), "");
}
// OpenMP's runtime ends the process where it cannot start the threads it is asked for, or makes do
// with fewer. wane's own code neither terminates nor gives other results.
TEST_F(ThreadsThatDoNotStart, AreOpenMPsToReport) {
  auto const right_or_refused = [](int status) {
    return status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE) ||
           (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  };
  EXPECT_EXIT(_exit(status_of_run(3) == 0 ? 0 : 2), right_or_refused, "^$|libgomp|OMP");
}
TEST_F(ThreadsThatDoNotStart, EndRanksInAnException) {
  EXPECT_EXIT(_exit(can_start_threads() ? status_of_ranks() : 98), testing::ExitedWithCode(0), "");
}

}  // namespace
