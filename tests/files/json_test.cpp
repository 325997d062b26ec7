// JSON of headers: what RFC 8259 says is read, anything else is refused with its place.
// SPDX-License-Identifier: MIT
#include "wane/files/json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace {

using wane::impl::json_array, wane::impl::json_number, wane::impl::json_object,
    wane::impl::json_value;

json_value parsed(std::string const& text) {
  return wane::impl::json_parser(text, {.depth = 3, .elements = 5}, "the text ").document();
}
void expect_refused(std::string const& text, std::string const& what) {
  SCOPED_TRACE(text);
  support::expect_error({"the text " + what}, [&] { parsed(text); });
}
std::string string_in(std::string const& text) {
  json_value const value = parsed(text);
  auto const* const found = value.as<std::string>();
  return found == nullptr ? "no string" : *found;
}

TEST(Json, HasValuesOfEachKind) {
  json_value const all = parsed(" {\"a\" : [ 1,true ,false,null, \"x\" ],\t\"b\":{}\r\n} ");
  auto const* const members = all.as<json_object>();
  ASSERT_NE(members, nullptr);
  ASSERT_EQ(members->size(), 2u);
  auto const* const a = wane::impl::member_of(*members, "a")->as<json_array>();
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->size(), 5u);
  EXPECT_EQ((*a)[0].as<json_number>()->whole, 1);
  EXPECT_TRUE(*(*a)[1].as<bool>());
  EXPECT_FALSE(*(*a)[2].as<bool>());
  EXPECT_NE((*a)[3].as<wane::impl::json_null>(), nullptr);
  EXPECT_EQ(*(*a)[4].as<std::string>(), "x");
  EXPECT_EQ((*a)[4].as<bool>(), nullptr);
  EXPECT_TRUE(wane::impl::member_of(*members, "b")->as<json_object>()->empty());
  EXPECT_EQ(wane::impl::member_of(*members, "c"), nullptr);
}

TEST(Json, KeepsWholeNumbersBelow2To63) {
  auto const whole = [](std::string const& text) {
    json_value const value = parsed(text);
    return value.as<json_number>()->whole;
  };
  EXPECT_EQ(whole("0"), 0);
  EXPECT_EQ(whole("9223372036854775807"), 9223372036854775807);
  for (char const* const other : {"9223372036854775808", "99999999999999999999999", "-1", "-0",
                                  "1.0", "1e2", "1E+2", "0.5e-3", "1e999"}) {
    EXPECT_EQ(whole(other), std::nullopt) << other;
  }
}

TEST(Json, ReadsEscapes) {
  EXPECT_EQ(string_in(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_in(R"("\u0041\u00e9\u20AC")"), "A\u00e9\u20ac");
  EXPECT_EQ(string_in(R"("\ud83d\ude00 \uDBFF\uDFFF")"), "\U0001f600 \U0010ffff");
  EXPECT_EQ(string_in("\"\u00e9\u20ac\U0001f600\x7f\""), "\u00e9\u20ac\U0001f600\x7f");
  EXPECT_EQ(string_in(R"("a\u0000b")"), std::string("a\0b", 3));
}

TEST(Json, RefusesOtherTextWithItsPlace) {
  for (char const* const text : {"",
                                 " ",
                                 "{",
                                 "[",
                                 "\"",
                                 "tru",
                                 "nul",
                                 "None",
                                 "'a'",
                                 "[1,]",
                                 "[,1]",
                                 "[1 2]",
                                 "[1}",
                                 "{}x",
                                 "{} {}",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "{a:1}",
                                 "{1:1}",
                                 "{\"a\" 1}",
                                 "//\n1",
                                 "+1",
                                 "01",
                                 "1.",
                                 ".5",
                                 "1e",
                                 "1e+",
                                 "-",
                                 "--1",
                                 "0x10",
                                 "NaN",
                                 "Infinity",
                                 "\xEF\xBB\xBF{}",
                                 "\"\n\"",
                                 "\"\x1f\"",
                                 "\"\\x41\"",
                                 "\"\\",
                                 "\"\\u12\"",
                                 "\"\\u12g4\"",
                                 "\"\\u 123\"",
                                 "\"\\u+123\"",
                                 "\"\\u-123\"",
                                 "\"\\ud83d\"",
                                 "\"\\ud83dx\"",
                                 "\"\\ud83d\\n\"",
                                 "\"\\ud83d\\u0041\"",
                                 "\"\\ude00\"",
                                 "\"\\ud83d\\ud83d\"",
                                 "\"\xff\"",
                                 "\"\xc0\xaf\"",
                                 "\"\xed\xa0\x80\"",
                                 "\"\xf4\x90\x80\x80\"",
                                 "\"\xe2\x82\""}) {
    expect_refused(text, "is not JSON: it goes wrong at byte ");
  }
  expect_refused("[1, x]", "is not JSON: it goes wrong at byte 4");
  expect_refused("{\"a\":1", "is not JSON: it goes wrong at byte 6");
  expect_refused(std::string("{}\0", 3), "has a zero byte");
}

TEST(Json, RefusesDepth) {
  EXPECT_NO_THROW(parsed("[[[1]],{\"a\":[]}]"));
  expect_refused("[[[[1]]]]", "is nested more than 3 deep");
  expect_refused("[[{\"a\":{}}]]", "is nested more than 3 deep");
  expect_refused(std::string(1'000'000, '['), "is nested more than 3 deep");
}

TEST(Json, RefusesLongArrays) {
  EXPECT_NO_THROW(parsed("[[1,2,3,4,5],[1,2,3,4,5]]"));
  expect_refused("[1,2,3,4,5,6]", "has an array of more than 5 elements");
}

TEST(Json, RefusesDoubledNames) {
  EXPECT_NO_THROW(parsed(R"([{"a":{"a":1}},{"a":1}])"));
  expect_refused(R"({"a":1,"b":2,"a":3})", "names 'a' twice");
  expect_refused(R"({"\u0061":1,"a":3})", "names 'a' twice");
  expect_refused(R"([{"x\n":1,"x\n":3}])", "names 'x?' twice");
}

TEST(Json, WritesStringsThatItReads) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  all += "\u00e9\U0001f600";
  std::string const written = wane::impl::json_string(all);
  EXPECT_EQ(string_in(written), all);
  EXPECT_EQ(wane::impl::json_string("a\"\\\n"), R"("a\"\\\u000a")");
}

}  // namespace
