// safetensors: tensors of a file by name; files that are not sound, and what is said of each.
// SPDX-License-Identifier: MIT
#include "wane/files/safetensors.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/process.hpp"
#include "support/expect_error.hpp"
#include "support/safetensors_bytes.hpp"

namespace {

using support::safetensors_of;

class Safetensors : public testing::Test {
 protected:
  wane::safetensors opened(std::string const& content) const {
    return wane::safetensors(place.write("m.safetensors", content));
  }
  void expect_refused(std::string const& content, std::string const& said) const {
    std::string const file = "'" + place.file("m.safetensors") + "' ";
    support::expect_error({file, said}, [&] { opened(content); });
  }
  wane::bench::scratch place;
};

std::string entry(std::string const& name, std::string const& dtype, std::string const& shape,
                  std::string const& offsets) {
  return "\"" + name + "\":{\"dtype\":" + dtype + ",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}
std::string of_one(std::string const& dtype, std::string const& shape, std::string const& offsets,
                   std::string const& data = std::string(4, '\0')) {
  return safetensors_of("{" + entry("a", dtype, shape, offsets) + "}", data);
}

TEST_F(Safetensors, HasTensorsByNameInTheOrderOfTheirBytes) {
  auto const all = opened(safetensors_of("{" + entry("b", "\"F32\"", "[1,1]", "[4,8]") +
                                             R"(,"__metadata__":{"format":"pt","":"\n"},)" +
                                             entry("of none", "\"I64\"", "[0,7]", "[4,4]") + "," +
                                             entry("a", "\"F16\"", "[2]", "[0,4]") + "," +
                                             entry("scalar", "\"U8\"", "[]", "[8,9]") + "}  ",
                                         std::string("\0\x3c\0\xbc\0\0\x80\x3f\x07", 9)));
  std::vector<std::string> names;
  for (auto const& one : all.tensors()) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "of none", "b", "scalar"}));
  EXPECT_EQ(all.values<float>("a", {2}), (std::vector<float>{1, -1}));
  EXPECT_EQ(all.values<double>("b", {1, 1}), std::vector<double>{1});
  EXPECT_EQ(all.at("scalar").bytes[0], std::byte{7});
  EXPECT_EQ(all.find("c"), nullptr);
  EXPECT_EQ(all.find("b"), &all.tensors()[2]);
  EXPECT_EQ(all.metadata(), (std::map<std::string, std::string>{{"format", "pt"}, {"", "\n"}}));
  EXPECT_EQ(all.path(), place.file("m.safetensors"));
}

TEST_F(Safetensors, KeepsTensorsOfUnknownTypes) {
  auto const all = opened(of_one("\"F4\"", "[8]", "[0,4]"));
  EXPECT_EQ(all.at("a").type, "F4");
  EXPECT_EQ(all.at("a").bytes.size(), 4u);
}

TEST_F(Safetensors, MayMove) {
  std::optional<wane::safetensors> first(opened(of_one("\"F32\"", "[1]", "[0,4]")));
  wane::safetensors const second = std::move(*first);
  first.reset();
  EXPECT_EQ(second.values<float>("a", {1}), std::vector<float>{0});
}

TEST_F(Safetensors, CopiesIntoMemoryOfTheCaller) {
  auto const all = opened(safetensors_of({{"a", {2}, {1, 2}}}));
  std::vector<double> memory(2);
  all.copy("a", {2}, memory);
  EXPECT_EQ(memory, (std::vector<double>{1, 2}));
  support::expect_error({"tensor 'a'", "has shape [2]; it must be [1, 2]"}, [&] {
    all.copy("a", {1, 2}, memory);
  });
  support::expect_error({"the memory for tensor 'a' has 1 numbers; it must have 2"},
                        [&] { all.copy("a", {2}, std::span(memory).first(1)); });
}

TEST_F(Safetensors, RefusesOtherShapesAndTypes) {
  auto const all = opened(of_one("\"I32\"", "[1]", "[0,4]"));
  std::string const file = "'" + place.file("m.safetensors") + "'";
  support::expect_error({"tensor 'a' of " + file + " has shape [1]; it must be []"},
                        [&] { all.values<float>("a", {}); });
  support::expect_error({"tensor 'a' is of type 'I32'"}, [&] { all.values<float>("a", {1}); });
}

