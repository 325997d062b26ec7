// UTF-8 of files: every code point has one sequence, and nothing else is one.
// SPDX-License-Identifier: MIT
#include "wane/files/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using wane::impl::utf8_length;

TEST(Utf8, EveryCodePointHasASequenceExceptHalvesOfSurrogatePairs) {
  for (std::uint32_t point = 0; point <= 0x10ffff; ++point) {
    std::string text;
    wane::impl::append_utf8(text, point);
    bool const is_half = point >= 0xd800 && point <= 0xdfff;
    ASSERT_EQ(utf8_length(text + "x"), is_half ? 0 : text.size()) << point;
    ASSERT_EQ(text.size(), point < 0x80 ? 1u : point < 0x800 ? 2u : point < 0x10000 ? 3u : 4u);
    ASSERT_EQ(utf8_length(text.substr(0, text.size() - 1)), 0u) << point;
  }
}

TEST(Utf8, RefusesLongerSequencesAndBytesThatBeginNone) {
  for (char const* const text : {"", "\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf",
                                 "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
                                 "\xf8\x88\x80\x80\x80", "\xff", "\xc3(", "\xe2\x82("}) {
    EXPECT_EQ(utf8_length(text), 0u) << testing::PrintToString(text);
  }
}

}  // namespace
