// examples/onnx_linear_attention.hpp equals ONNX's reference evaluator (operators/golden).
// SPDX-License-Identifier: MIT
#include "onnx_linear_attention.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/golden.hpp"
#include "support/tensor.hpp"

namespace {

using onnx::index;

// A line of cases.csv.
struct golden_case {
  std::map<std::string, std::string> of;

  std::string const& text(char const* name) const { return of.at(name); }
  index number(char const* name) const { return std::stol(of.at(name)); }
};
std::vector<golden_case> read_cases() {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path().parent_path() /
                     "operators/golden/onnx/cases.csv");
  auto const cells_of = [](std::string const& line) {
    std::istringstream in(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::string line;
  std::getline(file, line);
  auto const names = cells_of(line);
  std::vector<golden_case> cases;
  while (std::getline(file, line)) {
    auto const cells = cells_of(line);
    cases.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) cases.back().of[names[i]] = cells.at(i);
  }
  return cases;
}

// Half an ulp of an output of T, above what sums in another order give in float.
template <class T>
constexpr double bound = std::is_same_v<T, wane::bfloat16>  ? 0x1p-8
                         : std::is_same_v<T, wane::float16> ? 0x1p-11
                                                            : 1e-6;

template <class T, class S>
void expect_case(golden_case const& c, support::golden_table const& inputs,
                 support::golden_table const& outputs) {
  std::string const name = c.text("case");
  auto const in = [&]<class X>(char const* which, std::vector<X>& to) {
    auto const found = inputs.find(name + " " + which);
    if (found == inputs.end()) return false;
    for (float x : found->second) to.push_back(static_cast<X>(x));
    return true;
  };
  std::string const rules[] = {"linear", "gated", "delta", "gated_delta"};
  auto const rule = std::find(rules, rules + 4, c.text("update_rule")) - rules;
  index const B = c.number("batch"), time = c.number("tokens");
  index const q = c.number("q_num_heads"), kv = c.number("kv_num_heads");
  index const d_k = c.number("d_k"), d_v = c.number("d_v");
  std::vector<T> query, key, value, decay, beta;
  std::vector<S> past;
  in("query", query), in("key", key), in("value", value);
  std::vector<T> output(static_cast<std::size_t>(B * time * q * d_v), support::not_a_number<T>());
  std::vector<S> present(static_cast<std::size_t>(B * kv * d_k * d_v), support::not_a_number<S>());
  auto const packed = [&](auto& x, index width) {
    return onnx::packed<std::remove_pointer_t<decltype(x.data())>>{x.data(), B, time, width};
  };
  auto const given = [&](char const* which, std::vector<T>& to) {
    return in(which, to) ? packed(std::as_const(to), c.text(which) == "one"   ? 1
                                                     : c.text(which) == "key" ? kv * d_k
                                                                              : kv)
                         : onnx::packed<T const>{};
  };
  bool const carries = in("past_state", past);
  onnx::linear_attention<T, S>(
      {static_cast<onnx::update_rule>(rule), q, kv, std::stof(c.text("scale"))},
      {.query = packed(std::as_const(query), q * d_k),
       .key = packed(std::as_const(key), kv * d_k),
       .value = packed(std::as_const(value), kv * d_v),
       .past_state = carries ? past.data() : nullptr,
       .decay = given("decay", decay),
       .beta = given("beta", beta),
       .output = packed(output, q * d_v),
       .present_state = present.data()});
  auto const expect = [&](char const* which, auto const& is) {
    std::vector<float> found;
    for (auto x : is) found.push_back(static_cast<float>(x));
    support::expect_near_golden(found, outputs.at(name + " " + which),
                                bound<std::remove_cvref_t<decltype(is[0])>>);
  };
  SCOPED_TRACE(name);
  expect("output", output), expect("present_state", present);
}

TEST(OnnxLinearAttention, EqualsTheReferenceEvaluator) {
  auto const inputs = support::read_golden("onnx/inputs.csv"),
             outputs = support::read_golden("onnx/outputs.csv");
  auto const cases = read_cases();
  EXPECT_EQ(cases.size(), 26u);
  for (golden_case const& c : cases) {
    std::string const types = c.text("type") + " " + c.text("state_type");
    using wane::bfloat16, wane::float16;
    if (types == "float float")
      expect_case<float, float>(c, inputs, outputs);
    else if (types == "float float16")
      expect_case<float, float16>(c, inputs, outputs);
    else if (types == "float16 float16")
      expect_case<float16, float16>(c, inputs, outputs);
    else if (types == "float16 float")
      expect_case<float16, float>(c, inputs, outputs);
    else if (types == "bfloat16 bfloat16")
      expect_case<bfloat16, bfloat16>(c, inputs, outputs);
    else if (types == "bfloat16 float")
      expect_case<bfloat16, float>(c, inputs, outputs);
    else
      ADD_FAILURE() << types;
  }
}

TEST(OnnxLinearAttention, RefusesWhatTheStandardDoes) {
  float x[64] = {}, state[64] = {};
  auto const call = [&](onnx::attributes const& node, index decay, index beta) {
    onnx::packed<float const> const none{}, in{x, 1, 2, 4};
    auto const given = [&](index width) {
      return width > 0 ? onnx::packed<float const>{x, 1, 2, width} : none;
    };
    onnx::linear_attention<float, float>(node, {.query = in,
                                                .key = in,
                                                .value = in,
                                                .decay = given(decay),
                                                .beta = given(beta),
                                                .output = {x + 32, 1, 2, 4},
                                                .present_state = state});
  };
  using enum onnx::update_rule;
  support::expect_error({"q_num_heads is 1; it must be a multiple of kv_num_heads, 2"}, [&] {
    call({linear, 1, 2}, 0, 0);
  });
  support::expect_error({"query is 4 wide; it must be a multiple of its heads, 3"}, [&] {
    call({linear, 3, 3}, 0, 0);
  });
  support::expect_error({"decay belongs to the rules gated and gated_delta"}, [&] {
    call({gated, 2, 2}, 0, 0);
  });
  support::expect_error({"beta belongs to the rules delta and gated_delta"}, [&] {
    call({linear, 2, 2}, 0, 2);
  });
  support::expect_error({"decay is 3 wide; it must be 2 or 4"}, [&] { call({gated, 2, 2}, 3, 0); });
  support::expect_error({"beta is 3 wide; it must be 2 or 1"}, [&] { call({delta, 2, 2}, 0, 3); });
}

}  // namespace
