// write_safetensors: what is written is read back, and what could not be read is not written.
// SPDX-License-Identifier: MIT
#include "wane/files/write_safetensors.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "support/expect_error.hpp"
#include "wane/files/safetensors.hpp"

namespace {

using wane::stored_tensor;

TEST(WriteSafetensors, IsReadBack) {
  wane::bench::scratch const place;
  std::string const path = place.file("w.safetensors");
  std::vector<double> const doubles{0.1, -1e300};
  std::vector<float> const floats{1, 2, 3, 4, 5, 6}, none;
  std::vector<wane::bfloat16> const brains{wane::bfloat16(1.5f), wane::bfloat16(-2.f)};
  std::vector<wane::float16> const halves{wane::float16(0.25f)};
  std::string const odd = "a \"b\" \\ \n \u00e9 \U0001f600";
  std::map<std::string, std::string> const metadata{{"format", "pt"}, {odd, odd}, {"", ""}};
  std::vector<stored_tensor> const tensors{
      stored_tensor::of("of halves", {}, halves), stored_tensor::of("of.doubles", {2, 1}, doubles),
      stored_tensor::of(odd, {2}, brains), stored_tensor::of("of nothing", {3, 0}, none),
      stored_tensor::of("of.floats", {1, 2, 3}, floats)};
  wane::write_safetensors(path, tensors, metadata);

  wane::safetensors const read(path);
  EXPECT_EQ(read.metadata(), metadata);
  ASSERT_EQ(read.tensors().size(), tensors.size());
  for (auto const& tensor : tensors) {
    auto const& found = read.at(tensor.name);
    EXPECT_EQ(found.type, tensor.type);
    EXPECT_EQ(found.shape, tensor.shape);
    EXPECT_EQ(found.bytes.size(), tensor.bytes.size());
    EXPECT_EQ(found.values<double>(), tensor.values<double>());
  }
  EXPECT_EQ(read.values<double>("of.doubles", {2, 1}), doubles);
  EXPECT_EQ(read.values<float>(odd, {2}), (std::vector<float>{1.5f, -2}));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(WriteSafetensors, BeginsTheDataAtAMultipleOf8) {
  std::vector<float> const one{1};
  for (std::string name = "a"; name.size() < 10; name += 'a') {
    std::ostringstream file;
    wane::write_safetensors(file, {stored_tensor::of(name, {1}, one)});
    EXPECT_EQ(file.str().size() % 8, 4u) << file.str();
  }
}

TEST(WriteSafetensors, WritesAFileWithoutTensors) {
  wane::bench::scratch const place;
  std::string const path = place.file("w.safetensors");
  wane::write_safetensors(path, {});
  EXPECT_TRUE(wane::safetensors(path).tensors().empty());
  wane::write_safetensors(path, {}, {{"a", "b"}});
  EXPECT_EQ(wane::safetensors(path).metadata().at("a"), "b");
}

TEST(WriteSafetensors, CopiesTensorsOfAnotherFile) {
  wane::bench::scratch const place;
  std::vector<std::byte> const bytes(3, std::byte{7});
  std::string const first = place.file("1"), second = place.file("2");
  wane::write_safetensors(first, {{"of bytes", "F8_E4M3", {3}, bytes}, {"b", "BOOL", {3}, bytes}});
  wane::write_safetensors(second, wane::safetensors(first).tensors());
  EXPECT_EQ(wane::bench::content_of(first), wane::bench::content_of(second));
}

// 1.5 as a float, and 258 as an integer. The file has the least significant byte first.
TEST(WriteSafetensors, TurnsBigEndianNumbersRound) {
  std::string const number("\x3f\xc0\0\0", 4), whole("\1\2", 2);
  auto const tensor = [](std::string const& name, std::string const& type,
                         std::string const& text) {
    return stored_tensor{name, type, {1}, std::as_bytes(std::span(text)), std::endian::big};
  };
  std::ostringstream file;
  wane::write_safetensors(file, {tensor("a", "F32", number), tensor("b", "U16", whole)});
  EXPECT_TRUE(file.str().ends_with(std::string("\0\0\xc0\x3f\2\1", 6)));
  EXPECT_EQ(file.str()[0], static_cast<char>(file.str().size() - 8 - 6));
  support::expect_error({"tensor 'c' is of type 'F8_E4M3'", "give little-endian bytes"},
                        [&] { wane::write_safetensors(file, {tensor("c", "F8_E4M3", whole)}); });
}

TEST(WriteSafetensors, ReplacesAFileThatIsRead) {
  wane::bench::scratch const place;
  std::string const path = place.file("w.safetensors");
  std::vector<float> const one{1}, two{2};
  wane::write_safetensors(path, {stored_tensor::of("a", {1}, one)});
  wane::safetensors const old(path);
  wane::write_safetensors(path, {stored_tensor::of("a", {1}, two)});
  EXPECT_EQ(old.values<float>("a", {1}), one);
  EXPECT_EQ(wane::safetensors(path).values<float>("a", {1}), two);
}

// Each is refused before the old file is touched.
TEST(WriteSafetensors, RefusesWhatCouldNotBeRead) {
  wane::bench::scratch const place;
  std::string const path = place.write("w.safetensors", "old");
  std::vector<std::byte> const bytes(4);
  stored_tensor const sound{"a", "F32", {1}, bytes};
  struct {
    std::vector<stored_tensor> tensors;
    std::string said;
  } const cases[]{
      {{sound, sound}, "names 'a' twice"},
      {{{"a", "F32", {2}, bytes}}, "tensor 'a' of type F32 and shape [2] has 4 bytes"},
      {{{"a", "F32", {-1}, bytes}}, "no whole number"},
      {{{"a", "F32", std::vector<wane::index>(17, 1), bytes}}, "16 extents"},
      {{{std::string(1025, 'a'), "F32", {1}, bytes}}, "more than 1024"},
      {{{std::string("a\0", 2), "F32", {1}, bytes}}, "zero byte in its name"},
      {{{"\xff", "F32", {1}, bytes}}, "is not JSON"},
      {{{"__metadata__", "F32", {1}, bytes}}, "__metadata__"},
  };
  for (auto const& one : cases) {
    support::expect_error({"'" + path + "' would be no sound safetensors file: ", one.said},
                          [&] { wane::write_safetensors(path, one.tensors); });
  }
  EXPECT_EQ(wane::bench::content_of(path), "old");
  support::expect_error({"regular file"}, [&] { wane::write_safetensors(place.file("."), {}); });
  support::expect_error({"folder"}, [&] { wane::write_safetensors(place.file("none/w"), {}); });
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  support::expect_error({"the stream could not be written"},
                        [&] { wane::write_safetensors(broken, {sound}); });
}

}  // namespace
