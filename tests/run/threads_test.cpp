// Threads: the same bits for any number, denormals flushed and the setting given back everywhere.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/threads.hpp"

#include <gtest/gtest.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "support/bank_case.hpp"
#include "support/expect_error.hpp"
#include "support/linear_gradients.hpp"

namespace {

using support::index;
using support::linear_shape;
using wane::decay_as;

template <class Case>
void expect_same_bits(Case& a, Case& b, char const* what) {
  a.output.for_each([&](index i, index t, index h, index c) {
    ASSERT_EQ(a.output(i, t, h, c), b.output(i, t, h, c)) << what;
  });
  ASSERT_EQ(a.final.values(), b.final.values()) << what;
}

TEST(Threads, AreNoMoreThanTheWorkIsWorth) {
  using wane::impl::threads_for;
  double const least = wane::impl::least_work_of_a_thread.exchange(1000);
  EXPECT_EQ(threads_for(0, 4), 1);
  EXPECT_EQ(threads_for(1999, 4), 1);
  EXPECT_EQ(threads_for(2000, 4), 2);
  EXPECT_EQ(threads_for(1e300, 4), 4);
  EXPECT_EQ(threads_for(1e6, 1), 1);
  support::expect_error({"threads is -1"}, [] { threads_for(1e6, -1); });
  wane::impl::least_work_of_a_thread = least;
}

TEST(Threads, GiveTheSameBitsForALinearRecurrence) {
  for (index columns : {1, 4, 37, 300, 1000})
    for (index batch : {1, 3}) {
      linear_shape s{.batch = batch, .time = 150, .heads = 2, .columns = columns};
      support::linear_case<decay_as::log, float> one(s);
      one.run();
      for (int threads : {2, 3, 7, 0}) {
        s.threads = threads;
        support::linear_case<decay_as::log, float> more(s);
        more.run();
        expect_same_bits(one, more, "linear recurrence");
      }
    }
}

TEST(Threads, GiveTheSameBitsForAStep) {
  support::linear_case<decay_as::log, float> given(
      {.batch = 3, .time = 5, .heads = 4, .columns = 37});
  auto const op = given.op();
  std::vector<float> first;
  for (int threads : {1, 2, 3, 7, 0}) {
    wane::recurrent_state<float> state(op);
    wane::step(op, given.output.view(), state, {.threads = threads});
    std::vector<float> all = state.values();
    given.output.for_each(
        [&](index i, index t, index h, index c) { all.push_back(given.output(i, t, h, c)); });
    if (threads == 1) first = all;
    EXPECT_EQ(all, first) << threads;
  }
  support::expect_error({"threads is -1"}, [&] {
    wane::recurrent_state<float> state(op);
    wane::step(op, given.output.view(), state, {.threads = -1});
  });
}

TEST(Threads, GiveTheSameBitsForABank) {
  for (index rows : {3, 17})
    for (index columns : {1, 37, 300, 8000}) {
      support::bank_shape s{rows, {.time = columns == 8000 ? 100 : 150, .columns = columns}};
      support::bank_case<float> one(s);
      one.run();
      for (int threads : {2, 3, 7}) {
        s.of.threads = threads;
        support::bank_case<float> more(s);
        more.run();
        expect_same_bits(one, more, "bank");
      }
    }
}

TEST(Threads, ThatShareASequenceAgreeWithOne) {
  for (index columns : {1, 4, 40})
    for (int threads : {2, 3}) {
      support::linear_case<decay_as::log, float> one(
          {.time = 400000 / columns, .columns = columns}),
          shared(one.shape);
      one.run();
      auto options = shared.options();
      options.threads = threads;
      options.threads_over_time = true;
      wane::run(shared.op(), shared.output.view(), options);
      support::nearness near;
      one.output.for_each([&](index b, index t, index h, index c) {
        near.add(static_cast<double>(shared.output(b, t, h, c)),
                 static_cast<double>(one.output(b, t, h, c)));
      });
      EXPECT_LT(near.both(), 1e-6) << columns << " columns, " << threads << " threads";
    }
}

// Decays are so slow that no thread can find its state without the tokens of the others.
template <decay_as Form>
void share_what_never_fades(linear_shape const& s) {
  support::linear_case<Form, float> shared(s);
  support::random_values random(7);
  shared.decay.fill([&](auto...) {
    double const log = random.log_decay(1e-7, 1e-5);
    return Form == decay_as::log ? log : std::exp(log);
  });
  auto options = shared.options();
  options.threads_over_time = true;
  wane::run(shared.op(), shared.output.view(), options);
  EXPECT_LT(shared.error().both(), support::bound_of<float>(s.time))
      << s.columns << " columns, " << s.threads << " threads";
}

TEST(Threads, ThatShareASequenceThatNeverFadesAgreeWithDouble) {
  for (index columns : {1, 4, 16, 40})
    for (int threads : {2, 3})
      for (auto direction : {wane::direction::forward, wane::direction::reverse}) {
        linear_shape const s{.time = 800000 / columns + 11,
                             .columns = columns,
                             .direction = direction,
                             .threads = threads};
        share_what_never_fades<decay_as::log>(s);
        share_what_never_fades<decay_as::factor>(s);
      }
}

TEST(Threads, ThatShareASequenceDoSoInPlaceWithResetsNaNAndLargeFactors) {
  index const time = 200000;
  support::linear_case<decay_as::factor, float> one({.time = time, .columns = 2}),
      shared(one.shape);
  for (auto* run : {&one, &shared}) {
    (*run).decay.fill([](index, index t, index, index) {
      return t % 5000 == 0 ? 0. : t % 4 == 0 ? 1e30 : t % 4 == 1 ? 1e-30 : -0.9;
    });
    for (index t = 4998; t < time; t += 5000) (*run).drive(0, t, 0, 1) = HUGE_VALF;
  }
  one.run();
  auto options = shared.options();
  options.threads = 2;
  options.threads_over_time = true;
  wane::run(shared.op(), shared.drive.view(), options);
  support::nearness near;
  one.output.for_each([&](index b, index t, index h, index c) {
    near.add(static_cast<double>(shared.drive(b, t, h, c)),
             static_cast<double>(one.output(b, t, h, c)));
  });
  EXPECT_LT(near.both(), 1e-6);
}

TEST(Threads, OfNoSequencesAtAllDoNothing) {
  std::vector<index> const none = {0};
  wane::sequence_view<float> const empty(nullptr, 1, 0, 1, 5);
  wane::linear_recurrence<decay_as::log, float> const op({.decay = empty, .drive = empty});
  for (int threads : {1, 2})
    EXPECT_NO_THROW(
        wane::run(op, empty, wane::run_options<float>{.packed = {none}, .threads = threads}));
}

TEST(Threads, InsideAParallelRegionAreOne) {
  std::vector<int> seen(2);
  std::vector<double> errors(2, 1);
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; ++i) {
    linear_shape const s{.time = 20000, .columns = 40, .threads = 0};
    support::linear_case<decay_as::log, float> run(s, static_cast<std::uint64_t>(i) + 1);
    auto options = run.options();
    options.threads_over_time = i == 1;
    wane::run(run.op(), run.output.view(), options);
    errors[static_cast<std::size_t>(i)] = run.error().both();
    seen[static_cast<std::size_t>(i)] = wane::impl::threads_to_use(0);
  }
#ifdef _OPENMP
  EXPECT_EQ(seen, (std::vector<int>{1, 1}));
#endif
  for (double e : errors) EXPECT_LT(e, support::bound_of<float>(20000));
}

