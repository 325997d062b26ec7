// What the scan of wane::cuda must do, on a GPU and on an emulated one: one body for both.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "support/bank_case.hpp"

namespace support {

// Every line is a call of `runner`, which is called as wane::run is.
template <class Runner>
struct scan_cases {
  Runner runner;

  template <class Io, class Accumulate = wane::widened<Io>>
  void expect_linear(linear_shape const& s) const {
    using wane::decay_as;
    double const bound = bound_of<Accumulate>(s.time) + rounding_of<Io>();
    EXPECT_LT((linear_error<decay_as::log, Io, Accumulate>(s, runner)), bound)
        << describe(s) << ", logs";
    EXPECT_LT((linear_error<decay_as::factor, Io, Accumulate>(s, runner)), bound)
        << describe(s) << ", factors";
  }
  template <class Io, class Accumulate = wane::widened<Io>>
  void expect_bank(bank_shape const& s) const {
    bank_case<Io, Accumulate> run(s);
    run.run_by(runner);
    EXPECT_TRUE(run.output.margins_untouched());
    EXPECT_LT(run.error(), bound_of<Accumulate>(s.of.time) + rounding_of<Io>())
        << s.rows << " rows, " << describe(s.of);
  }

  void are_right_for_ragged_sizes() const {
    for (index time : ragged_sizes)
      for (index columns : ragged_sizes)
        if (time * columns <= 8200) expect_linear<float>({.time = time, .columns = columns});
  }
  void are_right_in_every_layout_and_direction() const {
    for (arrangement inputs : all_arrangements)
      for (arrangement output : all_arrangements)
        for (auto way : {wane::direction::forward, wane::direction::reverse})
          for (index columns : {1, 19})
            expect_linear<float>(
                {inputs == output ? 1 : 2, 70, 1 + columns % 2, columns, inputs, output, way});
  }
  void are_right_for_packed_sequences() const {
    for (auto way : {wane::direction::forward, wane::direction::reverse})
      for (bool carries : {true, false})
        for (std::vector<index> const& starts :
             {std::vector<index>{0, 0, 1, 1, 64, 65, 65, 400, 400}, std::vector<index>{0, 400},
              std::vector<index>{0, 200, 400}})
          for (index columns : {1, 5, 40})
            expect_linear<float>({.time = 400,
                                  .heads = 2,
                                  .columns = columns,
                                  .direction = way,
                                  .carries = carries,
                                  .starts = starts});
  }
  template <class Io, class Accumulate = wane::widened<Io>>
  void are_right_for_the_type() const {
    for (index columns : {1, 2, 33}) {
      expect_linear<Io, Accumulate>({.batch = 2, .time = 500, .heads = 1, .columns = columns});
      expect_bank<Io, Accumulate>(
          {5, {.batch = 2, .time = 150, .heads = 2, .columns = columns, .starts = {}}});
    }
  }
  void are_right_for_banks() const {
    for (index rows : {1, 2, 16, 33})
      for (index columns : {1, 7, 64})
        for (bool direct : {true, false})
          expect_bank<float>({rows, {.time = 130, .heads = 2, .columns = columns}, direct});
    expect_bank<float>({4, {.time = 130, .columns = 3, .direction = wane::direction::reverse}});
    expect_bank<float>({4, {.time = 130, .columns = 3, .starts = {0, 1, 1, 100, 130}}});
  }

  // Slow decays over long times, one in logs and one in factors; drives of one sign and of both.
  void keep_slow_decays() const {
    for (double log : {0., -1e-9, -1e-6, -1e-4, -1e-2})
      for (index columns : {1, 2})
        for (double low : {-1., 0.}) {
          // A float state errs by one rounding of itself a token, of random sign.
          double const memory = log == 0 ? 1e5 : std::min(1e5, -1 / std::expm1(log));
          double const bound = (low < 0 ? 3 : 5) * 6e-8 * std::sqrt(memory);
          EXPECT_LT(slow_error<wane::decay_as::log>(log, columns, low), bound) << log;
          EXPECT_LT(slow_error<wane::decay_as::factor>(log, columns, low), bound) << log;
        }
  }

 private:
  template <wane::decay_as Form>
  double slow_error(double log, index columns, double low) const {
    linear_case<Form, float> run({.time = 100000, .columns = columns});
    run.decay.fill([&](auto...) { return Form == wane::decay_as::log ? log : std::exp(log); });
    random_values random;
    run.drive.fill([&](auto...) { return random.uniform(low, 1); });
    run.run_by(runner);
    return run.error().both();
  }
  // One rounding to the stored type.
  template <class Io>
  static double rounding_of() {
    return std::is_same_v<Io, wane::bfloat16>  ? 0x1p-8
           : std::is_same_v<Io, wane::float16> ? 0x1p-11
                                               : 0;
  }
  static std::string describe(linear_shape const& s) {
    return testing::PrintToString(std::vector<index>{
        s.batch, s.time, s.heads, s.columns, static_cast<index>(s.inputs),
        static_cast<index>(s.output), static_cast<index>(s.direction), s.sequences()});
  }
};

}  // namespace support
