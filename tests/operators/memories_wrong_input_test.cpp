// Wrong input to the keyed memories: every message names the argument, and nothing is written.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/operators/vla_delta_net.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using support::expect_error;
using wane::index;
using view = wane::sequence_view<float const>;
using numbers_by_token = wane::token_view<float const>;

constexpr index B = 2, T = 3, H = 4, K = 5, V = 6;
float const zeros[B * T * H * (V + 1)] = {};
view const keys(zeros, B, T, H, K), values(zeros, B, T, H, V);
numbers_by_token const ones_a_head(zeros, B, T, H);
wane::keyed_inputs<float> const good{.query = keys, .key = keys, .value = values};
wane::delta_inputs<float> with_strength(numbers_by_token const& strength) {
  return {.query = keys, .key = keys, .value = values, .strength = strength};
}
wane::rwkv7_inputs<float> with_own(view const& removal, view const& rate,
                                   wane::view<float const, 2> const& bonus = {}) {
  return {.query = keys,
          .key = keys,
          .value = values,
          .removal = removal,
          .rate = rate,
          .bonus = bonus};
}

// `make` makes an operator. `make` or the run of the operator must refuse.
void refused(std::vector<std::string> const& pieces, auto const& make) {
  std::vector<float> y(B * T * H * V, -7.f);
  expect_error(pieces,
               [&] { wane::run(make(), wane::sequence_view<float>(y.data(), B, T, H, V)); });
  EXPECT_EQ(y, std::vector<float>(y.size(), -7.f)) << "written in spite of the error";
}
void inputs_refused(std::vector<std::string> const& pieces, wane::keyed_inputs<float> const& in,
                    wane::keyed_options const& options = {}) {
  refused(pieces, [&] { return wane::gla<float>(in, keys, options); });
}

TEST(MemoriesWrongInput, ShapesOfQueriesKeysAndValues) {
  inputs_refused({"key", "batch 1", "must be 2"},
                 {.query = keys, .key = {zeros, 1, T, H, K}, .value = values});
  inputs_refused({"key", "time 4", "must be 3"},
                 {.query = keys, .key = {zeros, B, 4, H, K}, .value = values});
  inputs_refused({"query", "batch 1", "must be 2"},
                 {.query = {zeros, 1, T, H, K}, .key = keys, .value = values});
  inputs_refused({"query", "time 2", "must be 3"},
                 {.query = {zeros, B, 2, H, K}, .key = keys, .value = values});
  inputs_refused({"query", "heads 2", "must be 4"},
                 {.query = {zeros, B, T, 2, K}, .key = keys, .value = values});
  inputs_refused({"query", "rows 3", "must be 5"},
                 {.query = {zeros, B, T, H, 3}, .key = keys, .value = values});
}

TEST(MemoriesWrongInput, HeadsThatMakeNoGroups) {
  view const three(zeros, B, T, 3, K), none(zeros, B, T, 0, K), eight(zeros, 1, T, 8, K);
  for (auto groups : {wane::head_groups::interleaved, wane::head_groups::tiled}) {
    inputs_refused({"key", "heads 3", "divide", "4"},
                   {.query = three, .key = three, .value = values}, {.groups = groups});
    inputs_refused({"key", "heads 0", "divide", "4"}, {.query = none, .key = none, .value = values},
                   {.groups = groups});
    inputs_refused({"key", "heads 8", "divide", "4"},
                   {.query = eight, .key = eight, .value = {zeros, 1, T, H, V}},
                   {.groups = groups});
  }
}

