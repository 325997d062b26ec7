// The adjoint of banks in chunks of lags: the same as token by token, for all gradients.
// SPDX-License-Identifier: MIT
#include "wane/run/lags/head_adjoint.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/bank_gradients.hpp"
#include "wane/run/runner_name.hpp"

namespace {

using support::arrangement;
using support::bank_case;
using support::bank_gradients;
using support::bank_shape;
using support::index;
using support::linear_shape;
using support::nearness;
using wane::direction;

// The gradients by either way.
template <class Io, class T = wane::widened<Io>>
struct bank_adjoint : bank_gradients<Io, T> {
  using bank_gradients<Io, T>::bank_gradients;
  using bank_gradients<Io, T>::run, bank_gradients<Io, T>::dy, bank_gradients<Io, T>::last;

  // The same numbers in another type.
  template <class Other>
  void copy_inputs(Other const& of) {
    auto const copy = [](auto const& from, auto& to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(from[i]);
    };
    copy(of.run.log_decay, run.log_decay), copy(of.run.key, run.key);
    copy(of.run.query, run.query), copy(of.run.direct, run.direct);
    copy(of.run.initial.values(), run.initial.values()), copy(of.last.values(), last.values());
    dy.fill([&](auto... at) { return static_cast<double>(of.dy(at...)); });
    run.values.fill([&](auto... at) { return static_cast<double>(of.run.values(at...)); });
  }

