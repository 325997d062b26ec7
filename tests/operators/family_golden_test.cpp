// RWKV-6, Comba and others equal flash-linear-attention's values, RWKV-4 transformers' (golden).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/tensor.hpp"
#include "wane/operators/comba.hpp"
#include "wane/operators/delta_product.hpp"
#include "wane/operators/gated_delta_net2.hpp"
#include "wane/operators/hgrn2.hpp"
#include "wane/operators/rwkv4.hpp"
#include "wane/operators/rwkv6.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;

class FamilyGolden : public testing::Test {
 public:
  static constexpr index tokens = 17, heads = 2, rows = 5, columns = 4;
  support::golden_table const inputs = support::read_golden("inputs.csv"),
                              more = support::read_golden("family_inputs.csv"),
                              outputs = support::read_golden("family_outputs.csv");

  float const* data(char const* name) const {
    return (inputs.contains(name) ? inputs : more).at(name).data();
  }
  wane::sequence_view<float const> tensor(char const* name, index channels,
                                          index time = tokens) const {
    return {data(name), 1, time, heads, channels};
  }
  wane::token_view<float const> numbers(char const* name, index time = tokens) const {
    return {data(name), 1, time, heads};
  }

  void expect(std::string const& name, auto const& op) const {
    auto const& y = outputs.at(name);
    auto state = inputs.at("initial");
    wane::view<float, 4> const values(state.data(), 1, heads, rows, columns);
    std::vector<float> found(y.size(), support::not_a_number<float>());
    wane::run(op, wane::sequence_view<float>(found.data(), 1, tokens, heads, columns),
              wane::run_options<float>{.initial = {values}, .final = {values}});
    support::expect_near_golden(found, y);
    support::expect_near_golden(state, outputs.at(name + " state"));
  }
};

TEST_F(FamilyGolden, Rwkv6) {
  expect("rwkv6", wane::rwkv6({.query = tensor("query", rows),
                               .key = tensor("key", rows),
                               .value = tensor("value", columns),
                               .bonus = {data("bonus"), heads, rows}},
                              tensor("row_decay", rows), {.scale = 1 / std::sqrt(5.)}));
}
// The reference in PyTorch erases after the decay.
TEST_F(FamilyGolden, Comba) {
  expect("comba", wane::comba({.query = tensor("query", rows),
                               .key = tensor("key", rows),
                               .value = tensor("value", columns),
                               .removal = tensor("removal", rows),
                               .strength = numbers("strength")},
                              numbers("head_decay"), {.erases = wane::erases::after_decay}));
}
TEST_F(FamilyGolden, GatedDeltaNet2) {
  expect("gdn2", wane::gated_delta_net2({.query = tensor("query", rows),
                                         .key = tensor("key", rows),
                                         .value = tensor("value", columns),
                                         .erase_gate = tensor("rate", rows),
                                         .write_gate = tensor("write_gate", columns)},
                                        tensor("row_decay", rows)));
}
TEST_F(FamilyGolden, Hgrn2) {
  expect("hgrn2", wane::hgrn2({.query = tensor("query", rows), .value = tensor("value", columns)},
                              tensor("row_decay", rows)));
}
TEST_F(FamilyGolden, DeltaProducts) {
  for (index n : {2, 3}) {
    wane::delta_inputs<float> const in{.query = tensor("query", rows),
                                       .key = tensor("product_key", rows, n * tokens),
                                       .value = tensor("product_value", columns, n * tokens),
                                       .strength = numbers("product_strength", n * tokens)};
    expect("delta_product_" + std::to_string(n), wane::delta_product<float>(in));
    expect("gated_delta_product_" + std::to_string(n),
           wane::delta_product(in, numbers("head_decay")));
  }
}
TEST_F(FamilyGolden, Rwkv4) {
  auto key = inputs.at("key"), decay = more.at("rwkv4_decay");
  for (float& k : key) k *= 8;
  for (float& g : decay) g = -std::exp(g);
  wane::rwkv4<float> const memory({.key = {key.data(), 1, tokens, heads, rows},
                                   .value = tensor("query", rows),
                                   .log_decay = {decay.data(), heads, rows},
                                   .bonus = {data("bonus"), heads, rows}});
  for (std::string const name : {"rwkv4", "rwkv4_initial"}) {
    wane::recurrent_state<float> state(memory);
    // [heads, 3, rows] here, [3, heads, rows] there.
    auto const values = wane::state_view<float>(state).values;
    std::vector<float> y(outputs.at(name).size(), support::not_a_number<float>()), final;
    char const* const initial[] = {"hgrn_initial", "mesa_lambda", "precond_initial"};
    auto const each = [&](auto const& body) {
      for (index n = 0; n < 3 * heads * rows; ++n)
        body(values(0, n / rows % heads, n / (heads * rows), n % rows), n);
    };
    if (name == "rwkv4_initial")
      each([&](float& x, index n) { x = data(initial[n / 10])[n % 10]; });
    wane::run(memory, {y.data(), 1, tokens, heads, rows}, {.initial = state, .final = state});
    each([&](float& x, index) { final.push_back(x); });
    support::expect_near_golden(y, outputs.at(name));
    support::expect_near_golden(final, outputs.at(name + " state"));
  }
}

}  // namespace
