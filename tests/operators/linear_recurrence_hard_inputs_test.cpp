// linear_recurrence with resets, NaN, infinities, growth and underflow, in every way to run it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/linear_case.hpp"

namespace {

using support::arrangement;
using support::index;
using wane::decay_as;
using wane::direction;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Shapes that run number by number, in vectors of columns, and in vectors of tokens.
struct way_to_run {
  index time, columns;
  arrangement how;
  direction way = direction::forward;
};
constexpr way_to_run ways[] = {{70, 5, arrangement::spread},
                               {70, 67, arrangement::plain},
                               {70, 1, arrangement::plain},
                               {130, 2, arrangement::odd},
                               {130, 8, arrangement::plain},
                               {130, 3, arrangement::series},
                               {70, 67, arrangement::padded, direction::reverse},
                               {130, 4, arrangement::plain, direction::reverse},
                               {130, 3, arrangement::series, direction::reverse}};

// The token that is number `n` in the order of the walk.
index token_of(way_to_run const& w, index n) {
  return w.way == direction::forward ? n : w.time - 1 - n;
}

// Runs with some elements replaced; compares with the naive loop.
template <decay_as Form, class Change>
void expect_naive(way_to_run const& w, Change const& change, double bound) {
  support::linear_case<Form, float> run(
      {.time = w.time, .columns = w.columns, .inputs = w.how, .output = w.how, .direction = w.way});
  change(run);
  run.run();
  EXPECT_LT(run.error().both(), bound)
      << w.time << " tokens, " << w.columns << " columns, layout " << static_cast<int>(w.how);
}

// All cases below forget within a few tokens, so they err by a few roundings.
constexpr double few_roundings = 1e-6;

TEST(LinearRecurrenceHardInputs, AResetStopsNaNAndInfinityOfADrive) {
  for (way_to_run const& w : ways)
    for (float bad : {nan, infinity, -infinity})
      for (index n : {0, 17, 63}) {
        auto const spoil = [&](auto& run, float reset) {
          for (index c = 0; c < w.columns; c += 2) {
            run.drive(0, token_of(w, n), 0, c) = bad;
            run.decay(0, token_of(w, n + 2), 0, c) = reset;
          }
        };
        expect_naive<decay_as::log>(
            w, [&](auto& run) { spoil(run, -infinity); }, few_roundings);
        expect_naive<decay_as::factor>(
            w, [&](auto& run) { spoil(run, -0.f); }, few_roundings);
      }
}

TEST(LinearRecurrenceHardInputs, AResetStopsNaNOfADecayAndOfTheInitialState) {
  for (way_to_run const& w : ways) {
    auto const spoil = [&](auto& run, float reset) {
      run.decay(0, token_of(w, 20), 0, 0) = nan;
      run.decay(0, token_of(w, 21), 0, 0) = reset;
      run.initial.values()[static_cast<std::size_t>(w.columns) - 1] = nan;
      run.decay(0, token_of(w, 1), 0, w.columns - 1) = reset;
    };
    expect_naive<decay_as::log>(
        w, [&](auto& run) { spoil(run, -infinity); }, few_roundings);
    expect_naive<decay_as::factor>(
        w, [&](auto& run) { spoil(run, 0.f); }, few_roundings);
  }
}

TEST(LinearRecurrenceHardInputs, NaNReachesOnlyItsChannelAndOnlyLaterTokens) {
  // No reset here: from token 33 on, channel 0 is NaN and no other.
  for (way_to_run const& w : ways) {
    auto const spoil = [&](auto& run, float decay) {
      run.decay.fill([&](auto...) { return decay; });
      run.drive(0, token_of(w, 33), 0, 0) = nan;
    };
    expect_naive<decay_as::log>(
        w, [&](auto& run) { spoil(run, -0.3f); }, few_roundings);
    expect_naive<decay_as::factor>(
        w, [&](auto& run) { spoil(run, -0.7f); }, few_roundings);
  }
}

TEST(LinearRecurrenceHardInputs, TheLastTokensMayBeNaNWithoutSpoilingTheVectorBeforeThem) {
  for (way_to_run const& w : ways)
    expect_naive<decay_as::log>(
        w, [&](auto& run) { run.drive(0, token_of(w, w.time - 1), 0, 0) = nan; }, few_roundings);
}

TEST(LinearRecurrenceHardInputs, ExactlyOneAndExactlyZeroAreSumAndCopy) {
  // Sums of small whole numbers are exact.
  for (way_to_run const& w : ways) {
    auto const whole = [](auto& run, float decay) {
      run.decay.fill([&](auto...) { return decay; });
      run.drive.fill([](index, index t, index, index c) { return (t * 7 + c) % 5 - 2; });
      for (auto& x : run.initial.values()) x = 3;
    };
    constexpr double exact = std::numeric_limits<double>::min();
    expect_naive<decay_as::log>(
        w, [&](auto& run) { whole(run, 0.f); }, exact);
    expect_naive<decay_as::log>(
        w, [&](auto& run) { whole(run, -infinity); }, exact);
    expect_naive<decay_as::factor>(
        w, [&](auto& run) { whole(run, 1.f); }, exact);
    expect_naive<decay_as::factor>(
        w, [&](auto& run) { whole(run, -1.f); }, exact);
    expect_naive<decay_as::factor>(
        w, [&](auto& run) { whole(run, 0.f); }, exact);
  }
}

TEST(LinearRecurrenceHardInputs, DenormalDecaysDrivesAndStatesCountAsZeroAtMost) {
  // Each output is right to within the least normal number; drives are of size 1.
  for (way_to_run const& w : ways) {
    auto const spoil = [&](auto& run) {
      float const denormal = std::numeric_limits<float>::denorm_min() * 100;
      for (index n = 0; n < w.time; n += 3) {
        run.drive(0, token_of(w, n), 0, 0) = denormal;
        run.decay(0, token_of(w, n), 0, w.columns - 1) = -denormal;
      }
      run.initial.values()[0] = denormal;
    };
    expect_naive<decay_as::log>(w, spoil, few_roundings);
    expect_naive<decay_as::factor>(w, spoil, few_roundings);
  }
}

// Repeats the factors (or logs) of one channel. With drives of zero h is their product.
template <decay_as Form>
void expect_products(std::vector<float> const& decays, float initial, float drive = 0) {
  for (way_to_run const& w : ways) {
    auto const spoil = [&](auto& run) {
      auto const count = static_cast<index>(decays.size());
      run.decay.fill([&](index, index t, index, index) {
        index const n = w.way == direction::forward ? t : w.time - 1 - t;
        return decays[static_cast<std::size_t>(n % count)];
      });
      run.drive.fill([&](auto...) { return drive; });
      for (auto& x : run.initial.values()) x = initial;
    };
    // The state is a product of T rounded factors; in a cycle roundings repeat: T eps.
    expect_naive<Form>(w, spoil, 6e-8 * static_cast<double>(w.time));
  }
}

TEST(LinearRecurrenceHardInputs, AlternatingSignsStayExact) {
  expect_products<decay_as::factor>({-1, 1, -1, -0.5f, 2}, 3);
  expect_products<decay_as::factor>({-0.9f, -1.1f}, 3, 0.5f);
}

TEST(LinearRecurrenceHardInputs, FactorsWhoseProductOverflowsKeepTheRightState) {
  // The state stays between 1e-30 and 1e30; factors of four tokens together are 1e60.
  expect_products<decay_as::factor>({1e15f, 1e15f, 1e15f, 1e15f, 1e-30f, 1e-30f}, 1e-30f);
  expect_products<decay_as::factor>({1e30f, 1e30f, 1e-30f, 1e-30f}, 1e-30f);
}

TEST(LinearRecurrenceHardInputs, FactorsWhoseProductUnderflowsKeepTheRightState) {
  // The state goes from 1e30 to 1e-10 and back; factors of two tokens together are 1e-40.
  expect_products<decay_as::factor>({1e-20f, 1e-20f, 1e20f, 1e20f}, 1e30f);
  expect_products<decay_as::factor>({1e-20f, 1e-20f, 1e15f, 1e15f, 1e10f}, 1e30f);
}

TEST(LinearRecurrenceHardInputs, PositiveLogsDoWhatTheNaiveLoopDoes) {
  expect_products<decay_as::log>({-46, -46, 46, 46}, 1e30f);
  expect_products<decay_as::log>({46, 40, -46, -40}, 1e-30f);
}

TEST(LinearRecurrenceHardInputs, ALargeDriveSurvivesFactorsThatUnderflowTogether) {
  for (way_to_run const& w : ways)
    expect_naive<decay_as::factor>(
        w,
        [&](auto& run) {
          float const cycle[] = {0.f, 1e-20f, 1e-20f, 1e18f, 1e18f, 1e6f};
          run.decay.fill([&](index, index t, index, index) {
            return cycle[(w.way == direction::forward ? t : w.time - 1 - t) % 6];
          });
          run.drive.fill([&](index, index t, index, index) {
            return (w.way == direction::forward ? t : w.time - 1 - t) % 6 == 0 ? 1e30f : 0.f;
          });
        },
        few_roundings);
}

TEST(LinearRecurrenceHardInputs, AnOverflowingStateIsInfiniteUntilItsReset) {
  for (way_to_run const& w : ways) {
    support::linear_case<decay_as::factor, float> run({.time = w.time,
                                                       .columns = w.columns,
                                                       .inputs = w.how,
                                                       .output = w.how,
                                                       .direction = w.way,
                                                       .carries = false});
    run.decay.fill([&](index, index t, index, index) { return t == token_of(w, 40) ? 0.f : 1e4f; });
    run.drive.fill([](auto...) { return 1; });
    run.run();
    for (index c = 0; c < w.columns; ++c) {
      EXPECT_EQ(run.output(0, token_of(w, 39), 0, c), infinity);
      EXPECT_EQ(run.output(0, token_of(w, 40), 0, c), 1);
      EXPECT_EQ(run.output(0, token_of(w, 41), 0, c), 10001);
    }
  }
}

}  // namespace
