// The layers as programs: weights saved and read again, and refused files.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "bench/process.hpp"

namespace wane::bench {
namespace {

constexpr char const* programs[] = {EXAMPLE_GATED_DELTA_NET_LAYER, EXAMPLE_MAMBA2_POST_LAYER,
                                    EXAMPLE_RETNET_POST_LAYER, EXAMPLE_RWKV7_POST_LAYER,
                                    EXAMPLE_VORT_LAYER};

std::string saved_weights(std::string const& program) {
  scratch const place;
  EXPECT_EQ(run(program, {"--save", place.file("w")}).status, 0);
  return content_of(place.file("w"));
}
void expect_refusal(std::string const& program, std::vector<std::string> const& arguments,
                    std::string const& says) {
  auto const result = run(program, arguments);
  EXPECT_EQ(result.status, 2) << program;
  EXPECT_EQ(result.error_lines(), 1) << program << ": " << result.err;
  EXPECT_NE(result.err.find(says), std::string::npos) << program << ": " << result.err;
}
void expect_refusal_of(std::string const& weights, std::string const& program,
                       std::string const& says) {
  scratch const place;
  expect_refusal(program, {"--weights", place.write("w", weights)}, says);
}

TEST(LayerPrograms, GiveTheSameWithTheWeightsTheySaved) {
  scratch const place;
  std::string const weights = place.file("w"), first = place.file("1"), again = place.file("2");
  for (std::string const program : programs) {
    EXPECT_EQ(run(program, {"--save", weights, "--outputs", first}).status, 0) << program;
    EXPECT_EQ(run(program, {"--weights", weights, "--outputs", again}).status, 0) << program;
    EXPECT_FALSE(content_of(first).empty()) << program;
    EXPECT_TRUE(content_of(first) == content_of(again)) << program;
  }
}
TEST(LayerPrograms, RefuseWeightsThatMakeNoLayer) {
  float const number = std::numeric_limits<float>::quiet_NaN();
  std::string const bytes(reinterpret_cast<char const*>(&number), sizeof number);
  for (std::string const program : programs) {
    std::string weights = saved_weights(program);
    weights.replace(weights.size() - bytes.size(), bytes.size(), bytes);
    expect_refusal_of(weights, program, "the outputs have the norm ");
    weights.assign(weights.size(), '\0');
    expect_refusal_of(weights, program, "the outputs have the norm 0;");
  }
}
TEST(LayerPrograms, RefuseWeightsOfAnotherSize) {
  for (std::string const program : programs) {
    expect_refusal_of(saved_weights(program) + 'x', program, "; it must have ");
    expect_refusal_of("", program, "; it must have ");
  }
}
TEST(LayerPrograms, RefuseOtherArguments) {
  scratch const place;
  for (std::string const program : programs) {
    expect_refusal(program, {"--weight", "w"}, "; it must be --weights FILE");
    expect_refusal(program, {"--outputs"}, "; it must be --weights FILE");
    for (char const* option : {"--weights", "--save", "--outputs"})
      expect_refusal(program, {option, place.file("no folder/w")}, "cannot be opened");
  }
}

}  // namespace
}  // namespace wane::bench
