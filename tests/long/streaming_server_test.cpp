// A server that is killed again and again says what one uninterrupted run says, to the bit.
// SPDX-License-Identifier: MIT
#include "support/streaming_server.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "bench/process.hpp"

namespace support {
namespace {

// How long a server lives: so many turns at most, and then so many microseconds.
struct life {
  int turns;
  long microseconds;
};

// The server as a process of its own, which is killed wherever it then is: between two tokens, in
// one, or while it writes a file. Whether it was killed before it had done everything.
template <class Memory>
bool killed(service const& s, std::filesystem::path const& folder, std::uint64_t seed,
            life const& most) {
  pid_t const child = ::fork();
  if (child == 0) {
    int status = 0;
    try {
      std::mt19937_64 random(seed);
      streaming_server<Memory> server(s, folder, seed + 1);
      server.serve_times(static_cast<int>(random() % static_cast<unsigned>(most.turns)));
      ::signal(SIGALRM, [](int) { ::kill(::getpid(), SIGKILL); });
      ::itimerval const then{
          {}, {0, 1 + static_cast<long>(random() % static_cast<std::uint64_t>(most.microseconds))}};
      ::setitimer(ITIMER_REAL, &then, nullptr);
      server.work();
    } catch (std::exception const& problem) {
      std::fprintf(stderr, "the server: %s\n", problem.what());
      status = 1;
    }
    ::_exit(status);
  }
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

std::vector<answer> answers_in(std::filesystem::path const& file) {
  std::vector<answer> all(std::filesystem::file_size(file) / sizeof(answer));
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(all.data()),
            static_cast<std::streamsize>(all.size() * sizeof(answer)));
  return all;
}

template <class Memory>
void expect_bits_of_one_run(service const& s, int kills, life const& most) {
  wane::bench::scratch const place;
  std::filesystem::path const folder = place.file("");
  std::mt19937_64 random(5);
  int times_killed = 0;
  for (int round = 0; round < kills; ++round)
    times_killed += killed<Memory>(s, folder, random(), most);
  EXPECT_GT(times_killed, kills / 2) << "the server was too fast to be killed";
  streaming_server<Memory>(s, folder, random()).work();

  auto const said = answers_in(folder / "journal");
  std::vector<std::vector<int>> times(static_cast<std::size_t>(s.sequences),
                                      std::vector<int>(static_cast<std::size_t>(s.tokens)));
  std::vector<uninterrupted<Memory>> whole;
  for (index n = 0; n < s.sequences; ++n) whole.emplace_back(s, n);
  int wrong = 0;
  for (answer const& a : said) {
    auto const n = static_cast<std::size_t>(a.sequence), t = static_cast<std::size_t>(a.time);
    ++times[n][t], wrong += whole[n].outputs[t] != a.outputs;
  }
  EXPECT_EQ(wrong, 0) << "of " << said.size() << " answers";
  for (auto const& of_sequence : times)
    ASSERT_EQ(std::ranges::count(of_sequence, 0), 0) << "a token has no answer";
  for (index n = 0; n < s.sequences; ++n) {
    auto const& right = whole[static_cast<std::size_t>(n)].state;
    wane::recurrent_state<float> found = right;
    for (float& x : found.values()) x = NAN;
    wane::load_state(state_path(folder, n), Memory::name, found);
    ASSERT_EQ(found.values(), right.values()) << "sequence " << n;
    ASSERT_EQ(found.positions(), (std::vector<index>{s.tokens})) << "sequence " << n;
  }
}

TEST(StreamingServer, OfADeltaNetHasTheBitsOfOneRun) {
  expect_bits_of_one_run<streamed_delta_net>({.sequences = 60, .tokens = 80}, 20, {150, 300});
}
TEST(StreamingServer, OfMamba2WithATaperHasTheBitsOfOneRun) {
  expect_bits_of_one_run<streamed_mamba2>({.sequences = 60, .tokens = 80}, 20, {150, 300});
}
TEST(StreamingServer, OfAWindowOfAttentionHasTheBitsOfOneRun) {
  expect_bits_of_one_run<streamed_attention>({.sequences = 60, .tokens = 80}, 20, {150, 300});
}

TEST(StreamingServer, OfADeltaNetForADayHasTheBitsOfOneRunSlow) {
  expect_bits_of_one_run<streamed_delta_net>({.sequences = 1000, .tokens = 400}, 60, {5000, 30000});
}
TEST(StreamingServer, OfMamba2ForADayHasTheBitsOfOneRunSlow) {
  expect_bits_of_one_run<streamed_mamba2>({.sequences = 1000, .tokens = 400}, 60, {5000, 30000});
}

}  // namespace
}  // namespace support
