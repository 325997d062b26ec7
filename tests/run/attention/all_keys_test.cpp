// Softmax attention that is not causal: over all tokens, or over those of another sequence.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/attention_case.hpp"
#include "support/expect_error.hpp"
#include "wane/run/attention/attend.hpp"

namespace {

using support::attention_case;
using support::attention_sizes;
using support::error_of;
using support::in_double;
using support::in_float;
using support::index;

// The keys are those of all tokens, and more or fewer than these.
TEST(SoftmaxAttention, OfAllKeys) {
  for (index time : {1, 65, 389})
    for (index other : {0, 1, 130, 1 - static_cast<int>(time)}) {
      attention_sizes const s{.batch = 2,
                              .time = time,
                              .heads = 2,
                              .rows = 7,
                              .columns = 5,
                              .cache = other,
                              .entropy = true,
                              .causal = false};
      EXPECT_LE(error_of<attention_case<float>>(s), in_float) << time << ' ' << other;
      EXPECT_LE((error_of<attention_case<double>, long double>(s)), in_double)
          << time << ' ' << other;
    }
}

// A sequence without keys has the answer 0.
TEST(SoftmaxAttention, OfAllKeysOfPackedSequences) {
  attention_sizes s{.time = 100,
                    .heads = 2,
                    .rows = 4,
                    .columns = 9,
                    .starts = {0, 3, 3, 80, 100},
                    .causal = false};
  EXPECT_LE(error_of<attention_case<double>>(s), in_double);
  s.cache = 200, s.key_starts = {0, 90, 91, 299, 300};
  EXPECT_LE(error_of<attention_case<double>>(s), in_double);
  s.cache = -90, s.key_starts = {0, 4, 5, 5, 10};
  attention_case<double> const run(s);
  run.run();
  EXPECT_EQ(run.output(0, 50, 1, 3), 0);
  EXPECT_NE(run.output(0, 80, 1, 3), 0);
}

// Queries and keys of padded batches, each of lengths of its own.
TEST(SoftmaxAttention, OfAllKeysOfPaddedBatches) {
  std::vector<index> const lengths{70, 0, 3}, key_lengths{2, 5, 140};
  attention_sizes const s{
      .batch = 3, .time = 70, .rows = 3, .columns = 5, .cache = 80, .causal = false};
  attention_case<double> padded(s);
  wane::attend(padded.op(), padded.output.view(), {.lengths = lengths, .key_lengths = key_lengths});
  for (index b = 0; b < 3; ++b) {
    auto const i = static_cast<std::size_t>(b);
    attention_sizes alone = s;
    alone.batch = 1, alone.time = lengths[i], alone.cache = key_lengths[i] - lengths[i];
    attention_case<double> one(alone);
    auto const copy = [&](auto& to, auto const& from) {
      to.fill([&](index, index t, index h, index j) { return from(b, t, h, j); });
    };
    copy(one.query, padded.query), copy(one.key, padded.key), copy(one.value, padded.value);
    one.run();
    one.output.for_each(
        [&](index, auto... at) { EXPECT_EQ(one.output(0, at...), padded.output(b, at...)); });
    for (index t = lengths[i]; t < 70; ++t) EXPECT_TRUE(std::isnan(padded.output(b, t, 0, 0)));
  }
}

TEST(SoftmaxAttention, SaysHowKeysMustLie) {
  std::vector<index> const two{0, 4, 9}, three{0, 3, 4, 12}, lengths{9};
  auto const refuses = [&](bool causal, index cache, wane::attend_options const& options,
                           std::vector<std::string> const& pieces) {
    attention_case<double> const run(
        {.time = 9, .rows = 2, .columns = 1, .cache = cache, .causal = causal});
    support::expect_error(pieces, [&] { wane::attend(run.op(), run.output.view(), options); });
    EXPECT_TRUE(std::isnan(run.output(0, 0, 0, 0)));
  };
  refuses(true, 0, {.key_lengths = lengths}, {"key_lengths", "not causal"});
  refuses(false, 3, {.packed = {two}}, {"key has time 12", "must be 9"});
  refuses(false, 3, {.lengths = lengths}, {"key has time 12", "must be 9"});
  refuses(false, 3, {.packed = {two}, .key_packed = {three}}, {"of 3 packed sequences", "of 2"});
  refuses(false, 3, {.key_packed = {three}}, {"of 3 packed sequences", "of 1 as the queries"});
  refuses(false, 0, {.packed = {two}, .key_lengths = lengths}, {"of 1 sequences", "of 2 packed"});
  attention_sizes const windowed{.time = 9, .window = 3, .causal = false};
  support::expect_error({"window is 3", "not causal"},
                        [&] { attention_case<double>(windowed).op(); });
}

}  // namespace