TEST(MemoriesWrongInput, ATensorThatIsLeftOut) {
  inputs_refused({"query is not given"}, {.key = keys, .value = values});
  inputs_refused({"key is not given"}, {.query = keys, .value = values});
  inputs_refused({"value is not given"}, {.query = keys, .key = keys});
  refused({"strength is not given"},
          [] { return wane::delta_net<float>({.query = keys, .key = keys, .value = values}); });
  refused({"log_decay is not given"}, [] { return wane::gla<float>(good, view()); });
  refused({"removal is not given"}, [] { return wane::rwkv7<float>(with_own({}, keys), keys); });
  refused({"rate is not given"}, [] { return wane::rwkv7<float>(with_own(keys, {}), keys); });
  refused({"query is not given"}, [] {
    return wane::local_attention<float>({.key = keys, .value = values}, {.window = 2});
  });
  using recurrence = wane::linear_recurrence<wane::decay_as::log, float>;
  refused({"decay is not given"}, [] { return recurrence({.drive = values}); });
  refused({"drive is not given"}, [] { return recurrence({.decay = values}); });
}

TEST(MemoriesWrongInput, ATensorWithoutData) {
  view const no_keys(nullptr, B, T, H, K);
  inputs_refused({"query", "no data"}, {.query = no_keys, .key = keys, .value = values});
  inputs_refused({"key", "no data"}, {.query = keys, .key = no_keys, .value = values});
  inputs_refused({"value", "no data"},
                 {.query = keys, .key = keys, .value = view(nullptr, B, T, H, V)});
  refused({"log_decay", "no data"}, [&] { return wane::gla<float>(good, no_keys); });
  refused({"log_decay", "no data"}, [] { return wane::retnet<float>(good, {{nullptr, H}}); });
  refused({"strength", "no data"}, [] {
    return wane::delta_net<float>(with_strength({nullptr, B, T, H}));
  });
  refused({"removal", "no data"},
          [&] { return wane::rwkv7<float>(with_own(no_keys, keys), keys); });
  refused({"rate", "no data"}, [&] { return wane::rwkv7<float>(with_own(keys, no_keys), keys); });
}

TEST(MemoriesWrongInput, Options) {
  inputs_refused({"scale", "inf", "finite"}, good, {.scale = HUGE_VAL});
  inputs_refused({"scale", "nan", "finite"}, good, {.scale = std::nan("")});
  inputs_refused({"epsilon", "-1", "0 or more"}, good, {.epsilon = -1});
  inputs_refused({"epsilon", "nan", "0 or more"}, good, {.epsilon = std::nan("")});
  refused({"scale", "0"},
          [] { return wane::rwkv7<float>(with_own(keys, keys), keys, {.scale = 0}); });
}

TEST(MemoriesWrongInput, TheFloorOfLinearAttention) {
  for (double floor : {0., -1., std::nan(""), HUGE_VAL, 1e-50})
    refused({"floor", "finite"},
            [&] { return wane::linear_attention<float>(good, {.floor = floor}); });
}

// The state has one column more than the output; the messages distinguish the two.
TEST(MemoriesWrongInput, AStateOfLinearAttentionWithoutTheSums) {
  wane::linear_attention<float> const op(good);
  std::vector<float> y(B * T * H * (V + 1), -7.f);
  wane::sequence_view<float> const to(y.data(), B, T, H, V), wide(y.data(), B, T, H, V + 1);
  wane::recurrent_state<float> narrow(B, H, K, V);
  expect_error({"output", "columns 7", "must be 6"}, [&] { wane::run(op, wide); });
  expect_error({"final", "columns 6", "must be 7"},
               [&] { wane::run(op, to, wane::run_options<float>{.final = narrow}); });
  expect_error({"state", "columns 6", "must be 7"}, [&] { wane::step(op, to, narrow); });
  view const no_columns(zeros, B, T, H, 0);
  expect_error({"columns 0"}, [&] {
    wane::run(wane::linear_attention<float>({.query = keys, .key = keys, .value = no_columns}),
              {y.data(), B, T, H, 0});
  });
  EXPECT_EQ(y, std::vector<float>(y.size(), -7.f)) << "written in spite of the error";
}