TEST_F(Safetensors, NamesTheNearestOfTheNamesThatAreThere) {
  auto const all = opened(safetensors_of({{"backbone.layers.0.mixer.A_log", {1}, {0}},
                                          {"backbone.layers.0.mixer.D", {1}, {0}},
                                          {"backbone.layers.1.mixer.A_log", {1}, {0}},
                                          {"lm_head.weight", {1}, {0}}}));
  auto const expect_nearest = [&](std::string const& name, std::string const& nearest) {
    support::expect_error(
        {"has no tensor '" + name + "'; of its 4 tensors the nearest is '" + nearest + "'"},
        [&] { all.at(name); });
  };
  expect_nearest("layers.1.mixer.A_log", "backbone.layers.1.mixer.A_log");
  expect_nearest("backbone.layers.0.mixer.Alog", "backbone.layers.0.mixer.A_log");
  expect_nearest("backbone.layers.0.mixer.D_", "backbone.layers.0.mixer.D");
  expect_nearest("backbone.layers.0.mixer.d", "backbone.layers.0.mixer.A_log");
  expect_nearest("head.weight", "lm_head.weight");
  support::expect_error({"has no tensor 'a'; it has none at all"},
                        [&] { opened(safetensors_of("{}")).at("a"); });
}

TEST_F(Safetensors, RefusesFilesThatAreCutShort) {
  std::string const sound = safetensors_of({{"a", {2}, {1, 2}}, {"b", {1}, {3}}});
  EXPECT_EQ(opened(sound).tensors().size(), 2u);
  for (std::size_t size = 0; size < sound.size(); ++size) {
    support::expect_error({"m.safetensors"}, [&] { opened(sound.substr(0, size)); });
  }
  expect_refused(sound + '\0', "its tensors end at byte 12 of 13");
}

TEST_F(Safetensors, RefusesHeadersWithoutASoundLength) {
  expect_refused("", "is empty");
  expect_refused("1234567", "it has fewer than 8 bytes");
  expect_refused(std::string(8, '\0'), "is not JSON: it goes wrong at byte 0");
  expect_refused(safetensors_of("{}", "", 3), "its header is said to have 3 bytes, where 2 can be");
  expect_refused(safetensors_of("{}", "", ~std::uint64_t{0}),
                 "is said to have 18446744073709551615");
  expect_refused(safetensors_of("{}", "", 0), "is not JSON: it goes wrong at byte 0");
  expect_refused(safetensors_of("{}", "", 1), "is not JSON: it goes wrong at byte 1");
}

