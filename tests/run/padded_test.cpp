// Padded batches: padding may hold anything, and neither outputs nor gradients of it are written.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/memory_problems.hpp"
#include "wane/operators/sum_over_tokens.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"
#include "wane/run/run.hpp"
#include "wane/testing/problem.hpp"

namespace wane::testing {
namespace {

constexpr index batch = 4, time = 61, heads = 2;
std::vector<index> const lengths{47, 0, 61, 1};

// Calls visit(x, b, t) for the numbers of each token. An array is by token if its size is a
// multiple of batch x time.
template <class Spans, class Visit>
void for_each_of_tokens(Spans const& all, Visit const& visit) {
  for (auto numbers : all)
    if (numbers.size() % std::size_t(batch * time) == 0)
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        auto const token = static_cast<index>(i / (numbers.size() / std::size_t(batch * time)));
        visit(numbers[i], static_cast<std::size_t>(token / time), token % time);
      }
}

// Output, final state and gradients of a problem whose padding holds `inside`. A problem may sum
// gradients over heads or tokens; then padding adds its initial zeros.
template <class P>
auto run_and_adjoint(P p, double inside, direction way) {
  using T = accumulate_type<operator_of<P>>;
  for_each_of_tokens(p.inputs(), [&](T& x, std::size_t b, index t) {
    if (t >= lengths[b]) x = T(inside);
  });
  for (auto gradient : p.input_gradients()) std::fill(gradient.begin(), gradient.end(), T(-7));
  auto const op = p.make(0, time);
  recurrent_state<T> initial(op);
  std::mt19937_64 bits(3);
  initial.values() = random_numbers<T>(initial.values().size(), bits);
  recurrence_shape const shape = output_shape_of(op);
  result<T> found(shape, initial);
  std::vector<T> dy = random_numbers<T>(found.output.size(), bits);
  for_each_of_tokens(std::array{std::span<T>(dy)}, [&](T& x, std::size_t b, index t) {
    if (t >= lengths[b]) x = T(inside);
  });
  run(op, found.view(),
      run_options<T>{.initial = std::as_const(initial),
                     .final = found.state,
                     .lengths = lengths,
                     .direction = way});
  auto const dy_view = sequence_view<T>(dy.data(), batch, time, heads, shape.columns);
  recurrent_state<T> initial_gradient(op);
  adjoint(op, dy_view, p.gradients(),
          adjoint_options<T>{.initial = std::as_const(initial),
                             .final_gradient = std::as_const(initial),
                             .initial_gradient = initial_gradient,
                             .lengths = lengths,
                             .direction = way});
  EXPECT_TRUE(found.take_padding(lengths)) << "an output of padding is written";
  std::vector<T> all = found.output;
  auto const add = [&](auto const& numbers) {
    all.insert(all.end(), numbers.begin(), numbers.end());
  };
  add(found.state.values()), add(initial_gradient.values());
  auto const gradients = p.input_gradients();
  for (auto const& gradient : gradients) add(gradient);
  for_each_of_tokens(gradients, [&](T x, std::size_t b, index t) {
    EXPECT_TRUE(t < lengths[b] || x == T(-7) || x == T(0)) << "a gradient of padding: " << x;
  });
  return all;
}

template <class P>
void expect_blind_to_padding(P const& p) {
  for (direction way : {direction::forward, direction::reverse}) {
    auto const usual = run_and_adjoint(p, 1, way), hard = run_and_adjoint(p, NAN, way);
    for (auto x : usual) EXPECT_TRUE(x == x) << "a token is not written";
    EXPECT_EQ(usual, hard);
  }
}

template <class T>
class PaddedBatches : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PaddedBatches, Scalars);

TYPED_TEST(PaddedBatches, OfChannelsAndBanksAreBlindToPadding) {
  for (index columns : {1, 2, 4, 5, 33}) {
    expect_blind_to_padding(linear_problem<decay_as::log, TypeParam>(batch, time, heads, columns));
    expect_blind_to_padding(
        linear_problem<decay_as::factor, TypeParam>(batch, time, heads, columns));
    expect_blind_to_padding(bank_problem<TypeParam>(batch, time, heads, 17, columns));
  }
}