TEST(MemoriesWrongInput, AGateOfAnotherShape) {
  auto const by_row = [](view gate) { return [=] { return wane::gla<float>(good, gate); }; };
  refused({"log_decay", "batch 1", "must be 2"}, by_row({zeros, 1, T, H, K}));
  refused({"log_decay", "time 4", "must be 3"}, by_row({zeros, B, 4, H, K}));
  refused({"log_decay", "heads 1", "must be 4"}, by_row({zeros, B, T, 1, K}));
  refused({"log_decay", "6", "must be 5"}, by_row({zeros, B, T, H, 6}));
  auto const by_head = [](numbers_by_token gate) {
    return [=] { return wane::gated_delta_net<float>(with_strength(ones_a_head), gate); };
  };
  refused({"log_decay", "batch 1", "must be 2"}, by_head({zeros, 1, T, H}));
  refused({"log_decay", "time 4", "must be 3"}, by_head({zeros, B, 4, H}));
  refused({"log_decay", "heads 1", "must be 4"}, by_head({zeros, B, T, 1}));
  refused({"log_decay", "6", "must be 5"}, [] {
    return wane::kimi_delta_attention<float>(with_strength(ones_a_head), {zeros, B, T, H, 6});
  });
  refused({"log_decay", "heads 3", "must be 4"}, [] {
    return wane::retnet<float>(good, {{zeros, 3}});
  });
}

TEST(MemoriesWrongInput, AStrengthOfAnotherShape) {
  auto const with = [](numbers_by_token s) {
    return [=] { return wane::delta_net<float>(with_strength(s)); };
  };
  refused({"strength", "batch 1", "must be 2"}, with({zeros, 1, T, H}));
  refused({"strength", "time 4", "must be 3"}, with({zeros, B, 4, H}));
  refused({"strength", "heads 1", "must be 4"}, with({zeros, B, T, 1}));
}

TEST(MemoriesWrongInput, ADecayOfAnotherShape) {
  auto const with = [](numbers_by_token decay) {
    return [=] {
      return wane::vla_delta_net<float>(
          {.query = keys, .key = keys, .value = values, .decay = decay});
    };
  };
  refused({"decay", "batch 1", "must be 2"}, with({zeros, 1, T, H}));
  refused({"decay", "time 4", "must be 3"}, with({zeros, B, 4, H}));
  refused({"decay", "heads 1", "must be 4"}, with({zeros, B, T, 1}));
  refused({"decay", "no data"}, with({nullptr, B, T, H}));
}

TEST(MemoriesWrongInput, Rwkv7sOwn) {
  auto const with = [](wane::rwkv7_inputs<float> const& in) {
    return [=] { return wane::rwkv7<float>(in, keys); };
  };
  for (int which : {0, 1}) {
    char const* const name = which ? "rate" : "removal";
    auto const wrong = [&](view const& x) {
      return with(which ? with_own(keys, x) : with_own(x, keys));
    };
    refused({name, "batch 1", "must be 2"}, wrong({zeros, 1, T, H, K}));
    refused({name, "time 4", "must be 3"}, wrong({zeros, B, 4, H, K}));
    refused({name, "heads 2", "must be 4"}, wrong({zeros, B, T, 2, K}));
    refused({name, "rows 6", "must be 5"}, wrong({zeros, B, T, H, 6}));
  }
  refused({"bonus", "[4, 6]", "[4, 5]"}, with(with_own(keys, keys, {zeros, H, 6})));
  refused({"bonus", "[3, 5]", "[4, 5]"}, with(with_own(keys, keys, {zeros, 3, K})));
}

// Gradients hold -7 until they are written.
class MemoriesWrongGradients : public ::testing::Test {
 public:
  std::vector<float> written = std::vector<float>(B * T * H * V, -7.f);
  wane::sequence_view<float> const short_rows{written.data(), B, T, H, K - 1};
  wane::token_view<float> const short_time{written.data(), B, T - 1, H};
  ~MemoriesWrongGradients() override {
    EXPECT_EQ(written, std::vector<float>(written.size(), -7.f)) << "written in spite of the error";
  }
  template <class Op>
  static void refused(std::vector<std::string> const& pieces, Op const& op,
                      typename Op::gradients const& to) {
    expect_error(pieces, [&] { wane::adjoint(op, values, to); });
  }
};

