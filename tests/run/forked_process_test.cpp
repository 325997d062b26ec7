// A process that is forked from one that used several threads goes on with one thread.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/bank_case.hpp"
#include "support/child_process.hpp"
#include "support/linear_gradients.hpp"
#include "support/thread_sanitizer.hpp"

namespace {

using support::child_process;
using support::linear_shape;
using wane::decay_as;

// A run, a step and an adjoint on so many threads; all numbers they give.
std::vector<float> numbers_of_calls(int threads) {
  linear_shape const shape{.batch = 4, .time = 200, .heads = 2, .columns = 24, .threads = threads};
  support::linear_gradients<decay_as::log, float> run(shape);
  run.run.run();
  std::vector<float> all = run.run.final.values();
  run.run.output.for_each([&](auto... at) { all.push_back(run.run.output(at...)); });
  wane::recurrent_state<float> state = run.run.initial;
  wane::step(run.run.op(), run.run.output.view(), state, {.threads = threads});
  all.insert(all.end(), state.values().begin(), state.values().end());
  run.find();
  run.drive.for_each([&](auto... at) { all.push_back(run.drive(at...)); });
  support::bank_case<float> bank({17, shape});
  bank.run();
  all.insert(all.end(), bank.final.values().begin(), bank.final.values().end());
  return all;
}

TEST(AForkedProcess, GivesTheBitsOfItsParent) {
  auto const before = numbers_of_calls(4);
  for (int threads : {0, 1, 4})
    EXPECT_EQ(child_process([&] { return numbers_of_calls(threads) == before; }).outcome(), "true")
        << threads;
  EXPECT_EQ(numbers_of_calls(4), before) << "the parent goes on";
#ifdef _OPENMP
  EXPECT_EQ(wane::impl::threads_to_use(4), 4) << "the parent has its threads";
#endif
}

TEST(AForkedProcess, RunsALongSequence) {
  EXPECT_TRUE(support::over_time_is_right(3));
  EXPECT_EQ(child_process([] { return support::over_time_is_right(3); }).outcome(), "true");
}

TEST(AForkedProcess, UsesOneThread) {
  (void)numbers_of_calls(4);
  child_process child([] {
    return wane::impl::threads_to_use(0) == 1 && wane::impl::threads_to_use(4) == 1 &&
           wane::impl::threads_for(1e12, 4) == 1;
  });
  EXPECT_EQ(child.outcome(), "true");
}

TEST(AForkedProcess, RefusesWhatItsParentRefuses) {
  child_process child([] {
    (void)numbers_of_calls(-1);
    return true;
  });
  EXPECT_EQ(child.outcome(), "threw");
}

TEST(AForkedProcess, MayForkAgain) {
  auto const before = numbers_of_calls(4);
  child_process child([&] {
    if (numbers_of_calls(4) != before) return false;
    child_process grandchild([&] { return numbers_of_calls(4) == before; });
    return grandchild.outcome() == "true";
  });
  EXPECT_EQ(child.outcome(), "true");
}

TEST(AForkedProcess, MayComeFromAnyThread) {
  auto const before = numbers_of_calls(4);
  std::thread([&] {
    (void)numbers_of_calls(3);
    child_process child([&] { return numbers_of_calls(3) == before; });
    EXPECT_EQ(child.outcome(), "true");
  }).join();
}

#ifndef WANE_ADDRESS_SANITIZER  // another thread may hold its allocator's lock at the fork
TEST(AForkedProcess, MayComeWhileOtherThreadsRun) {
  auto const before = numbers_of_calls(2);
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) EXPECT_EQ(numbers_of_calls(2), before);
  });
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(child_process([&] { return numbers_of_calls(2) == before; }).outcome(), "true");
  over = true;
  other.join();
}
#endif

#ifndef WANE_TESTS_THREAD_SANITIZER  // which forbids it
TEST(AForkedProcess, MayHaveThreadsOfItsOwn) {
  auto const before = numbers_of_calls(4);
  child_process child([&] {
    bool same = false;
    std::thread([&] { same = numbers_of_calls(4) == before; }).join();
    return same;
  });
  EXPECT_EQ(child.outcome(), "true");
}
#endif

}  // namespace
