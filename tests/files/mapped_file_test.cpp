// mapped_file: the bytes of a file, and files that have none.
// SPDX-License-Identifier: MIT
#include "wane/files/mapped_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "bench/process.hpp"
#include "support/expect_error.hpp"

namespace {

TEST(MappedFile, HasTheBytesOfTheFile) {
  wane::bench::scratch const place;
  std::string const content("a\0b\n", 4);
  wane::mapped_file const file(place.write("some.bin", content));
  EXPECT_EQ(file.text(), content);
  EXPECT_EQ(file.bytes().size(), 4u);
  EXPECT_EQ(file.path(), place.file("some.bin"));
}

TEST(MappedFile, KeepsItsBytesWhereTheyAreWhenItMoves) {
  wane::bench::scratch const place;
  std::optional<wane::mapped_file> first(std::in_place, place.write("a", "abc"));
  auto const bytes = first->bytes();
  wane::mapped_file second = std::move(*first);
  first.reset();
  EXPECT_EQ(second.bytes().data(), bytes.data());
  EXPECT_EQ(second.text(), "abc");
  second = wane::mapped_file(place.write("b", "defg"));
  EXPECT_EQ(second.text(), "defg");
}

TEST(MappedFile, RefusesWhatIsNoFileWithContent) {
  wane::bench::scratch const place;
  auto const expect_refused = [](std::string const& path, std::string const& what) {
    support::expect_error({"'" + path + "' " + what}, [&] { wane::mapped_file const file(path); });
  };
  expect_refused(place.file("none"), "cannot be read");
  expect_refused(place.write("empty", ""), "is empty");
  expect_refused(place.file("."), "is no regular file");
  ASSERT_EQ(mkfifo(place.file("pipe").c_str(), 0600), 0);
  expect_refused(place.file("pipe"), "is no regular file");  // and does not wait for a writer
  expect_refused("", "cannot be read");
}

}  // namespace
