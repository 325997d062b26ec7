// Products of a warp's matrix unit, as a test runs them on an emulated GPU and on a real one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "wane/cuda/machine/matrix_unit.hpp"

namespace support {

// c (16 x 8) += a (16 x depth) b (depth x 8), rows one after another; those of every warp.
template <class T, class M>
WANE_HOST_DEVICE void multiply_by_unit(M& machine, T const* a, T const* b, float* c) {
  using unit = wane::cuda::impl::matrix_unit<T>;
  int const lane = machine.thread() % wane::cuda::impl::warp_size;
  int const warp = machine.thread() / wane::cuda::impl::warp_size;
  a += warp * unit::rows * unit::depth;
  b += warp * unit::depth * unit::columns;
  c += warp * unit::rows * unit::columns;
  typename unit::left left;
  typename unit::right right;
  typename unit::sum sum;
  for (int i = 0; i < unit::depth / 2; ++i) {
    auto const at = unit::of_left(lane, i);
    left.of[i] = a[at.row * unit::depth + at.column];
  }
  for (int i = 0; i < unit::depth / 4; ++i) {
    auto const at = unit::of_right(lane, i);
    right.of[i] = b[at.row * unit::columns + at.column];
  }
  for (int i = 0; i < 4; ++i) {
    auto const at = unit::of_sum(lane, i);
    sum.of[i] = c[at.row * unit::columns + at.column];
  }
  machine.template multiply_add<T>(sum, left, right);
  for (int i = 0; i < 4; ++i) {
    auto const at = unit::of_sum(lane, i);
    c[at.row * unit::columns + at.column] = sum.of[i];
  }
}

// Factors of some warps, and their product as it should be.
template <class T>
struct unit_product {
  using unit = wane::cuda::impl::matrix_unit<T>;
  static constexpr int warps = 2;
  std::vector<T> a, b;
  std::vector<float> c;

  template <class Number>
  explicit unit_product(Number const& number)
      : a(warps * unit::rows * unit::depth),
        b(warps * unit::depth * unit::columns),
        c(warps * unit::rows * unit::columns) {
    for (T& x : a) x = T(number());
    for (T& x : b) x = T(number());
    for (float& x : c) x = number();
  }

  std::vector<double> expected() const {
    std::vector<double> all(c.begin(), c.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t const row = i / unit::columns, column = i % unit::columns;
      for (std::size_t k = 0; k < unit::depth; ++k)
        all[i] += double(float(a[row * unit::depth + k])) *
                  double(float(b[(row / unit::rows * unit::depth + k) * unit::columns + column]));
    }
    return all;
  }
};

// run(product) replaces c of a unit_product by what the machine makes of it.
template <class T, class Run>
void expect_products(Run const& run) {
  std::mt19937 bits(3);
  std::uniform_int_distribution<int> whole(-9, 9);
  unit_product<T> exact([&] { return static_cast<float>(whole(bits)); });
  auto const wanted = exact.expected();
  run(exact);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(double(exact.c[i]), wanted[i]) << i;

  std::normal_distribution<float> normal;
  unit_product<T> rounded([&] { return normal(bits); });
  auto const near = rounded.expected();
  run(rounded);
  for (std::size_t i = 0; i < near.size(); ++i) EXPECT_NEAR(rounded.c[i], near[i], 1e-5) << i;

  unit_product<T> one([] { return 0.0f; });
  one.a[3] = T(NAN), one.b[0] = T(INFINITY), one.a[0] = T(2.0f);
  run(one);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(std::isnan(one.c[std::size_t(i)])) << i;
  EXPECT_TRUE(std::isnan(one.c[8]));  // 0 times infinity
  for (std::size_t i = 9; i < 16; ++i) EXPECT_EQ(one.c[i], 0) << i;
}

// Three products of tf32 are one of float, to what the sum of floats rounds.
template <class Run>
void expect_floats_of_three(Run const& run) {
  using wane::cuda::impl::tf32;
  std::mt19937 bits(5);
  std::normal_distribution<float> normal;
  unit_product<tf32> high([] { return 0.0f; });
  std::vector<float> a(high.a.size()), b(high.b.size());
  for (float& x : a) x = normal(bits);
  for (float& x : b) x = normal(bits);
  auto const split = [](std::vector<float> const& x, std::vector<tf32>& whole, bool rest) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      whole[i] = tf32(x[i]);
      if (rest) whole[i] = tf32(x[i] - whole[i].value);
    }
  };
  for (auto [rest_a, rest_b] : {std::pair{true, false}, {false, true}, {false, false}}) {
    split(a, high.a, rest_a), split(b, high.b, rest_b);
    run(high);
  }
  for (std::size_t i = 0; i < high.c.size(); ++i) {
    std::size_t const row = i / 8, column = i % 8;
    double wanted = 0;
    for (std::size_t k = 0; k < 8; ++k)
      wanted += double(a[row * 8 + k]) * double(b[(row / 16 * 8 + k) * 8 + column]);
    EXPECT_NEAR(high.c[i], wanted, 4e-6) << i;
  }
}

// Terms are cut off two bits behind the last bit of the largest, and so is their sum. (Another
// device may keep more bits.)
template <class Run>
void expect_sums_cut_off(Run const& run) {
  using wane::cuda::impl::tf32;
  auto const sum = [&](float c, int count, float product) {
    unit_product<tf32> x([] { return 0.0f; });
    for (int k = 0; k < count; ++k)
      x.a[std::size_t(k)] = tf32(product), x.b[std::size_t(k * 8)] = tf32(1.0f);
    x.c[0] = c;
    run(x);
    return x.c[0];
  };
  EXPECT_EQ(sum(1, 1, 0x1.8p-24f), 1);
  EXPECT_EQ(sum(1, 8, 0x1p-25f), 1 + 0x1p-22f);
  EXPECT_EQ(sum(1, 8, 0x1p-26f), 1);
  EXPECT_EQ(sum(1, 1, -0x1p-25f), 1 - 0x1p-24f);
  EXPECT_EQ(sum(1, 1, -0x1p-26f), 1);
  EXPECT_EQ(sum(-1, 1, 0x1p-26f), -1);
  EXPECT_EQ(sum(0, 8, 0x1.8p-24f), 0x1.8p-21f);
}

}  // namespace support
