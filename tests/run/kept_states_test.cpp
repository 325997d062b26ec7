// Kept states: each equals the final state of a run of so many tokens, and changes nothing else.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/bank_case.hpp"
#include "support/expect_error.hpp"
#include "support/user_operators.hpp"

namespace {

using support::index;
using support::linear_shape;
using wane::decay_as;
using wane::direction;
using wane::recurrent_state;

using linear = support::linear_case<decay_as::log, float>;
using bank = support::bank_case<float>;

// Sequence n of a batch or of states.
template <class T>
wane::view<T, 4> one_of(wane::view<T, 4> x, index n) {
  x.data += n * x.stride[0], x.extent[0] = 1;
  return x;
}

// The operator of a case on tokens [begin, end) of row b.
auto part_of(linear const& run, index b, index begin, index end) {
  return linear::op_type({.decay = one_of(run.decay.view(), b).tokens(begin, end),
                          .drive = one_of(run.drive.view(), b).tokens(begin, end)});
}
auto part_of(bank const& run, index b, index begin, index end) {
  auto in = run.in();
  in.value = one_of(run.values.view(), b).tokens(begin, end);
  return bank::op_type(in);
}

// The state of sequence n after its first tokens, by a run of these alone.
template <class Case>
recurrent_state<float> state_after(Case const& run, linear_shape const& s, index n, index tokens) {
  auto const whole = s.span(n);
  auto const [begin, end] = whole.reverse ? std::pair{whole.end - tokens, whole.end}
                                          : std::pair{whole.begin, whole.begin + tokens};
  auto const op = part_of(run, s.row(n), begin, end);
  recurrent_state<float> found(op);
  support::tensor<float> y(1, tokens, s.heads, s.columns);
  auto const& initial = static_cast<wane::state_view<float const>>(run.initial).values;
  wane::run(
      op, y.view(),
      wane::run_options<float>{.initial = {one_of(initial, n), run.initial.positions().data() + n},
                               .final = found,
                               .direction = s.direction});
  return found;
}

// The difference between a run with kept states and runs without, in outputs, final state and kept
// states.
template <class Case, class Shape>
double error_of_keeping(Shape const& shape, linear_shape const& s,
                        std::vector<index> const& tokens) {
  Case run(shape), plain(shape);
  plain.run();
  for (std::size_t n = 0; n < run.initial.positions().size(); ++n)
    run.initial.positions()[n] = 5 + static_cast<index>(n);
  std::vector<recurrent_state<float>> states(tokens.size(), run.final);  // full of NaN
  std::vector<wane::kept_state<float>> keep;
  for (std::size_t k = 0; k < tokens.size(); ++k) keep.push_back({tokens[k], states[k]});
  auto options = run.options();
  options.keep = keep;
  wane::run(run.op(), run.output.view(), options);

  support::nearness near;
  run.output.for_each([&](index b, index t, index h, index c) {
    near.add(static_cast<double>(run.output(b, t, h, c)),
             static_cast<double>(plain.output(b, t, h, c)));
  });
  auto const compare = [&](auto const& is, auto const& must_be) {
    for (std::size_t i = 0; i < must_be.size(); ++i)
      near.add(static_cast<double>(is[i]), static_cast<double>(must_be[i]));
  };
  compare(run.final.values(), plain.final.values());
  for (std::size_t k = 0; k < tokens.size(); ++k)
    for (index n = 0; n < s.sequences(); ++n) {
      auto const span = s.span(n);
      index const count = std::min(tokens[k], span.end - span.begin);
      auto const alone = state_after(run, s, n, count);
      auto const size = static_cast<index>(alone.values().size());
      compare(std::span(states[k].values())
                  .subspan(static_cast<std::size_t>(n * size), static_cast<std::size_t>(size)),
              alone.values());
      EXPECT_EQ(states[k].positions()[static_cast<std::size_t>(n)], 5 + n + count);
      EXPECT_EQ(states[k].positions()[static_cast<std::size_t>(n)], alone.positions()[0]);
    }
  return near.both();
}

// Cuts move the vectors of tokens and the scaling of the states of a bank, so roundings differ.
constexpr double rounding = 1e-6;

TEST(KeptStates, OfChannels) {
  for (index columns : {1, 4, 37, 300})
    for (auto way : {direction::forward, direction::reverse})
      for (int threads : {1, 3}) {
        linear_shape const s{.batch = 2,
                             .time = 150,
                             .heads = 2,
                             .columns = columns,
                             .direction = way,
                             .threads = threads};
        EXPECT_LE(error_of_keeping<linear>(s, s, {0, 1, 64, 64, 149, 150, 400}), rounding);
      }
}

TEST(KeptStates, OfPackedSequences) {
  for (index columns : {1, 4, 37}) {
    linear_shape const s{.time = 150, .columns = columns, .starts = {0, 3, 3, 90, 150}};
    EXPECT_LE(error_of_keeping<linear>(s, s, {2, 50, 80}), rounding);
  }
}

TEST(KeptStates, OfBanks) {
  for (index rows : {3, 17})
    for (auto way : {direction::forward, direction::reverse}) {
      support::bank_shape const s{
          rows, {.batch = 2, .time = 150, .heads = 2, .columns = 37, .direction = way}};
      EXPECT_LE(error_of_keeping<bank>(s, s.of, {16, 17, 100}), rounding);
    }
}

TEST(KeptStates, OfABankThatWritesNothingAreThoseOfItsInitialState) {
  support::bank_shape const s{3, {.time = 100, .columns = 16}};
  bank run(s);
  for (auto& key : run.key) key = 0;
  for (auto& decay : run.log_decay) decay = 0;
  recurrent_state<float> state(1, 1, 3, 16);
  wane::kept_state<float> const keep[] = {{50, state}};
  auto options = run.options();
  options.keep = keep;
  wane::run(run.op(), run.output.view(), options);
  EXPECT_EQ(state.values(), run.initial.values());
}

TEST(KeptStates, OfThreadsThatShareASequence) {
  for (index columns : {1, 40}) {
    index const time = 1200000 / columns;
    linear run({.time = time, .columns = columns}), plain({.time = time, .columns = columns});
    recurrent_state<float> early(run.op()), late(run.op());
    wane::kept_state<float> const keep[] = {{7, early}, {time - 7, late}};
    auto options = run.options();
    options.threads = 3, options.threads_over_time = true, options.keep = keep;
    wane::run(run.op(), run.output.view(), options);
    plain.run();
    support::nearness near;
    auto const compare = [&](recurrent_state<float> const& state, index t) {
      for (index c = 0; c < columns; ++c)
        near.add(static_cast<double>(state.values()[static_cast<std::size_t>(c)]),
                 static_cast<double>(plain.output(0, t, 0, c)));
    };
    compare(early, 6), compare(late, time - 8), compare(run.final, time - 1);
    EXPECT_LE(near.both(), rounding);
  }
}

// In order the cuts change no rounding, for any precision of the states.
TEST(KeptStates, InOrderChangeNoBit) {
  support::random_values random(3);
  support::tensor<double> x(2, 20, 3, 5), whole(2, 20, 3, 5), cut(2, 20, 3, 5), part(2, 20, 3, 5);
  x.fill([&](auto...) { return random.uniform(-1, 1); });
  support::tanh_cell const cell{0.5, x.view()};
  recurrent_state<double> kept(cell), first(cell);
  wane::kept_state<double> const keep[] = {{13, kept}};
  wane::run(cell, whole.view());
  wane::run(cell, cut.view(), wane::run_options<double>{.keep = keep});
  wane::run(support::tanh_cell{0.5, x.view().tokens(0, 13)}, part.view().tokens(0, 13),
            wane::run_options<double>{.final = first});
  whole.for_each(
      [&](index b, index t, index h, index c) { EXPECT_EQ(cut(b, t, h, c), whole(b, t, h, c)); });
  EXPECT_EQ(kept.values(), first.values());
  EXPECT_EQ(kept.positions(), first.positions());
}

TEST(KeptStates, OfNoSequencesHoldNothing) {
  linear run({.time = 0, .columns = 3, .starts = {0}});
  recurrent_state<float> none(0, 1, 1, 3);
  auto options = run.options();
  std::vector<wane::kept_state<float>> const keep{{0, none}};
  options.keep = keep;
  wane::run(run.op(), run.output.view(), options);
  EXPECT_TRUE(none.positions().empty());
}

TEST(KeptStates, ThatDoNotFitAreRefusedBeforeAnythingIsWritten) {
  linear run({.time = 20, .columns = 3});
  recurrent_state<float> state(1, 1, 1, 3), other(1, 1, 1, 4);
  auto const refuse = [&](std::vector<std::string> const& words,
                          std::vector<wane::kept_state<float>> const& keep) {
    auto options = run.options();
    options.keep = keep;
    support::expect_error(words, [&] { wane::run(run.op(), run.output.view(), options); });
    EXPECT_TRUE(std::isnan(run.output(0, 0, 0, 0)));
  };
  refuse({"keep", "-1", "less than 0"}, {{-1, state}});
  refuse({"keep", "4", "5", "fall"}, {{5, state}, {4, state}});
  refuse({"keep", "without data"}, {{5, {}}});
  refuse({"a state of keep", "columns 4", "3"}, {{5, other}});
}

}  // namespace
