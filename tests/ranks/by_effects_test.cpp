// Ranks that hand on effects: resets and NaN, when effects are chosen, and faults.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/laplace_problem.hpp"
#include "support/memory_problems.hpp"
#include "support/retention_problem.hpp"
#include "support/vla_problem.hpp"
#include "wane/ranks.hpp"
#include "wane/testing/problem.hpp"
#include "wane/testing/thread_ranks.hpp"

namespace wane::testing {
namespace {

constexpr int many = 4;

// The final states of a problem, by one run and by effects on four ranks.
template <class P>
std::array<recurrent_state<accumulate_type<operator_of<P>>>, 2> finals(
    P const& p, recurrent_state<accumulate_type<operator_of<P>>> const& initial) {
  using T = accumulate_type<operator_of<P>>;
  index const time = p.time();
  auto const all = p.make(0, time);
  result<T, output_type<operator_of<P>>> to(output_shape_of(all), initial);
  std::array<recurrent_state<T>, 2> found{initial, initial};
  run(all, to.view(), run_options<T>{.initial = initial, .final = found[0]});
  on_ranks(many, [&](thread_rank const& ranks) {
    index const begin = time * ranks.rank() / many, end = time * (ranks.rank() + 1) / many;
    recurrent_state<T> state = initial;
    sharded_run(ranks, p.make(begin, end), to.view().tokens(begin, end),
                run_options<T>{.initial = state, .final = state}, {.exchange = exchange::effects});
    if (ranks.rank() == many - 1) found[1] = state;
  });
  return found;
}
// Whether NaN is in the same places, with a NaN in state element `at` of the beginning. Counts
// them.
template <class P>
index expect_same_nan(P const& p, std::size_t at) {
  recurrent_state<accumulate_type<operator_of<P>>> initial(p.make(0, p.time()));
  initial.values()[at] = NAN;
  auto const found = finals(p, initial);
  index count = 0;
  for (std::size_t i = 0; i < initial.values().size(); ++i) {
    bool const must_be = std::isnan(found[0].values()[i]);
    EXPECT_EQ(std::isnan(found[1].values()[i]), must_be) << i;
    count += must_be;
  }
  return count;
}

// Decays whose product underflows keep a NaN; a reset forgets it.
TEST(Effects, KeepNaNUntilAReset) {
  gla_problem<float> gla({1, 40, 2, 4, 5});
  EXPECT_EQ(expect_same_nan(gla, 7), 1);
  std::ranges::fill(gla.gate.values.values, -30.f);
  EXPECT_EQ(expect_same_nan(gla, 7), 1);
  for (index row : {0, 1})
    gla.gate.values.values[static_cast<std::size_t>((15 * 2 + 0) * 4 + row)] = -HUGE_VALF;
  EXPECT_EQ(expect_same_nan(gla, 7), 0);   // row 1 of head 0
  EXPECT_EQ(expect_same_nan(gla, 27), 1);  // row 1 of head 1

  linear_problem<decay_as::log, float> channels(1, 40, 1, 3);
  std::ranges::fill(channels.decay.values, -30.f);
  EXPECT_EQ(expect_same_nan(channels, 1), 1);
  channels.decay.values[18 * 3 + 1] = -HUGE_VALF;
  EXPECT_EQ(expect_same_nan(channels, 1), 0);

  gated_delta_net_problem<float> erasing({1, 40, 2, 4, 5});
  EXPECT_EQ(expect_same_nan(erasing, 7), 4);  // all rows of a column
  std::ranges::fill(erasing.gate.values.values, -30.f);
  EXPECT_EQ(expect_same_nan(erasing, 7), 4);
  erasing.gate.values.values[15 * 2] = -HUGE_VALF;
  EXPECT_EQ(expect_same_nan(erasing, 7), 0);
  EXPECT_EQ(expect_same_nan(erasing, 27), 4);
}

wane::impl::shard_report report(index heads, index tokens) {
  wane::impl::shard_report r;
  r.batch = 1, r.heads = heads, r.rows = r.columns = 64, r.tokens = tokens;
  return r;
}

TEST(Effects, AreChosenWhereHeadsAreFewerThanRanks) {
  using form = wane::impl::transition_form;
  auto const tree = [](int ranks, index heads, bool erases, index tokens = 10000, double passes = 1,
                       index threads = 1, double of_drive = 1) {
    std::vector<wane::impl::shard_report> all(static_cast<std::size_t>(ranks),
                                              report(heads, tokens));
    all[0].threads = threads;
    return wane::impl::effects_are_faster(all, {erases ? form::matrix : form::by_row, 64, 64},
                                          {true, true, true}, passes, of_drive);
  };
  for (index heads : {1, 2, 8}) EXPECT_FALSE(tree(2, heads, false)) << heads;
  EXPECT_TRUE(tree(3, 1, false));
  EXPECT_TRUE(tree(4, 1, false));
  EXPECT_TRUE(tree(4, 1, true));
  EXPECT_TRUE(tree(3, 1, true));
  EXPECT_FALSE(tree(4, 8, false));  // 11 / 8 runs, heads one by one
  EXPECT_TRUE(tree(16, 8, false));
  EXPECT_FALSE(tree(8, 8, true));
  EXPECT_TRUE(tree(32, 8, true));
  EXPECT_FALSE(tree(32, 8, true, 50));       // joins cost more than tokens
  EXPECT_TRUE(tree(16, 8, true, 10000, 4));  // an adjoint is four runs, a transition one
  EXPECT_EQ(tree(16, 8, false, 10000, 1, 7), tree(16, 8, false));
  EXPECT_TRUE(tree(2, 1, false, 10000, 1, 1, .5));  // a drive is found in half a run
}

// The least numbers of ranks that docs/ranks.md names, T = 65536.
TEST(Effects, AreChosenFromTheRanksOnThatTheDocumentNames) {
  auto const least = []<class P>(P const& problem, recurrence_shape const& shape) {
    using op = operator_of<P>;
    for (int ranks = 2;; ++ranks) {
      wane::impl::shard_report r;
      r.batch = 1, r.heads = shape.heads, r.rows = shape.rows, r.columns = shape.columns;
      r.tokens = 65536 / ranks;
      std::vector const all(static_cast<std::size_t>(ranks), r);
      if (wane::impl::hands_on_effects<op, float>(all, shape, wane::impl::cuts_of_run<op>, 1))
        return ranks;
      if (ranks == 100 || problem.time() == 0) return -1;
    }
  };
  memory_size const any{1, 2, 1, 2, 3};
  EXPECT_EQ(least(support::retention_problem<float>{}, {1, 0, 1, 16, 1024}), 2);
  EXPECT_EQ(least(linear_problem<decay_as::log, float>(1, 2, 1, 3), {1, 0, 1, 1, 1024}), 3);
  EXPECT_EQ(least(gla_problem<float>(any), {1, 0, 1, 64, 64}), 3);
  EXPECT_EQ(least(gated_delta_net_problem<float>(any), {1, 0, 1, 64, 64}), 3);
  EXPECT_EQ(least(gla_problem<float>(any), {1, 0, 8, 64, 64}), 8);
  EXPECT_EQ(least(gated_delta_net_problem<float>(any), {1, 0, 8, 64, 64}), 11);
}

// Three ranks, one head, nothing fades: what is chosen is a tree. Then a chain of states.
TEST(Effects, AreUsedWhereTheyAreChosen) {
  linear_attention_problem<float> const p({1, 300, 1, 4, 5});
  auto const outputs = [&](exchange by, int threads) {
    result<float> to(output_shape_of(p.make(0, 300)), recurrent_state<float>(p.make(0, 300)));
    on_ranks(3, [&](thread_rank const& ranks) {
      index const begin = 100 * ranks.rank();
      sharded_run(ranks, p.make(begin, begin + 100), to.view().tokens(begin, begin + 100),
                  run_options<float>{.threads = threads}, {.exchange = by});
    });
    return to;
  };
  result<float> const chosen = outputs(exchange::chosen, 1);
  EXPECT_TRUE(chosen.same_bits(outputs(exchange::effects, 1)));
  EXPECT_TRUE(chosen.same_bits(outputs(exchange::chosen, 3)));
  EXPECT_FALSE(chosen.same_bits(outputs(exchange::states, 1)));
}

// Where states fade, they are found early, and effects are not needed.
TEST(Effects, AreNotChosenWhereStatesFade) {
  linear_problem<decay_as::log, float> p(1, 6000, 1, 3);
  std::ranges::fill(p.decay.values, -.5f);
  auto const outputs = [&](exchange by) {
    result<float> to(output_shape_of(p.make(0, 6000)), recurrent_state<float>(p.make(0, 6000)));
    on_ranks(6, [&](thread_rank const& ranks) {
      index const begin = 1000 * ranks.rank();
      sharded_run(ranks, p.make(begin, begin + 1000), to.view().tokens(begin, begin + 1000),
                  run_options<float>{}, {.exchange = by});
    });
    return to;
  };
  EXPECT_TRUE(outputs(exchange::chosen).same_bits(outputs(exchange::states)));
}

TEST(Effects, AreRefusedWhereTermsDependOnTheState) {
  vla_problem<double, write_rule::rls, penalises::keys> const p({1, 20, 2, 3, 4});
  auto const op = p.make(0, 20);
  result<double> to(output_shape_of(op), recurrent_state<double>(op));
  support::expect_error({"sharding.exchange is effects", "goes by states"}, [&] {
    sharded_run(one_rank(), op, to.view(), run_options<double>{}, {.exchange = exchange::effects});
  });
}

// The last output of channels with these factors and drives, over four ranks.
float last_output(std::vector<float> const& a, std::vector<float> const& b, float begin,
                  exchange by) {
  index const time = std::ssize(a);
  float last = 0;
  on_ranks(many, [&](thread_rank const& ranks) {
    index const first = time * ranks.rank() / many, count = time / many;
    using op_type = linear_recurrence<decay_as::factor, float>;
    op_type const op(
        {.decay = {a.data() + first, 1, count, 1, 1}, .drive = {b.data() + first, 1, count, 1, 1}});
    std::vector<float> y(static_cast<std::size_t>(count));
    recurrent_state<float> state(op);
    state.values()[0] = begin;
    sharded_run(ranks, op, {y.data(), 1, count, 1, 1}, run_options<float>{.initial = state},
                {.exchange = by});
    if (ranks.rank() == many - 1) last = y.back();
  });
  return last;
}

// Products of decays that leave their range although states do not.
TEST(Effects, GoByStatesWhereTheirProductsLeaveTheRange) {
  std::vector<float> a(800, 2), b(800);
  b[790] = 1;
  for (exchange by : {exchange::states, exchange::effects, exchange::chosen})
    EXPECT_EQ(last_output(a, b, 0, by), 512);
  a.assign(40, 1), b.assign(40, 0);
  std::fill_n(a.begin() + 10, 10, 1e-10f);
  for (exchange by : {exchange::states, exchange::effects, exchange::chosen})
    EXPECT_EQ(last_output(a, b, 1e38f, by), 0);
  std::fill_n(a.begin() + 20, 10, 6e3f);
  for (exchange by : {exchange::states, exchange::effects, exchange::chosen})
    EXPECT_EQ(last_output(a, b, 1, by), 0);
  // A decay of 1e-42 is 0 as a float; the state, 1e-12 after it, is not.
  std::fill_n(a.begin() + 10, 10, 6.31e-5f), std::fill_n(a.begin() + 20, 10, 1e3f);
  for (exchange by : {exchange::states, exchange::effects, exchange::chosen})
    EXPECT_NEAR(last_output(a, b, 1e30f, by), 1e18, 1e16);
}

// Gradients that a user made, which must not be written to but where they point.
struct own_memory {
  double const* x;
  index time;
  struct token {
    double v;
    double value(index) const { return v; }
    double decay() const { return .5; }
    double key(index) const { return 1; }
  };
  struct gradients {
    double& first;
    struct sink {
      double* to;
      void column(index, double g) const { *to = g; }
    };
    sink at(place<> where) const { return {&first + where.time}; }
  };
  recurrence_shape shape() const { return {1, time, 1, 1, 1}; }
  token at(place<> where) const { return {x[where.time]}; }
};

TEST(Effects, OfGradientsOfAUsersOwn) {
  std::vector<double> x(400, 1), dy(400, 1), all(400), parts(400);
  auto const rows = [](double* of, index count) {
    return sequence_view<double>(of, 1, count, 1, 1);
  };
  adjoint(own_memory{x.data(), 400}, rows(dy.data(), 400), own_memory::gradients{all[0]},
          adjoint_options<double>{});
  on_ranks(many, [&](thread_rank const& ranks) {
    auto const first = static_cast<std::size_t>(100 * ranks.rank());
    sharded_adjoint(ranks, own_memory{x.data() + first, 100}, rows(dy.data() + first, 100),
                    own_memory::gradients{parts[first]}, adjoint_options<double>{},
                    {.exchange = exchange::effects});
  });
  for (std::size_t t = 0; t < 400; ++t) EXPECT_NEAR(parts[t], all[t], 1e-14) << t;
}

// A rank without any sequence has no states at its cut.
TEST(Effects, OfPackedSequencesWithARankWithout) {
  gla_problem<double> p({1, 12, 2, 3, 4});
  index const starts[] = {0, 12};
  std::vector<double> dy(12 * 2 * 4, 1);
  for (exchange by : {exchange::states, exchange::effects})
    on_ranks(3, [&](thread_rank const& ranks) {
      index const begin = ranks.rank() == 2 ? 5 : 0, end = ranks.rank() == 0   ? 0
                                                           : ranks.rank() == 1 ? 5
                                                                               : 12;
      packed_shard const own = shard_of(starts, begin, end);
      recurrent_state<double> start(std::ssize(own.starts) - 1, 2, 3, 4);
      EXPECT_EQ(start.values().empty(), ranks.rank() == 0);
      sharding<double> const shard{.continues = own.continues, .start = start, .exchange = by};
      auto const op = p.make(begin, end);
      std::vector<double> y(12 * 2 * 4);
      sequence_view<double> const out(y.data(), 1, end - begin, 2, 4);
      sharded_run(ranks, op, out, run_options<double>{.packed = {own.starts}}, shard);
      sharded_adjoint(ranks, op, sequence_view<double>(dy.data(), 1, end - begin, 2, 4),
                      gla<double>::gradients{}, adjoint_options<double>{.packed = {own.starts}},
                      shard);
    });
}

// Sums, as types of which nothing can be derived, or not by a copy.
struct final_sum final {
  using accumulate = float;
  struct token {
    float value(index) const { return 1; }
  };
  recurrence_shape shape() const { return {1, 10, 1, 1, 2}; }
  token at(place<>) const { return {}; }
};
struct abstract_sum {
  using accumulate = float;
  virtual ~abstract_sum() = default;
  virtual recurrence_shape shape() const = 0;
  final_sum::token at(place<>) const { return {}; }
};
struct some_sum : abstract_sum {
  recurrence_shape shape() const override { return {1, 10, 1, 1, 2}; }
};
struct lone_sum : some_sum {
  lone_sum() = default;
  lone_sum(lone_sum const&) = delete;
};
struct sum_of_lone_tokens {
  using accumulate = float;
  struct token {
    token() = default;
    token(token const&) = delete;
    float value(index) const { return 1; }
  };
  recurrence_shape shape() const { return {1, 10, 1, 1, 2}; }
  token at(place<>) const { return {}; }
};

TEST(Effects, AreNotAskedOfTypesThatAreLikeNoOther) {
  auto const last = [](auto const& op, auto state) {
    using State = decltype(state);
    float found = 0;
    on_ranks(4, [&](thread_rank const& ranks) {
      std::vector<float> y(10 * 2);
      sharded_run(ranks, op, {y.data(), 1, 10, 1, 2}, run_options<State>{});
      if (ranks.rank() == 3) found = y.back();
    });
    return found;
  };
  some_sum const some;
  abstract_sum const& abstract = some;
  EXPECT_EQ(last(final_sum{}, 0.f), 40);
  EXPECT_EQ(last(abstract, 0.f), 40);
  EXPECT_EQ(last(lone_sum{}, 0.f), 40);
  EXPECT_EQ(last(sum_of_lone_tokens{}, 0.f), 40);
  linear_problem<decay_as::factor, float> const p(1, 10, 1, 2);
  EXPECT_TRUE(std::isfinite(last(p.make(0, 10), bfloat16{})));
}

// A memory that throws at a token in the middle of its work.
struct failing_memory {
  using accumulate = float;
  struct token {
    float key(index) const { return 1; }
    float value(index) const { return 1; }
    float query(index) const { return 1; }
    float erase_read(index) const { return .5f; }
  };
  index fails_at;
  recurrence_shape shape() const { return {1, 10, 4, 3, 2}; }
  token at(place<> where) const {
    if (where.head == 2 && where.time == fails_at) throw std::bad_alloc();
    return {};
  }
};

TEST(Effects, OfARankThatFailsLeaveNobodyWaiting) {
  for (int bad : {0, 1, 3}) {
    auto const outcomes = outcomes_on_ranks(4, [&](thread_rank const& ranks) {
      std::vector<float> y(10 * 4 * 2);
      sharded_run(ranks, failing_memory{ranks.rank() == bad ? 5 : -1}, {y.data(), 1, 10, 4, 2},
                  run_options<float>{.threads = 1}, {.exchange = exchange::effects});
    });
    for (int r = 0; r < 4; ++r) {
      auto const& outcome = outcomes[static_cast<std::size_t>(r)];
      ASSERT_TRUE(outcome);
      if (r == bad)
        EXPECT_THROW(std::rethrow_exception(outcome), std::bad_alloc);
      else
        EXPECT_THROW(std::rethrow_exception(outcome), rank_failure);
    }
  }
}

}  // namespace
}  // namespace wane::testing
