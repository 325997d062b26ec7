// Calls from threads of others: OpenMP regions and settings, TBB, std::async, small stacks.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#ifdef WANE_TESTS_TBB
#include <tbb/parallel_for.h>
#endif

#include "support/bank_case.hpp"
#include "support/child_process.hpp"
#include "support/memory_problems.hpp"
#include "support/stack_use.hpp"
#include "support/thread_sanitizer.hpp"

namespace {

using support::linear_shape;
using wane::decay_as;
using numbers = std::vector<float>;

// Outputs and states of channels, a bank and a memory. 0: OpenMP's number of threads.
numbers numbers_of_runs(int threads) {
  linear_shape const shape{.batch = 2, .time = 150, .heads = 2, .columns = 37, .threads = threads};
  support::linear_case<decay_as::log, float> channels(shape);
  support::bank_case<float> bank({17, shape});
  numbers all;
  for (auto* run : {&channels.output, &bank.output}) run->fill([](auto...) { return 0; });
  channels.run(), bank.run();
  for (auto* run : {&channels.output, &bank.output})
    run->for_each([&](auto... at) { all.push_back((*run)(at...)); });
  for (auto* state : {&channels.final, &bank.final})
    all.insert(all.end(), state->values().begin(), state->values().end());
  wane::testing::gla_problem<float> const memory({2, 70, 3, 16, 16});
  numbers y(memory.value.values.size());
  wane::run(memory.make(0, 70), wane::sequence_view<float>(y.data(), 2, 70, 3, 16),
            wane::run_options<float>{.threads = threads});
  all.insert(all.end(), y.begin(), y.end());
  return all;
}

// So often that calls overlap on a machine of few cores. The thread sanitizer sees a race at once.
#ifdef WANE_TESTS_THREAD_SANITIZER
constexpr int rounds = 1;
#else
constexpr int rounds = 30;
#endif
numbers numbers_of_many_runs(int threads) {
  numbers all;
  for (int n = 0; n < rounds; ++n) {
    numbers const found = numbers_of_runs(threads);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

constexpr std::size_t calls = 6;

void expect_all(std::array<numbers, calls> const& found) {
  auto const alone = numbers_of_many_runs(1);
  for (std::size_t i = 0; i < calls; ++i) EXPECT_TRUE(found[i] == alone) << i;
}

// Each call with another number of threads; 0 is OpenMP's.
constexpr int threads_of(std::size_t i) { return static_cast<int>(i % 4); }

#ifdef _OPENMP
TEST(OpenMPRegions, OfAUserGiveTheBitsOfOneThread) {
  std::array<numbers, calls> found;
#pragma omp parallel for num_threads(3) schedule(static, 1)
  for (std::size_t i = 0; i < calls; ++i) found[i] = numbers_of_many_runs(threads_of(i));
  expect_all(found);
}

TEST(OpenMPRegions, ThatAreNestedGiveTheBitsOfOneThread) {
  int const levels = omp_get_max_active_levels();
  omp_set_max_active_levels(3);
  std::array<numbers, calls> found;
  bool right = true;
#pragma omp parallel for num_threads(3) schedule(static, 1) reduction(&& : right)
  for (std::size_t i = 0; i < calls; ++i) {
    found[i] = numbers_of_many_runs(threads_of(i));
    // OpenMP does not count a region that it gives one thread.
    bool const one = wane::impl::threads_to_use(0) == 1 || !omp_in_parallel();
    right = one && wane::impl::threads_to_use(2) == 2 && support::over_time_is_right(2);
  }
  omp_set_max_active_levels(levels);
  EXPECT_TRUE(right);
  expect_all(found);
}

TEST(OpenMPRegions, OfOneThreadAndTasksGiveTheBitsOfOneThread) {
  std::array<numbers, calls> found;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (std::size_t i = 0; i < calls; ++i) {
#pragma omp task shared(found) firstprivate(i)
    found[i] = numbers_of_many_runs(threads_of(i));
  }
  expect_all(found);
}

// OpenMP may give fewer threads than are asked for.
TEST(OpenMPSettings, OfAUserChangeNoBit) {
  auto const alone = numbers_of_runs(1);
  int const threads = omp_get_max_threads(), dynamic = omp_get_dynamic();
  for (int own : {1, 2, 5})
    for (int adjusts : {0, 1}) {
      omp_set_num_threads(own), omp_set_dynamic(adjusts);
      EXPECT_EQ(wane::impl::threads_to_use(0), omp_get_max_threads());
      EXPECT_EQ(numbers_of_runs(0), alone) << own << " threads, dynamic " << adjusts;
      EXPECT_EQ(numbers_of_runs(3), alone) << own << " threads, dynamic " << adjusts;
      EXPECT_TRUE(support::over_time_is_right(3));
      EXPECT_EQ(omp_get_max_threads(), own) << "wane leaves the settings alone";
      EXPECT_EQ(omp_get_dynamic(), adjusts);
    }
  omp_set_num_threads(threads), omp_set_dynamic(dynamic);
}

// This program, started again with another environment.
TEST(OpenMPSettings, OfTheEnvironmentChangeNoBit) {
  if (access("/proc/self/exe", X_OK) != 0) GTEST_SKIP() << "there is no /proc/self/exe";
  for (char const* setting : {"OMP_NUM_THREADS=3", "OMP_THREAD_LIMIT=2", "OMP_THREAD_LIMIT=1",
                              "OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=4", "OMP_SCHEDULE=guided",
                              "OMP_WAIT_POLICY=active", "OMP_STACKSIZE=256K"}) {
    support::child_process child([&] {
      putenv(const_cast<char*>(setting));
      int const nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, 1);
      execl("/proc/self/exe", "tests", "--gtest_filter=OpenMPRegions.*:OpenMPSettings.OfAUser*",
            nullptr);
      throw std::runtime_error("not started");  // an emulator cannot start a program
      return false;
    });
    std::string const outcome = child.outcome();
    if (outcome == "threw") GTEST_SKIP() << "this program cannot be started again";
    EXPECT_EQ(outcome, "true") << setting;
  }
}
#endif

TEST(Tbb, ThreadsGiveTheBitsOfOneThread) {
#if defined(WANE_TESTS_TBB) && !defined(WANE_TESTS_THREAD_SANITIZER)
  std::array<numbers, calls> found;
  tbb::parallel_for(std::size_t(0), calls,
                    [&](std::size_t i) { found[i] = numbers_of_many_runs(threads_of(i)); });
  expect_all(found);
#else
  GTEST_SKIP() << "TBB is not found, or the thread sanitizer does not see into it";
#endif
}

TEST(Async, ThreadsGiveTheBitsOfOneThread) {
  std::vector<std::future<numbers>> found;
  for (std::size_t i = 0; i < calls; ++i)
    found.push_back(std::async(std::launch::async, numbers_of_many_runs, threads_of(i)));
  auto const alone = numbers_of_many_runs(1);
  for (auto& each : found) EXPECT_TRUE(each.get() == alone);
}

// The thread that calls is the only one whose stack is small; OpenMP's have OMP_STACKSIZE.
#if !defined(WANE_ADDRESS_SANITIZER) && !defined(WANE_TESTS_THREAD_SANITIZER)
TEST(SmallStacks, OfTheSizeThatIsPromisedSuffice) {
  // Some systems give no thread as little.
  std::size_t const promised =
      std::max<std::size_t>(64 << 10, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  struct found {
    numbers by_one, by_three;
  } all;
  auto* const call = +[](void* to) -> void* {
    auto& own = *static_cast<found*>(to);
    own.by_one = numbers_of_runs(1), own.by_three = numbers_of_runs(3);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, promised), 0);
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &all), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(all.by_one, numbers_of_runs(1));
  EXPECT_EQ(all.by_three, all.by_one);
}
#endif

}  // namespace