TYPED_TEST(PaddedBatches, OfMemoriesAreBlindToPadding) {
  using T = TypeParam;
  expect_blind_to_padding(user_memory_problem<T>(batch, time, heads, 3, 5));
  for (memory_size const& size : {memory_size{batch, time, heads, 5, 17},
                                  {batch, time, heads, 3, 9, 1, {.normalise = true}}}) {
    expect_blind_to_padding(gla_problem<T>(size));
    expect_blind_to_padding(gated_delta_net_problem<T>(size));
    expect_blind_to_padding(rwkv7_problem<T>(size));
    if constexpr (std::is_same_v<T, double>) {  // in float they run as the ones above
      expect_blind_to_padding(retnet_problem<T>(size));
      expect_blind_to_padding(delta_net_problem<T>(size));
      expect_blind_to_padding(kimi_problem<T>(size));
      expect_blind_to_padding(linear_attention_problem<T>(size));
      expect_blind_to_padding(vla_delta_net_problem<T>(size));
    }
  }
}

// A problem of 4 x 61 tokens whose padding is NaN.
struct hard_padding : linear_problem<decay_as::log, double> {
  hard_padding() : linear_problem(batch, 61, heads, 3) {
    for_each_of_tokens(inputs(), [](double& x, std::size_t b, index t) {
      if (t >= lengths[b]) x = NAN;
    });
  }
};

TEST(PaddedSteps, OfOneTokenTakeThoseThatAreThere) {
  hard_padding const p;
  auto const all = p.make(0, time);
  result<double> whole(all.shape(), recurrent_state<double>(all)), stepped = whole;
  run(all, whole.view(), run_options<double>{.final = whole.state, .lengths = lengths});
  for (index t = 0; t < time; ++t) {
    std::vector<index> here;
    for (index length : lengths) here.push_back(t < length);
    step(p.make(t, t + 1), stepped.view().tokens(t, t + 1), stepped.state, {.lengths = here});
  }
  EXPECT_EQ(stepped.state.positions(), lengths);
  EXPECT_EQ(whole.state.positions(), lengths);
  EXPECT_TRUE(whole.take_padding(lengths) && stepped.take_padding(lengths));
  EXPECT_LT(difference(stepped, whole), 1e-14);  // some roundings of a fading state
}

TEST(PaddedSteps, OfSeveralTokensAreARun) {
  hard_padding const p;
  auto const all = p.make(0, time);
  result<double> whole(all.shape(), recurrent_state<double>(all)), stepped = whole;
  run(all, whole.view(), run_options<double>{.final = whole.state, .lengths = lengths});
  step(all, stepped.view(), stepped.state, {.lengths = lengths});
  EXPECT_EQ(stepped.state.positions(), lengths);
  EXPECT_TRUE(whole.take_padding(lengths) && stepped.take_padding(lengths));
  EXPECT_LT(difference(stepped, whole), 1e-14);
}

TEST(PaddedBatch, KeepsTheLastStateOfASequenceThatEndsEarlier) {
  hard_padding const p;
  auto const op = p.make(0, time);
  recurrent_state<double> at_20(op), last(op);
  kept_state<double> const keep[] = {{20, at_20}};
  result<double> to(op.shape(), last);
  run(op, to.view(), run_options<double>{.final = last, .keep = keep, .lengths = lengths});
  EXPECT_EQ(at_20.positions(), (std::vector<index>{20, 0, 20, 1}));
  for (std::size_t b : {1u, 3u})
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_EQ(at_20.values()[b * 6 + i], last.values()[b * 6 + i]);
}

TEST(PaddedBatch, HasItsValuesCheckedAndSummedWhereTokensAre) {
  hard_padding p;
  EXPECT_NO_THROW(check_values(p.make(0, time), lengths));
  support::expect_error({"batch 0", "time 47", "nan"}, [&] { check_values(p.make(0, time)); });
  support::expect_error({"lengths has 1"},
                        [&] { check_values(p.make(0, time), std::span(&time, 1)); });
  std::vector<double> to(6);
  sum_over_tokens(p.drive.view(), view<double, 2>(to.data(), heads, 3), lengths);
  for (index h = 0; h < heads; ++h)
    for (index c = 0; c < 3; ++c) {
      double total = 0;
      for (index b = 0; b < batch; ++b)
        for (index t = 0; t < lengths[std::size_t(b)]; ++t) total += p.drive.view()(b, t, h, c);
      EXPECT_EQ(to[std::size_t(h * 3 + c)], total);
    }
}

}  // namespace
}  // namespace wane::testing