  std::string_view runner() {
    return wane::runner_name(run.op(), this->output_gradient(), this->gradients(), this->options());
  }
  void in_lags() {
    ASSERT_EQ(runner(), "lags");
    this->find();
    EXPECT_TRUE(this->value.margins_untouched());
  }
  void in_order() {
    wane::impl::adjoint_in_order(run.op(), this->output_gradient(), this->gradients(),
                                 this->options());
  }
};

// The largest distance between gradients, relative to the largest of each input.
template <class A, class B>
double gradients_differ_by(A const& found, B const& right) {
  nearness values, initial, nodes[4];
  found.value.for_each([&](auto... at) {
    values.add(static_cast<double>(found.value(at...)), static_cast<double>(right.value(at...)));
  });
  auto const add = [](nearness& near, auto const& x, auto const& y) {
    for (std::size_t i = 0; i < x.size(); ++i)
      near.add(static_cast<double>(x[i]), static_cast<double>(y[i]));
  };
  add(initial, found.initial.values(), right.initial.values());
  add(nodes[0], found.log_decay, right.log_decay), add(nodes[1], found.key, right.key);
  add(nodes[2], found.query, right.query), add(nodes[3], found.direct, right.direct);
  return std::max({values.both(), initial.both(), nodes[0].both(), nodes[1].both(), nodes[2].both(),
                   nodes[3].both()});
}

// The distance of gradients by chunks in T from those token by token in double. change(adjoint)
// sets inputs of the one in T.
template <class T, class Change>
double error(bank_shape const& s, Change const& change) {
  bank_adjoint<T> found(s);
  change(found);
  bank_adjoint<double> right(s);
  right.copy_inputs(found);
  found.in_lags(), right.in_order();
  return gradients_differ_by(found, right);
}
template <class T>
double error(bank_shape const& s) {
  return error<T>(s, [](auto&) {});
}

// States, cotangents and sums err by a few roundings of T, as they do token by token. The gradient
// of a node adds up terms of both signs, and its error is relative to their sum, which is up to
// fifty times smaller in some of these cases.
template <class T>
constexpr double few_roundings = 128 * std::numeric_limits<T>::epsilon();

template <class T>
void expect_right(bank_shape const& s) {
  EXPECT_LT(error<T>(s), few_roundings<T>)
      << s.rows << " rows, " << s.of.time << " tokens, " << s.of.columns << " columns";
}

TEST(AdjointOfHeadsInLags, EqualsThePlainOrderForRaggedSizes) {
  for (index rows : {1, 3, 4, 16, 17})
    for (index time : {16, 17, 23, 24, 64, 127})
      for (index columns : {1, 15, 33, 64, 131}) {
        bank_shape const s{rows, {.batch = 2, .time = time, .heads = 2, .columns = columns}};
        expect_right<float>(s), expect_right<double>(s);
      }
}

TEST(AdjointOfHeadsInLags, EqualsThePlainOrderInEveryDirectionAndArrangementOfNeighbours) {
  for (arrangement how : support::all_arrangements)
    for (direction way : {direction::forward, direction::reverse}) {
      bank_shape const s{5, {2, 50, 3, 37, how, how, way}};
      if (bank_adjoint<float>(s).runner() == "lags") expect_right<float>(s);
    }
}

TEST(AdjointOfHeadsInLags, EqualsThePlainOrderForPackedSequences) {
  for (direction way : {direction::forward, direction::reverse}) {
    linear_shape s{.time = 300, .heads = 2, .columns = 70, .direction = way};
    s.starts = {0, 0, 1, 14, 20, 20, 160, 299, 300};
    expect_right<float>({9, s}), expect_right<double>({9, s});
  }
}

TEST(AdjointOfHeadsInLags, EqualsThePlainOrderWithoutDirectTermOrInitialState) {
  expect_right<float>({6, {.time = 100, .columns = 20, .carries = false}, false});
}

TEST(AdjointOfHeadsInLags, OfHalvesEqualsThatOfFloats) {
  bank_shape const s{16, {.time = 100, .columns = 40}};
  bank_adjoint<wane::bfloat16> found(s);
  bank_adjoint<double> right(s);
  right.copy_inputs(found);
  found.in_lags(), right.in_order();
  EXPECT_LT(gradients_differ_by(found, right),
            1. / 256);  // gradients of values are rounded to 8 bits
}

// Tensors so large that states are kept more rarely and tokens are prefetched.
TEST(AdjointOfHeadsInLags, EqualsThePlainOrderForLongSequences) {
  bank_shape const s{16, {.time = 9001, .columns = 130}};
  ASSERT_TRUE(wane::impl::is_large<float>(bank_case<float>(s).op().shape()));
  expect_right<float>(s), expect_right<double>(s);
}

TEST(AdjointOfHeadsInLags, OfRowsThatNeverForgetOrNearlyVanishIsRight) {
  for (double log : {0., -1e-9, -1e-5, -50.})
    EXPECT_LT(error<float>({5, {.time = 200, .columns = 19}},
                           [&](auto& g) { g.run.log_decay[1] = static_cast<float>(log); }),
              few_roundings<float>)
        << log;
}

// A chunk's decay is less than half the last place of a cotangent, and nothing is added to it.
TEST(AdjointOfHeadsInLags, OfTheFinalStateAloneKeepsSlowDecays) {
  for (float log : {-1e-9f, -1e-8f, -1e-7f})
    EXPECT_LT(error<float>({3, {.time = 1 << 16, .columns = 9}},
                           [&](auto& g) {
                             std::fill(g.run.log_decay.begin(), g.run.log_decay.end(), log);
                             g.dy.fill([](auto...) { return 0; });
                           }),
              few_roundings<float>)
        << log;
}

TEST(AdjointOfHeadsInLags, LeavesResetsAndExtremeWeightsToThePlainOrder) {
  bank_shape const s{3, {.time = 60, .columns = 19}};
  bank_adjoint<float> resets(s), extreme(s), short_ones({3, {.time = 15, .columns = 19}});
  resets.run.log_decay[1] = -std::numeric_limits<float>::infinity();
  extreme.run.key[1] = extreme.run.query[1] = 1e25f;
  for (auto* g : {&resets, &extreme, &short_ones}) EXPECT_EQ((*g).runner(), "in_order");
  wane::adjoint(resets.run.op(), resets.output_gradient(), resets.gradients(), resets.options());
  EXPECT_EQ(resets.log_decay[1], 0);
  bank_adjoint<double> right(s);
  right.copy_inputs(resets), right.in_order();
  EXPECT_LT(gradients_differ_by(resets, right), few_roundings<float>);
}

// A NaN of dL/dy reaches its column up to its token, and the gradients of the nodes.
TEST(AdjointOfHeadsInLags, KeepsWhatIsNoNumberInItsSequence) {
  linear_shape of{.time = 120, .columns = 40};
  of.starts = {0, 50, 120};
  bank_adjoint<float> spoiled({4, of}), clean({4, of});
  spoiled.dy(0, 77, 0, 3) = std::numeric_limits<float>::quiet_NaN();
  spoiled.run.values(0, 60, 0, 5) = std::numeric_limits<float>::infinity();
  spoiled.in_lags(), clean.in_lags();
  clean.value.for_each([&](index b, index t, index h, index j) {
    if (j == 3 && t >= 50 && t <= 77)
      EXPECT_TRUE(std::isnan(spoiled.value(b, t, h, j))) << t;
    else
      EXPECT_EQ(spoiled.value(b, t, h, j), clean.value(b, t, h, j)) << t << " " << j;
  });
  wane::state_view<float> const found = spoiled.initial, right = clean.initial;
  for (index n : {0, 1})
    for (index s = 0; s < 4; ++s)
      for (index j = 0; j < 40; ++j)
        EXPECT_TRUE(found.values(n, 0, s, j) == right.values(n, 0, s, j) || (n == 1 && j == 3));
  for (float g : spoiled.query) EXPECT_FALSE(std::isfinite(g));
}

TEST(AdjointOfHeadsInLags, HasTheSameBitsForAnyNumberOfThreads) {
  for (index columns : {40, 100, 200})
    for (index batch : {1, 3}) {
      bank_shape s{17, {.batch = batch, .time = 250, .heads = 1, .columns = columns}};
      s.of.threads = 1;
      bank_adjoint<float> one(s);
      one.in_lags();
      for (int threads : {2, 3, 7}) {
        s.of.threads = threads;
        bank_adjoint<float> more(s);
        more.in_lags();
        EXPECT_EQ(one.log_decay, more.log_decay);
        EXPECT_EQ(one.key, more.key);
        EXPECT_EQ(one.query, more.query);
        EXPECT_EQ(one.direct, more.direct);
        EXPECT_EQ(one.initial.values(), more.initial.values());
        EXPECT_EQ(gradients_differ_by(one, more), 0);
      }
    }
}

// A sink that takes the gradients of values alone.
struct values_only {
  wane::sequence_view<float> value;
  wane::layout layout() const { return wane::layout_of(value); }
  struct sink {
    values_only const& to;
    wane::place<> where;
    void column(auto j, auto g) const { to.value.write(where, j, g); }
  };
  sink at(wane::place<> where) const { return {*this, where}; }
};

TEST(AdjointOfHeadsInLags, WithoutSumsGivesTheSameGradientsOfValues) {
  bank_shape const s{7, {.time = 90, .columns = 50}};
  bank_adjoint<float> all(s), some(s);
  all.in_lags();
  values_only const to{some.value};
  ASSERT_EQ(wane::runner_name(some.run.op(), some.output_gradient(), to, some.options()), "lags");
  wane::adjoint(some.run.op(), some.output_gradient(), to, some.options());
  all.value.for_each([&](auto... at) { EXPECT_EQ(all.value(at...), some.value(at...)); });
  EXPECT_EQ(all.initial.values(), some.initial.values());
}

}  // namespace
