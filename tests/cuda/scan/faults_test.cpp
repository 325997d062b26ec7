// Faults planted in the scan of wane::cuda are each seen by the emulated GPU or in the result.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>

#include "support/faulty_barrier.hpp"
#include "support/linear_case.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using support::index;
using wane::testing::emulated_gpu;
using wane::testing::turns;
using config = wane::cuda::impl::scan_config<64, 3, 2, 64, 512>;
using sound_machine = wane::testing::impl::emulated_thread<config::threads>;

// A machine that goes wrong in one way: what is named is left out or done badly.
struct fault {
  int barrier = -1;  // the barrier that is missing, counted from the start of each thread
  bool await = false, wait = false;
  bool tail = false;  // of the units of a thread that go out, those of the last few bytes
  index near = 0;     // copies read from at most so far away
  void const* from = nullptr;
};

class faulty_machine : public support::faulty_barrier<config::threads> {
 public:
  faulty_machine(sound_machine const& sound, fault const& what)
      : faulty_barrier(sound, what.barrier), what_(what) {}

  void await(std::uint32_t const* flag) {
    if (!what_.await) sound_machine::await(flag);
  }
  template <int Left>
  void wait() {
    if (!what_.wait) sound_machine::wait<Left>();
  }
  void copy(void* to, void const* from, int bytes) {
    if (what_.near > 0) {
      auto const* const start = static_cast<std::byte const*>(what_.from);
      from = start + (static_cast<std::byte const*>(from) - start) % what_.near;
    }
    sound_machine::copy(to, from, bytes);
  }
  void copy_out(void* to, void const* from, int bytes) {
    if (!(what_.tail && thread() == 0)) sound_machine::copy_out(to, from, bytes);
  }

 private:
  fault const& what_;
};

// What a run with this fault is: refused by the machine, wrong, or (the fault was not caught)
// right.
struct faulty_threads {
  fault const& what;
  template <class Kernel, class Body>
  void run(sound_machine& sound, Body const& body) const {
    faulty_machine machine(sound, what);
    body(machine);
  }
};

enum class outcome { refused, wrong, right };

outcome with_fault(support::linear_shape const& shape, fault what, emulated_gpu const& gpu) {
  using wane::decay_as;
  support::linear_case<decay_as::log, float> run(shape);
  auto const call = [&](auto const& op, auto output, auto const& options) {
    wane::testing::impl::run_named<config>(
        wane::testing::impl::emulated_queue<faulty_threads>(gpu, {what}), op, output, options);
  };
  what.from = &run.decay(0, 0, 0, 0);
  try {
    run.run_by(call);
  } catch (wane::testing::machine_fault const&) {
    return outcome::refused;
  }
  return run.error().both() < support::bound_of<float>(shape.time) ? outcome::right
                                                                   : outcome::wrong;
}

support::linear_shape const one_channel{.time = 3000}, channels{.time = 200, .columns = 40};

TEST(FaultsOfTheScan, NoneIsSeenWhereThereIsNone) {
  for (auto const& shape : {one_channel, channels})
    for (turns order : {turns::random, turns::first_taken, turns::last_taken})
      EXPECT_EQ(with_fault(shape, {}, {3, 1, order}), outcome::right);
}

TEST(FaultsOfTheScan, ALookBackThatReadsBeforeTheFlagIsRefused) {
  for (auto const& shape : {one_channel, channels})
    for (turns order : {turns::random, turns::last_taken})
      for (unsigned seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(with_fault(shape, {.await = true}, {3, seed, order}), outcome::refused);
}

TEST(FaultsOfTheScan, ALostTailIsWrong) {
  for (auto const& shape : {one_channel, channels})
    EXPECT_EQ(with_fault(shape, {.tail = true}, {}), outcome::wrong);
}

TEST(FaultsOfTheScan, ACopyThatIsNotWaitedForIsWrong) {
  for (auto const& shape : {one_channel, channels})
    EXPECT_EQ(with_fault(shape, {.wait = true}, {}), outcome::wrong);
}

TEST(FaultsOfTheScan, AnOffsetThatIsTooShortIsWrong) {
  EXPECT_EQ(with_fault(one_channel, {.near = 4096}, {}), outcome::wrong);
}

// Each barrier in turn, of the first tiles of a block: those of tickets, of copies, of the scan, of
// look-backs and of what goes out.
TEST(FaultsOfTheScan, AMissingBarrierIsSeenWhicheverItIs) {
  for (auto const& shape : {one_channel, channels})
    for (int barrier = 0; barrier < 24; ++barrier) {
      bool seen = false;
      for (unsigned seed = 1; seed <= 20 && !seen; ++seed)
        seen = with_fault(shape, {.barrier = barrier}, {3, seed, turns::random}) != outcome::right;
      EXPECT_TRUE(seen) << "barrier " << barrier << ", " << shape.columns << " columns";
    }
}

}  // namespace
