// stored_tensor: numbers of each type, read as others; what cannot be read or does not fit.
// SPDX-License-Identifier: MIT
#include "wane/files/stored_tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"

namespace {

using wane::bfloat16, wane::float16, wane::stored_tensor;

// Every finite 16-bit number, and infinities.
template <class Half>
std::vector<Half> all_halves() {
  std::vector<Half> all;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    Half x;
    x.bits = static_cast<std::uint16_t>(bits);
    if (!std::isnan(static_cast<float>(x))) all.push_back(x);
  }
  return all;
}

TEST(StoredTensor, OfNumbersPointsToThem) {
  std::array<double, 6> const numbers{1, 2, 3, 4, 5, 6};
  auto const tensor = stored_tensor::of("a", {2, 3}, numbers);
  EXPECT_EQ(tensor.name, "a");
  EXPECT_EQ(tensor.type, "F64");
  EXPECT_EQ(tensor.shape, (std::vector<wane::index>{2, 3}));
  EXPECT_EQ(tensor.bytes.data(), reinterpret_cast<std::byte const*>(numbers.data()));
  EXPECT_EQ(tensor.bytes.size(), 48u);
  float const one[] = {7};
  EXPECT_EQ(stored_tensor::of("b", {}, one).type, "F32");
  EXPECT_EQ(stored_tensor::of("c", {0}, std::span<float16>()).type, "F16");
  EXPECT_EQ(stored_tensor::of("d", {0}, std::span<bfloat16 const>()).type, "BF16");
}

TEST(StoredTensor, GivesDoublesRoundedToFloat) {
  std::vector<double> const numbers{1.0 / 3, 1e300, -0.0, 1e-50, 16777217};
  auto const found = stored_tensor::of("x", {5}, numbers).values<float>();
  ASSERT_EQ(found.size(), numbers.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], static_cast<float>(numbers[i]));
    EXPECT_EQ(std::signbit(found[i]), std::signbit(numbers[i]));
  }
}

template <class Half>
void expect_halves_as_floats_and_back() {
  auto const numbers = all_halves<Half>();
  stored_tensor const tensor = stored_tensor::of("x", {std::ssize(numbers)}, numbers);
  auto const floats = tensor.values<float>();
  auto const doubles = tensor.values<double>();
  stored_tensor const as_floats = stored_tensor::of("y", {std::ssize(floats)}, floats);
  auto const back = as_floats.values<Half>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(floats[i], static_cast<float>(numbers[i])) << i;
    ASSERT_EQ(doubles[i], static_cast<double>(floats[i])) << i;
    ASSERT_EQ(back[i].bits, numbers[i].bits) << i;
  }
}
TEST(StoredTensor, GivesHalvesAsFloatsAndBack) {
  expect_halves_as_floats_and_back<float16>();
  expect_halves_as_floats_and_back<bfloat16>();
}

// From what the format says, not from wane's own conversion: 1.5 is 0x3e00 and 0x3fc0.
TEST(StoredTensor, GivesHalvesByTheirBits) {
  std::array const bytes{std::byte{0x00}, std::byte{0x3e}, std::byte{0xc0}, std::byte{0x3f}};
  std::span const all(bytes);
  EXPECT_EQ((stored_tensor{"a", "F16", {1}, all.first(2)}.values<float>()),
            std::vector<float>{1.5f});
  EXPECT_EQ((stored_tensor{"b", "BF16", {1}, all.last(2)}.values<float>()),
            std::vector<float>{1.5f});
}

