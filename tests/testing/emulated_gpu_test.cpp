// The emulated GPU refuses what a GPU would sometimes forgive.
// SPDX-License-Identifier: MIT
#include "wane/testing/emulated_gpu.hpp"

#include <gtest/gtest.h>

namespace wane::testing {
namespace {

constexpr int threads = 64;
using machine = impl::emulated_thread<threads>;

template <class Body>
void run(Body const& body, int blocks = 2, unsigned seed = 1) {
  impl::emulated_grid<threads>({blocks, seed, turns::random}, 4096).run(body);
}
template <class Body>
void expect_fault(std::string const& sentence, Body const& body, int blocks = 2) {
  try {
    run(body, blocks);
    ADD_FAILURE() << "nothing was refused; expected: " << sentence;
  } catch (machine_fault const& fault) {
    EXPECT_NE(std::string(fault.what()).find(sentence), std::string::npos) << fault.what();
  }
}
int* word(machine& m, int n) { return reinterpret_cast<int*>(m.shared()) + n; }

TEST(EmulatedGpu, ShufflesWithinWarps) {
  std::vector<int> got(threads);
  run(
      [&](machine& m) {
        EXPECT_EQ(m.shuffle(m.thread(), 5), m.thread() / 32 * 32 + 5);
        int const once = m.shuffle_up(m.thread(), 1);
        got[static_cast<std::size_t>(m.thread())] = m.shuffle_up(once, 4);
      },
      1);
  for (int t = 0; t < threads; ++t) {
    int const from = t % 32 >= 4 ? t - 4 : t;
    EXPECT_EQ(got[static_cast<std::size_t>(t)], from % 32 >= 1 ? from - 1 : from);
  }
}

TEST(EmulatedGpu, LetsThreadsMeetAtBarriers) {
  run([](machine& m) {
    m.write_shared(word(m, m.thread()), m.thread());
    m.barrier();
    EXPECT_EQ(m.read_shared(word(m, threads - 1 - m.thread())), threads - 1 - m.thread());
  });
}

TEST(EmulatedGpu, RefusesRacesInSharedMemory) {
  expect_fault("without a barrier", [](machine& m) {
    m.write_shared(word(m, m.thread()), 1);
    (void)m.read_shared(word(m, threads - 1 - m.thread()));
  });
  expect_fault("two threads write", [](machine& m) { m.write_shared(word(m, 0), 1); });
  expect_fault("without a barrier", [](machine& m) {
    (void)m.read_shared(word(m, 0));
    if (m.thread() == 7) m.write_shared(word(m, 0), 1);
  });
  expect_fault("beyond the shared memory", [](machine& m) { m.write_shared(word(m, 1024), 1); });
}

TEST(EmulatedGpu, RefusesThreadsThatDoNotMeet) {
  expect_fault("every thread waits", [](machine& m) {
    if (m.thread() != 3) m.barrier();
  });
  expect_fault("every thread waits", [](machine& m) {
    if (m.thread() < 20) (void)m.shuffle_up(1, 1);
    m.barrier();
  });
}

struct mail {
  float value = 0;
  std::uint32_t flag = 0;
};

TEST(EmulatedGpu, LetsBlocksSeeWhatLiesBehindAFlag) {
  for (unsigned seed = 1; seed < 50; ++seed) {
    mail letter;
    std::uint64_t arrived = 0;
    run(
        [&](machine& m) {
          bool const sends = m.thread() == 0 && m.count(&arrived) == 0;
          if (sends) {
            m.write(&letter.value, 5.f);
            m.raise(&letter.flag);
          }
          m.await(&letter.flag);
          EXPECT_EQ(m.read(&letter.value), 5.f);
        },
        3, seed);
  }
}

TEST(EmulatedGpu, RefusesScratchThatIsReadTooEarly) {
  mail letter;
  expect_fault("nobody has written", [&](machine& m) { (void)m.read(&letter.value); });
  std::uint64_t arrived = 0;
  expect_fault("before its flag", [&](machine& m) {
    if (m.thread() != 0) return;
    bool const sends = m.count(&arrived) == 0;
    if (sends) m.write(&letter.value, 1.f), m.raise(&letter.flag);
    while (letter.flag == 0) m.count(&arrived);  // the flag is seen, but not awaited
    (void)m.read(&letter.value);
  });
}

// A flag covers what its own thread did, and what others did before a barrier; no more.
TEST(EmulatedGpu, RefusesAFlagWithoutABarrierBeforeIt) {
  for (bool barrier : {true, false}) {
    mail letter;
    std::uint64_t arrived = 0;
    auto const body = [&](machine& m) {
      if (m.thread() == 0) m.write_shared(word(m, 0), static_cast<int>(m.count(&arrived)));
      m.barrier();
      bool const sends = m.read_shared(word(m, 0)) == 0;
      if (sends && m.thread() == 1) m.write(&letter.value, 1.f);
      if (barrier) m.barrier();
      if (sends && m.thread() == 0) m.raise(&letter.flag);
      if (!barrier) m.barrier();
      m.await(&letter.flag);
      (void)m.read(&letter.value);
    };
    if (barrier)
      run(body);
    else
      expect_fault("scratch of another", body);
  }
}

TEST(EmulatedGpu, RefusesAFlagThatNobodyRaises) {
  std::uint32_t flag = 0;
  expect_fault("nobody raises", [&](machine& m) { m.await(&flag); });
  expect_fault("raised twice", [&](machine& m) { m.raise(&flag); });
}

TEST(EmulatedGpu, CopiesAreThereWhenTheyHaveBeenWaitedFor) {
  float const values[threads] = {1, 2, 3};
  bool early = false;
  for (unsigned seed = 1; seed < 20; ++seed)
    run(
        [&](machine& m) {
          float const* const mine = values + m.thread();
          auto* const to = reinterpret_cast<float*>(word(m, m.thread()));
          m.copy(to, mine, 4);
          m.commit();
          early = early || !(*to == *mine);
          m.wait<0>();
          EXPECT_EQ(*to, *mine);
        },
        1, seed);
  EXPECT_TRUE(early) << "copies were always there at once";
}

}  // namespace
}  // namespace wane::testing