TEST_F(Safetensors, RefusesHeadersThatAreNoObject) {
  expect_refused(safetensors_of("{"), "its header is not JSON");
  expect_refused(safetensors_of("[]"), "its header is no JSON object");
  expect_refused(safetensors_of("{}{}"), "its header is not JSON");
  expect_refused(safetensors_of("{\"\xff\":1}"), "its header is not JSON");
  expect_refused(safetensors_of("{\"a\":" + std::string(100'000, '[')), "nested more than 4 deep");
  expect_refused(safetensors_of("{}" + std::string(1, '\0') + "{"), "its header has a zero byte");
  expect_refused(safetensors_of(R"({"__metadata__":[]})"), "its __metadata__ is no JSON object");
  expect_refused(safetensors_of(R"({"__metadata__":{"a":1}})"), "__metadata__ 'a' is no string");
}

TEST_F(Safetensors, RefusesDoubledNames) {
  std::string const none = entry("a", "\"U8\"", "[0]", "[0,0]");
  expect_refused(safetensors_of("{" + none + "," + none + "}"), "its header names 'a' twice");
  expect_refused(safetensors_of(R"({"a":{"dtype":"U8","shape":[0],"shape":[0]}})"),
                 "names 'shape' twice");
}

TEST_F(Safetensors, RefusesEntriesThatLackSomething) {
  std::string const said = "tensor 'a' lacks a dtype, a shape, or data_offsets of two numbers";
  for (char const* const text :
       {"1", "[]", "{}", R"({"dtype":"F32"})", R"({"dtype":"F32","shape":[1]})",
        R"({"dtype":"F32","data_offsets":[0,4]})", R"({"shape":[1],"data_offsets":[0,4]})"}) {
    expect_refused(safetensors_of("{\"a\":" + std::string(text) + "}", "1234"), said);
  }
  expect_refused(of_one("7", "[1]", "[0,4]"), said);
  expect_refused(of_one("\"F32\"", "1", "[0,4]"), said);
  expect_refused(of_one("\"F32\"", "[1]", "[0]"), said);
  expect_refused(of_one("\"F32\"", "[1]", "[0,4,8]"), said);
  expect_refused(of_one("\"F32\"", "[1]", "{}"), said);
}

TEST_F(Safetensors, RefusesNamesThatNoModelHas) {
  std::string const rest = R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})";
  EXPECT_NO_THROW(opened(safetensors_of("{\"" + std::string(1024, 'n') + rest)));
  expect_refused(safetensors_of("{\"" + std::string(1025, 'n') + rest), "more than 1024 bytes");
  expect_refused(safetensors_of(R"({"a\u0000b)" + rest), "has a zero byte in its name");
}

TEST_F(Safetensors, RefusesNumbersThatAreNotWhole) {
  std::string const said = "a shape or offset of tensor 'a' is no whole number from 0 to 2^63 - 1";
  for (char const* const shape : {"[-1]", "[1.0]", "[1e0]", "[9223372036854775808]", "[null]",
                                  "[\"1\"]", "[[1]]", "[18446744073709551617]"}) {
    expect_refused(of_one("\"F32\"", shape, "[0,4]"), said);
  }
  expect_refused(of_one("\"F32\"", "[1]", "[-4,0]"), said);
  expect_refused(of_one("\"F32\"", "[1]", "[0,4.0]"), said);
}

TEST_F(Safetensors, RefusesExtentsThatDoNotFitTheBytes) {
  std::string ones;
  for (int i = 0; i < 15; ++i) ones += "1,";
  EXPECT_NO_THROW(opened(of_one("\"F32\"", "[" + ones + "1]", "[0,4]")));
  expect_refused(of_one("\"F32\"", "[" + ones + "1,1]", "[0,4]"), "more than 16 extents");
  std::string many = "[0";
  for (int i = 0; i < 100; ++i) many += ",0";
  expect_refused(of_one("\"F32\"", many + "]", "[0,4]"), "an array of more than 100 elements");
  expect_refused(of_one("\"F32\"", "[4611686018427387904,4]", "[0,4]"), "than can be counted");
  expect_refused(of_one("\"F32\"", "[9223372036854775807]", "[0,4]"), "has 4 bytes");
  expect_refused(of_one("\"F32\"", "[4611686018427387905]", "[0,4]"), "has 4 bytes");  // times 4
  expect_refused(of_one("\"F32\"", "[2]", "[0,4]"), "of type F32 and shape [2] has 4 bytes");
  expect_refused(of_one("\"F64\"", "[1]", "[0,4]"), "of type F64 and shape [1] has 4 bytes");
  expect_refused(of_one("\"F32\"", "[0]", "[0,4]"), "has 4 bytes");
  expect_refused(of_one("\"F32\"", "[]", "[0,0]", ""), "has 0 bytes");
}

TEST_F(Safetensors, RefusesPlacesOutsideTheData) {
  expect_refused(of_one("\"F32\"", "[2]", "[0,8]"), "tensor 'a' lies at bytes 0 to 8 of 4");
  expect_refused(of_one("\"F32\"", "[1]", "[4,0]"), "tensor 'a' lies at bytes 4 to 0 of 4");
  expect_refused(of_one("\"F32\"", "[1]", "[9223372036854775803,9223372036854775807]"), "lies at");
}

TEST_F(Safetensors, RefusesGapsAndOverlaps) {
  std::string const eight(8, '\0');
  auto const of_two = [&](std::string const& first, std::string const& second) {
    return safetensors_of(
        "{" + entry("a", "\"U8\"", "[4]", first) + "," + entry("b", "\"U8\"", "[4]", second) + "}",
        eight);
  };
  EXPECT_NO_THROW(opened(of_two("[4,8]", "[0,4]")));
  expect_refused(of_two("[0,4]", "[0,4]"), "'b' begins at byte 0 where the one before ends at 4");
  expect_refused(of_two("[0,4]", "[2,6]"), "'b' begins at byte 2 where the one before ends at 4");
  expect_refused(of_two("[4,8]", "[4,8]"), "begins at byte 4 where the one before ends at 0");
  expect_refused(of_one("\"F32\"", "[1]", "[4,8]", eight), "'a' begins at byte 4");
  expect_refused(of_one("\"F32\"", "[1]", "[0,4]", eight), "its tensors end at byte 4 of 8");
  expect_refused(safetensors_of("{}", "x"), "its tensors end at byte 0 of 1");
}

TEST_F(Safetensors, MessagesAreOneLine) {
  std::string const name = "x\x1b[2J\ny";
  support::expect_error({"?[2J?y"}, [&] { opened(safetensors_of({{"a", {1}, {1}}})).at(name); });
}

TEST_F(Safetensors, OfManyTensors) {
  std::vector<support::named_numbers> model;
  for (int i = 0; i < 20'000; ++i) model.push_back({"l." + std::to_string(i), {1}, {float(i)}});
  auto const all = opened(safetensors_of(model));
  EXPECT_EQ(all.values<int>("l.19999", {1})[0], 19999);
}

}  // namespace