#ifdef __x86_64__
// Flush-to-zero, denormals-are-zero, rounding and masks of every thread of the pool.
std::vector<unsigned> settings(int threads) {
  std::vector<unsigned> found(static_cast<std::size_t>(threads));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < threads; ++i)
    found[static_cast<std::size_t>(i)] = _mm_getcsr() & ~0x3fu;  // without the sticky flags
  return found;
}

TEST(FlushToZero, IsGivenBackInEveryThread) {
  linear_shape const s{.batch = 8, .time = 100, .heads = 2, .columns = 20, .threads = 4};
  auto const before = settings(4);
  for (unsigned own : {0x1f80u, 0x9fc0u, 0x1f80u | 0x6000u}) {
    _mm_setcsr(own);
    support::linear_gradients<decay_as::log, float> run(s);
    run.run.run();
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, own);
    run.find();
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, own);
    wane::recurrent_state<float> state = run.run.initial;
    wane::step(run.run.op(), run.run.output.view(), static_cast<wane::state_view<float>>(state),
               {.threads = 4});  // fewer would end some threads of the pool
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, own);
    support::bank_case<float> bank({17, s});
    bank.run();
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, own);
    auto options = run.run.options();
    options.threads = -1;
    EXPECT_THROW(wane::run(run.run.op(), run.run.output.view(), options), wane::error);
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, own);
    _mm_setcsr(0x1f80u);
  }
  EXPECT_EQ(settings(4), before);
}

TEST(FlushToZero, HoldsWhileARunLasts) {
  // A state that halves for ever ends at zero, not among the denormals.
  for (index columns : {1, 20}) {
    support::linear_case<decay_as::factor, float> run({.time = 200, .columns = columns});
    run.decay.fill([](auto...) { return 0.5; });
    run.drive.fill([](auto...) { return 0; });
    run.run();
    for (float s : run.final.values()) EXPECT_EQ(s, 0);
  }
}
#endif

}  // namespace