TEST_F(MemoriesWrongGradients, OfQueriesKeysAndValues) {
  wane::gla<float> const op(good, keys);
  refused({"gradient of query", "rows 4", "must be 5"}, op, {.query = short_rows});
  refused({"gradient of key", "rows 4", "must be 5"}, op, {.key = short_rows});
  refused({"gradient of value", "columns 4", "must be 6"}, op, {.value = short_rows});
  wane::sequence_view<float> const shared{written.data(), B, T, 2, K};
  refused({"gradient of key", "heads 2", "must be 4"}, op, {.key = shared});
}

TEST_F(MemoriesWrongGradients, OfLinearAttention) {
  wane::linear_attention<float> const op(good);
  wane::sequence_view<float> const sums{written.data(), B, T, H, V + 1};
  refused({"gradient of key", "rows 4", "must be 5"}, op, {.key = short_rows});
  refused({"gradient of value", "columns 7", "must be 6"}, op, {.value = sums});
  expect_error({"output_gradient", "columns 5", "must be 6"}, [&] { wane::adjoint(op, keys, {}); });
}

TEST_F(MemoriesWrongGradients, OfTheGate) {
  refused({"gradient of log_decay", "4", "must be 5"}, wane::gla<float>(good, keys),
          {.log_decay = short_rows});
  refused({"gradient of log_decay", "time 2", "must be 3"}, wane::retnet<float>(good, {{zeros, H}}),
          {.log_decay = short_time});
  refused({"gradient of log_decay", "time 2", "must be 3"},
          wane::gated_delta_net<float>(with_strength(ones_a_head), ones_a_head),
          {.log_decay = short_time});
  refused({"gradient of log_decay", "4", "must be 5"},
          wane::kimi_delta_attention<float>(with_strength(ones_a_head), keys),
          {.log_decay = short_rows});
}

TEST_F(MemoriesWrongGradients, OfTheStrength) {
  refused({"gradient of strength", "time 2", "must be 3"},
          wane::delta_net<float>(with_strength(ones_a_head)), {.strength = short_time});
}

TEST_F(MemoriesWrongGradients, OfThePlainDecay) {
  refused({"gradient of decay", "time 2", "must be 3"},
          wane::vla_delta_net<float>(
              {.query = keys, .key = keys, .value = values, .decay = ones_a_head}),
          {.decay = short_time});
}

TEST_F(MemoriesWrongGradients, OfRwkv7sOwn) {
  wane::rwkv7<float> const op(with_own(keys, keys), keys);
  auto const must = "must be 5";
  refused({"gradient of log_decay", "4", must}, op, {.log_decay = short_rows});
  refused({"gradient of removal", "4", must}, op, {.removal = short_rows});
  refused({"gradient of rate", "4", must}, op, {.rate = short_rows});
  refused({"gradient of bonus", "[4, 4]", "must be [4, 5]"}, op,
          {.bonus = {written.data(), H, K - 1}});
}

TEST(SumOverGroupsWrongInput, NamesTheArgument) {
  float sums[B * T * H * K];
  auto const sum = [&](view from, index heads) {
    return [=, &sums] {
      wane::sum_over_groups(from, wane::sequence_view<float>(sums, B, T, heads, K));
    };
  };
  expect_error({"from", "heads 4", "3"}, sum(keys, 3));
  expect_error({"from", "heads 4", "0"}, sum(keys, 0));
  expect_error({"from", "extent 1", "dimension 0", "2"}, sum({zeros, 1, T, H, K}, 2));
  expect_error({"from", "extent 4", "dimension 1", "3"}, sum({zeros, B, 4, H, K}, 2));
  expect_error({"from", "extent 6", "dimension 3", "5"}, sum({zeros, B, T, H, 6}, 2));
}

}  // namespace
