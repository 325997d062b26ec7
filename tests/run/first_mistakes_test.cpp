// Mistakes of a first day that no compiler sees: each is refused, and the message names it. Those
// that a compiler sees are must_not_compile/mistake_*.cpp.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/run/run.hpp"

namespace {

using support::expect_error, wane::index;

constexpr index tokens = 6, rows = 2, columns = 3;

struct first_day {
  std::vector<float> numbers = std::vector<float>(tokens * columns);

  wane::sequence_view<float> of(index channels, index time = tokens) {
    return {numbers.data(), 1, time, 1, channels};
  }
  wane::keyed_inputs<float> in() {
    return {.query = of(rows), .key = of(rows), .value = of(columns)};
  }
};

TEST(FirstMistakes, AWrongShape) {
  first_day x;
  expect_error({"key has time 5; it must be 6"}, [&] {
    wane::gla({.query = x.of(rows), .key = x.of(rows, 5), .value = x.of(columns)}, x.of(rows));
  });
  expect_error({"output has columns 2; it must be 3"},
               [&] { wane::run(wane::gla(x.in(), x.of(rows)), x.of(rows)); });
}

TEST(FirstMistakes, ForgottenPositions) {
  first_day x;
  float const log_gamma = -1, alpha = 0.5f;
  wane::retnet<float> const memory(x.in(), {{&log_gamma, 1}, {{&alpha, 1}}});
  std::vector<float> kept(rows * columns);
  expect_error({"initial has no positions", "depends on how many tokens"}, [&] {
    wane::run(memory, x.of(columns), {.initial = {.values = {kept.data(), 1, 1, rows, columns}}});
  });
}

TEST(FirstMistakes, APackedEndOffByOne) {
  first_day x;
  std::vector<index> const starts{0, 2, 5};
  expect_error({"packed.starts ends with 5; it must end with the number of tokens, 6"}, [&] {
    wane::run(wane::gla(x.in(), x.of(rows)), x.of(columns), {.packed = {starts}});
  });
}

}  // namespace