// 1.5 and -2 as each type has them, the most significant byte first, and then the other way round.
TEST(StoredTensor, GivesNumbersOfEitherByteOrder) {
  std::vector<std::pair<std::string, std::string>> const types{
      {"F16", {"\x3e\0\xc0\0", 4}},
      {"BF16", {"\x3f\xc0\xc0\0", 4}},
      {"F32", {"\x3f\xc0\0\0\xc0\0\0\0", 8}},
      {"F64", {"\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16}}};
  for (auto const& [type, big] : types) {
    std::string little(big.rbegin(), big.rend());
    std::rotate(little.begin(), little.begin() + std::ssize(little) / 2, little.end());
    for (auto const& [order, text] :
         {std::pair(std::endian::big, big), {std::endian::little, little}}) {
      stored_tensor const tensor{"x", type, {2}, std::as_bytes(std::span(text)), order};
      EXPECT_EQ(tensor.values<float>(), (std::vector<float>{1.5f, -2})) << type;
      EXPECT_EQ(tensor.values<double>(), (std::vector<double>{1.5, -2})) << type;
      EXPECT_EQ(tensor.values<float16>()[0].bits, 0x3e00) << type;
      EXPECT_EQ(tensor.values<bfloat16>()[0].bits, 0x3fc0) << type;
    }
  }
}

TEST(StoredTensor, GivesOtherTypesToo) {
  std::vector<float> const numbers{1.5f, -2};
  auto const tensor = stored_tensor::of("x", {2}, numbers);
  EXPECT_EQ(tensor.values<std::complex<double>>()[1], std::complex<double>(-2));
  EXPECT_EQ(tensor.values<long double>()[0], 1.5L);
  EXPECT_EQ(tensor.values<bfloat16>()[0].bits, 0x3fc0);
}

TEST(StoredTensor, KeepsNaNsOfTheSameType) {
  std::vector<float> const numbers{std::numeric_limits<float>::quiet_NaN()};
  EXPECT_TRUE(std::isnan(stored_tensor::of("x", {1}, numbers).values<float>()[0]));
  EXPECT_TRUE(std::isnan(stored_tensor::of("x", {1}, numbers).values<double>()[0]));
}

TEST(StoredTensor, TakesBytesAtAnyAddress) {
  std::vector<float> const numbers{1, 2, 3};
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<std::byte> bytes(shift);
    auto const own = std::as_bytes(std::span(numbers));
    bytes.insert(bytes.end(), own.begin(), own.end());
    stored_tensor const tensor{
        "x", "F32", {3}, std::span(bytes).subspan(shift), std::endian::native};
    EXPECT_EQ(tensor.values<float>(), numbers);
    EXPECT_EQ(tensor.values<double>(), (std::vector<double>{1, 2, 3}));
  }
}

TEST(StoredTensor, CopiesIntoMemoryOfTheCaller) {
  std::vector<double> const numbers{1.5, 2.5};
  auto const tensor = stored_tensor::of("x", {2, 1}, numbers);
  std::array<float, 2> memory{};
  tensor.copy_to(memory);
  EXPECT_EQ(memory, (std::array<float, 2>{1.5f, 2.5f}));
  std::vector<float> other(3);
  support::expect_error({"tensor 'x' has 3 numbers; it must have 2"},
                        [&] { tensor.copy_to(other); });
}

TEST(StoredTensor, RefusesTypesThatAreNoReals) {
  for (char const* const type : {"I32", "BOOL", "F8_E4M3", "C64", "f32", ""}) {
    stored_tensor const tensor{"x\n", type, {0}, {}};
    EXPECT_FALSE(tensor.has_reals());
    support::expect_error(
        {"tensor 'x?' is of type '" + std::string(type) + "'", "F64, F32, F16 and BF16"},
        [&] { tensor.values<float>(); });
  }
}

TEST(StoredTensor, RefusesShapesOfOtherSizes) {
  std::vector<float> const numbers(4);
  constexpr wane::index large = wane::index{1} << 62;
  for (std::vector<wane::index> const& shape : std::vector<std::vector<wane::index>>{
           {}, {3}, {5}, {2, 3}, {0}, {-4}, {-2, -2}, {large, 4}, {large, 2, 0}}) {
    support::expect_error({"tensor 'x' has 4 numbers"},
                          [&] { stored_tensor::of("x", shape, numbers); });
  }
}

}  // namespace
