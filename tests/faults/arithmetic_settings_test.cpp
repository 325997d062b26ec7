// Rounding and denormals as the caller has set them: given back by every thread, however a call
// ends.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cfenv>
#include <cmath>
#include <optional>

#include "support/failing_passes.hpp"
#include "support/memory_problems.hpp"
#include "support/throwing_problem.hpp"
#include "wane/core/numbers/denormals.hpp"

namespace {

using namespace wane::testing;
using support::failing_passes, support::fallible_call, support::throwing_problem;

// The control word of a thread, without the flags that say what has happened.
std::uint64_t control_word() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~0x3fu;
#elif defined(__aarch64__)
  std::uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
#else
  return static_cast<std::uint64_t>(std::fegetround());
#endif
}
std::vector<std::uint64_t> control_words() {
  std::vector<std::uint64_t> found(3);
#pragma omp parallel for num_threads(3) schedule(static, 1)
  for (int i = 0; i < 3; ++i) found[static_cast<std::size_t>(i)] = control_word();
  return found;
}

// What a caller may have set; the setting of the thread returns at the end of its life.
enum class setting { usual, rounds_up, rounds_to_zero, flushes };
class caller_sets {
 public:
  explicit caller_sets(setting s) {
    if (s == setting::flushes) flushes_.emplace();
    if (s == setting::rounds_up) std::fesetround(FE_UPWARD);
    if (s == setting::rounds_to_zero) std::fesetround(FE_TOWARDZERO);
  }
  ~caller_sets() { std::fesetround(FE_TONEAREST); }

 private:
  std::optional<wane::impl::flush_denormals> flushes_;
};
setting const settings[] = {setting::usual, setting::rounds_up, setting::rounds_to_zero,
                            setting::flushes};

// Makes a call under every setting, and expects that no thread has another one afterwards.
// `how(call)` makes the call, and returns whether it ended as it should.
template <class How>
void expect_settings_back(fallible_call const& call, How const& how) {
  for (setting const s : settings) {
    SCOPED_TRACE("setting " + std::to_string(static_cast<int>(s)));
    call.reset();
    (void)control_words();  // the threads are there
    caller_sets const set(s);
    auto const before = control_words();
    EXPECT_TRUE(how(call));
    EXPECT_EQ(control_words(), before);
  }
}

bool succeeds(fallible_call const& f) {
  f.call();
  return true;
}
// Fails at its first requests for memory, and at some later ones.
bool lacks_memory(fallible_call const& f) {
  for (int n = 1; n < 40; n += n < 5 ? 1 : 7) {
    support::release_scratch();
    support::allocation_fault const fault(n, support::failing::from_then_on);
    try {
      f.call();
    } catch (std::bad_alloc const&) {
    }
  }
  return true;
}
bool meets_a_bad_token(fallible_call const& f) {
  try {
    f.call();
  } catch (support::token_fault const&) {
    return true;
  }
  return false;
}

bool is_refused(fallible_call const& f) {
  try {
    f.call();
  } catch (wane::error const&) {
    return true;
  }
  return false;
}

template <class P, class How>
void expect_settings_back_of(P const& problem, How const& how) {
  failing_passes<P> passes(problem);
  for (int const threads : {1, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    expect_settings_back(passes.run(threads), how);
    expect_settings_back(passes.run(threads, true), how);
    expect_settings_back(passes.step(threads), how);
    expect_settings_back(passes.adjoint(threads), how);
    if constexpr (wane::scannable<operator_of<P>>)
      expect_settings_back(passes.effects(threads), how);
  }
}

// Long enough for threads that share the one sequence: pieces of 16 tokens of 1500 channels.
using channels = throwing_problem<linear_problem<wane::decay_as::log, float>>;
using panels = throwing_problem<gla_problem<float>>;
using erasers = throwing_problem<user_eraser_problem<double>>;
channels some_channels(wane::index bad = -1) { return {{1, 200, 1, 1500}, bad}; }
panels some_panels(wane::index bad = -1) { return {gla_problem<float>({2, 21, 3, 7, 19}), bad}; }
erasers some_erasers(wane::index bad = -1) { return {{2, 21, 3, 7, 19}, bad}; }

TEST(Settings, ComeBackAfterASuccess) {
  expect_settings_back_of(some_channels(), succeeds);
  expect_settings_back_of(some_panels(), succeeds);
  expect_settings_back_of(some_erasers(), succeeds);
}
TEST(Settings, ComeBackWhereMemoryRunsOut) {
  expect_settings_back_of(some_channels(), lacks_memory);
  expect_settings_back_of(some_panels(), lacks_memory);
  expect_settings_back_of(some_erasers(), lacks_memory);
}
TEST(Settings, ComeBackWhereAnArgumentIsWrong) {
  int const wrong = -1;  // threads
  failing_passes passes(some_panels());
  for (fallible_call const& call : {passes.run(wrong), passes.step(wrong), passes.adjoint(wrong)})
    expect_settings_back(call, is_refused);
}
TEST(Settings, ComeBackWhereATokenThrows) {
  for (wane::index const bad : {0, 13, 20}) {
    expect_settings_back_of(some_panels(bad), meets_a_bad_token);
    expect_settings_back_of(some_erasers(bad), meets_a_bad_token);
  }
  for (wane::index const bad : {0, 60, 110, 199})
    expect_settings_back_of(some_channels(bad), meets_a_bad_token);
}

// A call after one that threw has the right bits.
TEST(TokensThatThrow, LeaveNothingBehind) {
  auto const expect_same = [](auto const& good, auto const& bad) {
    failing_passes sound(good), broken(bad);
    for (int const threads : {1, 3})
      for (bool const over_time : {false, true}) {
        fallible_call const fails = broken.run(threads, over_time),
                            right = sound.run(threads, over_time);
        right.reset(), right.call();
        std::string const results = right.results();
        fails.reset();
        std::string const kept = fails.kept();
        support::release_scratch();
        std::ptrdiff_t const blocks = support::blocks_held();
        EXPECT_TRUE(meets_a_bad_token(fails));
        EXPECT_TRUE(support::returns_to(blocks));
        EXPECT_EQ(fails.kept(), kept);
        right.reset(), right.call();
        EXPECT_TRUE(right.results() == results);
      }
  };
  expect_same(some_channels(), some_channels(60));
  expect_same(some_panels(), some_panels(13));
  expect_same(some_erasers(), some_erasers(13));
}

// How far results in another rounding mode are from those of the usual one.
template <class P>
double apart_when(setting s, P const& problem) {
  failing_passes<P> passes(problem);
  fallible_call const call = passes.run(1);
  call.reset(), call.call();
  auto const right = passes.outcome_of_call();
  call.reset();
  {
    caller_sets const set(s);
    call.call();
  }
  return difference(passes.outcome_of_call(), right);
}

// Roundings of one sign add up to a unit in the last place for each of them and for each token that
// is remembered. The decays of channels and rows forget within 10 tokens, of 3 roundings; what
// erases sums over 7 rows, 10 roundings, and remembers all of its 21 tokens.
TEST(Settings, OfRoundingChangeTheLastDigitsOnly) {
  for (setting const s : {setting::rounds_up, setting::rounds_to_zero}) {
    EXPECT_LT(apart_when(s, some_channels()), 10 * 3 * 0x1p-23);
    EXPECT_LT(apart_when(s, some_panels()), 10 * 3 * 0x1p-23);
    EXPECT_LT(apart_when(s, some_erasers()), 21 * 10 * 0x1p-52);
  }
}

}  // namespace
