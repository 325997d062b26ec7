// local_attention: the naive loop, the laws of a recurrence, its ring as a state, wrong inputs.
// SPDX-License-Identifier: MIT
#include "wane/operators/local_attention.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "support/attention_case.hpp"
#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "wane/core/state/snapshots.hpp"
#include "wane/core/state/state_file.hpp"

namespace {

using support::attention_case;
using support::attention_sizes;
using support::error_of;
using support::head_groups;
using support::in_double;
using support::in_float;
using support::index;
using support::tensor;

// The problem of the law kit, [1 or 2, 150, 2, ...].
template <class T>
struct local_problem : attention_case<T> {
  explicit local_problem(attention_sizes const& of, double size = 1)
      : attention_case<T>(of, size) {}

  index time() const { return this->s.time; }
  wane::local_attention<T> make(index begin, index end) const {
    auto const part = [&](tensor<T> const& x) { return x.view().tokens(begin, end); };
    return {{.query = part(this->query), .key = part(this->key), .value = part(this->value)},
            {.window = this->s.window, .groups = this->s.groups, .entropy = this->s.entropy}};
  }
  void run() const {
    using A = wane::widened<T>;
    wane::run(make(0, time()), this->output.view(),
              wane::run_options<A>{.packed = {this->s.starts}});
  }
};

TEST(LocalAttention, IsTheNaiveLoop) {
  for (index window : {1, 2, 64, 65, 1000})
    for (index columns : {1, 128, 131})
      for (bool entropy : {false, true}) {
        attention_sizes const s{.batch = 2,
                                .time = 140,
                                .heads = 2,
                                .rows = 7,
                                .columns = columns,
                                .window = window,
                                .entropy = entropy};
        EXPECT_LE(error_of<local_problem<float>>(s), in_float) << window << ' ' << columns;
        EXPECT_LE((error_of<local_problem<double>, long double>(s)), in_double)
            << window << ' ' << columns;
      }
}

TEST(LocalAttention, ReadsAnyStrides) {
  for (auto lies : support::all_arrangements)
    EXPECT_LE(error_of<local_problem<float>>({.batch = 2,
                                              .time = 70,
                                              .heads = 3,
                                              .rows = 16,
                                              .columns = 19,
                                              .window = 9,
                                              .lies = lies}),
              in_float);
}

TEST(LocalAttention, OfGroupedHeads) {
  for (auto groups : {head_groups::interleaved, head_groups::tiled}) {
    attention_sizes s{
        .time = 30, .heads = 6, .rows = 4, .columns = 9, .window = 5, .groups = groups};
    s.key_heads = 2, s.value_heads = 3;
    EXPECT_LE(error_of<local_problem<double>>(s), in_double);
    s.query_heads = 2, s.value_heads = 0;
    EXPECT_LE(error_of<local_problem<double>>(s), in_double);
  }
}

// 16-bit numbers have 8 or 11 significant bits: rounding errs by up to 2^-8 of an element.
TEST(LocalAttention, OfSixteenBits) {
  attention_sizes const s{.time = 150, .heads = 2, .rows = 16, .columns = 33, .window = 20};
  EXPECT_LE(error_of<local_problem<wane::bfloat16>>(s), 0x1p-8);
  EXPECT_LE(error_of<local_problem<wane::float16>>(s), 0x1p-11);
}

TEST(LocalAttention, KeepsTheLawsOfARecurrence) {
  attention_sizes s{.time = 150, .heads = 2, .rows = 7, .columns = 9};
  auto const check = [&] {
    std::string const of = "window " + std::to_string(s.window) + ", ";
    support::expect_to_hold(wane::testing::check_laws(local_problem<float>(s), 1e-6), of);
    support::expect_to_hold(wane::testing::check_laws(local_problem<double>(s), 1e-14), of);
  };
  s.window = 1, check();
  s.window = 10, s.entropy = true, check();
  s.window = 70, s.batch = 2, check();
  s.window = 400, s.entropy = false, check();
}

// After L tokens the ring holds none of the earlier ones. The state after a long prompt is
// therefore that of its last L tokens at their positions.
TEST(LocalAttention, HasTheStateOfItsLastTokens) {
  local_problem<float> const all({.time = 100, .heads = 2, .rows = 3, .columns = 4, .window = 8});
  wane::recurrent_state<float> whole(all.make(0, 100)), last = whole;
  wane::run(all.make(0, 100), all.output.view(), wane::run_options<float>{.final = whole});
  last.positions()[0] = 92;
  wane::step(all.make(92, 100), all.output.view().tokens(92, 100), last);
  EXPECT_EQ(last.values(), whole.values());
  EXPECT_EQ(last.positions(), whole.positions());
}

// A score of 1e4 is rounded by eps 1e4. A token of weight 0 adds no entropy.
TEST(LocalAttention, OfHardScores) {
  local_problem<double> const run(
      {.time = 300, .rows = 16, .columns = 9, .window = 100, .entropy = true}, 1e4);
  run.run();
  EXPECT_LE(run.error<long double>(), 1e4 * 2.3e-16 * 4);
  local_problem<float> none({.time = 100, .rows = 1, .columns = 3, .window = 70, .entropy = true});
  none.query.fill([](auto...) { return 1; });
  none.key.fill([](index, index t, auto...) { return t < 50 || t % 2 ? -HUGE_VAL : 0; });
  none.run();
  for (index j = 0; j < 4; ++j) EXPECT_EQ(none.output(0, 49, 0, j), 0);
  EXPECT_EQ(none.output(0, 51, 0, 2), none.value(0, 50, 0, 2));
  EXPECT_EQ(none.output(0, 51, 0, 3), 0);
  EXPECT_NEAR(none.output(0, 52, 0, 3), std::log(2), 1e-7);
}

// A NaN leaves the ring with its token. Rows that hold no token yet are not read.
TEST(LocalAttention, ForgetsNaNs) {
  attention_sizes const s{.time = 200, .rows = 5, .columns = 5, .window = 70};
  local_problem<float> const clean(s), run(s);
  clean.run();
  run.key(0, 77, 0, 2) = NAN;
  auto const op = run.make(0, 200);
  wane::recurrent_state<float> state(op);
  std::ranges::fill(state.values(), NAN);
  wane::run(op, run.output.view(), wane::run_options<float>{.initial = state});
  run.output.for_each([&](index, index t, index, index j) {
    if (t < 77 || t >= 77 + 70)
      EXPECT_EQ(run.output(0, t, 0, j), clean.output(0, t, 0, j)) << t;
    else
      EXPECT_TRUE(std::isnan(run.output(0, t, 0, j))) << t;
  });
}

// Keys and values are stored in their own type, so a state of that type is exact. It can be saved,
// loaded and rolled back.
TEST(LocalAttention, HasAStateAsOthers) {
  using Io = wane::bfloat16;
  attention_sizes const s{.batch = 2, .time = 40, .heads = 2, .rows = 7, .columns = 9, .window = 6};
  local_problem<Io> const wide(s), narrow(s);
  wane::recurrent_state<float> floats(wide.make(0, 1));
  wane::recurrent_state<Io> state(narrow.make(0, 1));
  auto const step = [&](auto const& problem, index t, auto& into) {
    wane::step(problem.make(t, t + 1), problem.output.view().tokens(t, t + 1), into);
  };
  wane::snapshots<Io> ring(3, state);
  for (index t = 0; t < 40; ++t) {
    ring.push(state);  // two tokens that are tried and refused
    for (index tried : {3, 7}) step(narrow, tried, state), ring.push(state);
    ring.rollback(2, state);
    std::stringstream file;
    wane::save_state(file, "local_attention", state);
    wane::recurrent_state<Io> found(narrow.make(0, 1));
    wane::load_state(file, "local_attention", found);
    step(narrow, t, found), step(wide, t, floats);
    state = found;
    for (index b : {0, 1})
      for (index h : {0, 1})
        for (index j = 0; j < 9; ++j)
          EXPECT_EQ(static_cast<float>(narrow.output(b, t, h, j)),
                    static_cast<float>(wide.output(b, t, h, j)));
  }
}

TEST(LocalAttention, SaysWhatDoesNotFit) {
  tensor<float> q(1, 9, 4, 3), k(1, 12, 4, 3), v(1, 12, 4, 5), y(1, 9, 4, 5);
  using op = wane::local_attention<float>;
  support::expect_error({"window is 0", "positive"},
                        [&] { op({.query = q, .key = q, .value = y}, {}); });
  support::expect_error({"key has time 12", "query, 9"},
                        [&] { op({.query = q, .key = k, .value = v}, {.window = 4}); });
  support::expect_error({"rows", "3", "5"},
                        [&] { op({.query = y, .key = q, .value = y}, {.window = 4}); });
  wane::keyed_inputs<float> in{.query = q, .key = q, .value = y};
  op const good(in, {.window = 4}), with_entropy(in, {.window = 4, .entropy = true});
  wane::recurrent_state<float> state(good), other(1, 4, 3, 8);
  support::expect_error({"output", "columns 5", "6"},
                        [&] { wane::step(with_entropy, y.view(), state); });
  support::expect_error({"state", "rows 3", "4"}, [&] { wane::step(good, y.view(), other); });
  in.key.data = nullptr;
  support::expect_error({"key has no data"},
                        [&] { wane::step(op(in, {.window = 4}), y.view(), state); });
}

}  // namespace
