// The memories equal values computed by flash-linear-attention and mamba-ssm (golden/README.md).
// SPDX-License-Identifier: MIT
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/tensor.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/mamba1.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;

using support::read_golden, support::expect_near_golden;
using table = support::golden_table;

class FlashLinearAttention : public testing::Test {
 public:
  static constexpr index tokens = 17, heads = 2, rows = 5, columns = 4;
  table const inputs = read_golden("inputs.csv"), outputs = read_golden("outputs.csv");
  wane::keyed_inputs<float> const in{.query = tensor("query", rows),
                                     .key = tensor("key", rows),
                                     .value = tensor("value", columns)};
  wane::delta_inputs<float> const delta_in{
      .query = in.query,
      .key = in.key,
      .value = in.value,
      .strength = {inputs.at("strength").data(), 1, tokens, heads}};

  wane::sequence_view<float const> tensor(char const* name, index channels) const {
    return {inputs.at(name).data(), 1, tokens, heads, channels};
  }

  void expect(char const* name, auto const& op) const {
    auto const& y = outputs.at(name);
    auto state = inputs.at("initial");
    wane::view<float, 4> const values(state.data(), 1, heads, rows, columns);
    std::vector<float> found(y.size(), support::not_a_number<float>());
    bool const carries = outputs.contains(name + std::string(" state"));
    wane::run_options<float> options;
    if (carries) options.initial = {values}, options.final = {values};
    wane::run(op, wane::sequence_view<float>(found.data(), 1, tokens, heads, columns), options);
    expect_near_golden(found, y);
    if (carries) expect_near_golden(state, outputs.at(name + std::string(" state")));
  }
};

TEST_F(FlashLinearAttention, GatedLinearAttention) {
  expect("gla", wane::gla<float>(in, tensor("row_decay", rows)));
}
TEST_F(FlashLinearAttention, Retention) {
  float const log_gamma[] = {std::log1p(-0x1p-5f), std::log1p(-0x1p-6f)};
  expect("retention", wane::retnet<float>(in, {{log_gamma, heads}}));
}
TEST_F(FlashLinearAttention, DeltaRule) { expect("delta_rule", wane::delta_net<float>(delta_in)); }
TEST_F(FlashLinearAttention, GatedDeltaRule) {
  expect("gated_delta_rule", wane::gated_delta_net<float>(
                                 delta_in, {inputs.at("head_decay").data(), 1, tokens, heads}));
}
TEST_F(FlashLinearAttention, KimiDeltaAttention) {
  expect("kda", wane::kimi_delta_attention<float>(delta_in, tensor("row_decay", rows)));
}
TEST_F(FlashLinearAttention, DiagonalPlusLowRankOfRwkv7) {
  expect("dplr", wane::rwkv7({.query = in.query,
                              .key = in.key,
                              .value = in.value,
                              .removal = tensor("removal", rows),
                              .rate = tensor("rate", rows)},
                             tensor("row_decay", rows), {.scale = 1 / std::sqrt(5.)}));
}

class MambaSsm : public testing::Test {
 public:
  static constexpr index tokens = 21, heads = 4, groups = 2, columns = 3, states = 5;
  table const inputs = read_golden("mamba_inputs.csv"), outputs = read_golden("mamba_outputs.csv");
  wane::sequence_view<float const> const x{data("x"), 1, tokens, heads, columns},
      B{data("B"), 1, tokens, groups, states}, C{data("C"), 1, tokens, groups, states};
  wane::mamba1<float> const selective_scan{{.x = x,
                                            .dt = {data("channel_dt"), 1, tokens, heads, columns},
                                            .A = {data("channel_A"), heads, columns, states},
                                            .B = B,
                                            .C = C,
                                            .D = {data("channel_D"), heads, columns},
                                            .dt_bias = {data("channel_dt_bias"), heads, columns}},
                                           {.dt_softplus = true}};

  float const* data(char const* name) const { return inputs.at(name).data(); }

  wane::mamba2<float> ssd(wane::view<float const, 1> D) const {
    return {{.x = x,
             .dt = {data("head_dt"), 1, tokens, heads},
             .A = {data("head_A"), heads},
             .B = B,
             .C = C,
             .D = D,
             .dt_bias = {data("head_dt_bias"), heads}},
            {.dt_softplus = true}};
  }

  // mamba-ssm holds states as [heads, columns, states].
  void expect(std::string const& name, auto const& op, std::vector<float> state) const {
    std::vector<float> y(outputs.at(name).size(), support::not_a_number<float>());
    wane::view<float, 4> const values(state.data(), {1, heads, states, columns},
                                      {0, states * columns, 1, states});
    wane::run(op, wane::sequence_view<float>(y.data(), 1, tokens, heads, columns),
              wane::run_options<float>{.initial = {values}, .final = {values}});
    expect_near_golden(y, outputs.at(name));
    expect_near_golden(state, outputs.at(name + " state"));
  }
};

TEST_F(MambaSsm, SelectiveScan) {
  expect("selective_scan", selective_scan, std::vector<float>(heads * columns * states));
}
TEST_F(MambaSsm, SelectiveStateUpdate) {
  expect("selective_state_update", selective_scan, inputs.at("initial"));
}
TEST_F(MambaSsm, SelectiveStateUpdateTiedInHeads) {
  expect("tied_state_update", ssd({data("head_D"), heads}), inputs.at("initial"));
}
TEST_F(MambaSsm, MinimalSsd) { expect("ssd", ssd({}), inputs.at("initial")); }

}  // namespace
