// The keyed memories give what flash-linear-attention's naive functions gave (golden/README.md).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "support/nearness.hpp"
#include "support/tensor.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;

constexpr index tokens = 17, heads = 2, rows = 5, columns = 4;

using table = std::map<std::string, std::vector<float>>;

table read(char const* name) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "golden" / name);
  table found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string cell;
    std::getline(cells, cell, ',');
    auto& values = found[cell];
    while (std::getline(cells, cell, ',')) values.push_back(std::stof(cell));
  }
  return found;
}

class FlashLinearAttention : public testing::Test {
 public:
  table const inputs = read("inputs.csv"), outputs = read("outputs.csv");
  wane::keyed_inputs<float> const in{tensor("query", rows), tensor("key", rows),
                                     tensor("value", columns)};

  wane::sequence_view<float const> tensor(char const* name, index channels) const {
    return {inputs.at(name).data(), 1, tokens, heads, channels};
  }
  wane::token_view<float const> by_token(char const* name) const {
    return {inputs.at(name).data(), 1, tokens, heads};
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
    compare(found, y);
    if (carries) compare(state, outputs.at(name + std::string(" state")));
  }

 private:
  // Both are float: some roundings of memories that fade.
  static void compare(std::vector<float> const& is, std::vector<float> const& should_be) {
    ASSERT_EQ(is.size(), should_be.size());
    support::nearness near;
    for (std::size_t i = 0; i < is.size(); ++i)
      near.add(static_cast<double>(is[i]), static_cast<double>(should_be[i]));
    EXPECT_LT(near.both(), 1e-6);
  }
};

TEST_F(FlashLinearAttention, GatedLinearAttention) {
  expect("gla", wane::gla<float>(in, tensor("row_decay", rows)));
}
TEST_F(FlashLinearAttention, Retention) {
  float const log_gamma[] = {std::log1p(-0x1p-5f), std::log1p(-0x1p-6f)};
  expect("retention", wane::retnet<float>(in, {wane::view<float const, 1>(log_gamma, heads)}));
}
TEST_F(FlashLinearAttention, DeltaRule) {
  expect("delta_rule", wane::delta_net<float>(in, by_token("strength"), {}));
}
TEST_F(FlashLinearAttention, GatedDeltaRule) {
  expect("gated_delta_rule",
         wane::gated_delta_net<float>(in, by_token("strength"), by_token("head_decay")));
}
TEST_F(FlashLinearAttention, KimiDeltaAttention) {
  expect("kda",
         wane::kimi_delta_attention<float>(in, by_token("strength"), tensor("row_decay", rows)));
}
TEST_F(FlashLinearAttention, DiagonalPlusLowRankOfRwkv7) {
  expect("dplr", wane::rwkv7<float>(in, tensor("row_decay", rows),
                                    {tensor("removal", rows), tensor("rate", rows)},
                                    {.scale = 1 / std::sqrt(5.)}));
}

}  // namespace
