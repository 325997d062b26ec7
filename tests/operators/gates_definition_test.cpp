// Gates against their definition in long double, in numbers and in lanes, and on hard inputs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>
#include <vector>

#include "support/gate_case.hpp"
#include "support/random_values.hpp"
#include "wane/spectra/rates/post_initial.hpp"

namespace {

using namespace support;
using wane::index;

template <class T>
class Gates : public testing::Test {
 public:
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

  T raw = 0, log_rate = 0, bias = 0, alpha = 0;
  index position = 1;

  wane::taper<T> taper() const { return {of_head(alpha)}; }
  wane::place<> at() const { return {0, 0, 0, position}; }
  T constant() const { return wane::constant_gate<T>(of_head(bias), taper()).read(at()); }
  T constant_rate() const {
    return wane::constant_rate_gate<T>(of_head(log_rate), taper()).read(at());
  }
  T tapered() const { return wane::tapered_gate(of_token(raw), taper()).read(at()); }
  T softplus() const {
    return wane::softplus_gate(
               of_token(raw),
               {.log_rate = of_head(log_rate), .bias = of_head(bias), .taper = taper()})
        .read(at());
  }
  T log_sigmoid() const {
    return wane::log_sigmoid_gate(of_token(raw), {.log_rate = of_head(log_rate), .taper = taper()})
        .read(at());
  }
  T sigmoid() const {
    return wane::sigmoid_gate(of_token(raw), {.bias = of_head(bias), .taper = taper()}).read(at());
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Gates, Scalars);

TYPED_TEST(Gates, AreTheirDefinitions) {
  using T = TypeParam;
  // About three roundings; in double also log t, whose half unit in the last place at 2^53 is 16
  // units of its exponential.
  double const bound = (sizeof(T) == 4 ? 3 : 20) * std::numeric_limits<T>::epsilon();
  double worst[6] = {};
  random_values random;
  for (int n = 0; n < 20000; ++n) {
    this->raw = static_cast<T>(random.uniform(-40, 30));
    this->log_rate = static_cast<T>(random.uniform(-8, 3));
    this->alpha = static_cast<T>(random.uniform(0, 1));
    this->position = static_cast<index>(std::exp(random.uniform(0, 36.7)));
    gate_numbers exact{this->raw, this->log_rate, 0, this->alpha,
                       std::log(static_cast<long double>(this->position))};
    auto const compare = [&](double& most, T is, long double should_be) {
      most = std::max(most, std::abs(static_cast<double>(is / should_be - 1)));
    };
    this->bias = static_cast<T>(-std::exp(random.uniform(-20, 3)));
    exact.bias = this->bias;
    compare(worst[0], this->constant(), exact.constant());
    compare(worst[1], this->constant_rate(), exact.constant_rate());
    this->bias = static_cast<T>(random.uniform(-10, 10));
    exact.bias = this->bias;
    compare(worst[2], this->softplus(), exact.softplus_gate());
    compare(worst[3], this->log_sigmoid(), exact.log_sigmoid());
    compare(worst[4], this->sigmoid(), exact.sigmoid());
    exact.raw = this->raw = -std::abs(this->raw);
    compare(worst[5], this->tapered(), exact.tapered());
  }
  for (double error : worst) EXPECT_LT(error, bound);
}

TYPED_TEST(Gates, NeitherOverflowNorCancelNorGrow) {
  using T = TypeParam;
  for (double x : {-1e4, -200., -90., -1e-30, 0., 1e-30, 1e-3, 17., 90., 200., 1e4}) {
    this->raw = static_cast<T>(x);
    for (T w : {this->softplus(), this->log_sigmoid(), this->sigmoid()}) {
      EXPECT_LE(w, T(0)) << x;
      EXPECT_TRUE(std::isfinite(w)) << x;
    }
    gate_numbers const exact{this->raw};
    // Below the normal numbers the gates may be zero.
    double const least = std::numeric_limits<T>::min(), eps = 3 * std::numeric_limits<T>::epsilon();
    auto const expect_near = [&](T is, long double should_be) {
      double const wanted = static_cast<double>(should_be);
      EXPECT_NEAR(static_cast<double>(is), wanted, 2 * least + eps * std::abs(wanted)) << x;
    };
    expect_near(this->softplus(), exact.softplus_gate());
    expect_near(this->log_sigmoid(), exact.log_sigmoid());
    expect_near(this->sigmoid(), exact.sigmoid());
  }
}

TYPED_TEST(Gates, ResetOnlyWhereTheInputSaysSoAndKeepNaN) {
  using T = TypeParam;
  this->alpha = T(0.5), this->position = 100;
  this->raw = this->infinity;
  EXPECT_EQ(this->softplus(), -this->infinity);
  EXPECT_EQ(this->log_sigmoid(), T(0));
  EXPECT_NEAR(static_cast<double>(this->sigmoid()), -0.6065306597126334, 1e-7);
  this->raw = -this->infinity;
  EXPECT_EQ(this->softplus(), T(0));
  EXPECT_EQ(this->log_sigmoid(), -this->infinity);
  EXPECT_EQ(this->sigmoid(), T(0));
  EXPECT_EQ(this->tapered(), -this->infinity);
  this->raw = this->nan;
  for (T w : {this->tapered(), this->softplus(), this->log_sigmoid(), this->sigmoid()})
    EXPECT_TRUE(std::isnan(w));
}

TYPED_TEST(Gates, AreRightAtPosition2To53) {
  using T = TypeParam;
  this->alpha = 1, this->bias = -1, this->position = index{1} << 53;
  double const bound = (sizeof(T) == 4 ? 3 : 20) * std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(static_cast<double>(this->constant()) * 0x1p53, -1, bound);
}

TYPED_TEST(Gates, AtTheReferenceOfATaperAreUntouched) {
  using T = TypeParam;
  T const log_decay = T(-0.3), exponent = T(0.7);
  wane::constant_gate<T> const covering(of_head(log_decay), {of_head(exponent), 4096});
  EXPECT_EQ(covering.read({0, 0, 0, 4096}), log_decay);
  EXPECT_LT(covering.read({0, 0, 0, 1}), log_decay);
  EXPECT_GT(covering.read({0, 0, 0, 10000}), log_decay);
  EXPECT_EQ(wane::constant_gate<T>(of_head(log_decay)).read({0, 0, 0, 10000}), log_decay);
}

// A gate of 19 rows in one head. 19 is prime, and more than the widest vector holds.
template <class T>
struct rows_of_a_gate {
  static constexpr index rows = 19;
  std::vector<T> raw, log_rate, bias, alpha;

  rows_of_a_gate() {
    random_values random;
    for (index i = 0; i < rows; ++i) {
      raw.push_back(static_cast<T>(random.uniform(-20, 5)));
      log_rate.push_back(static_cast<T>(random.uniform(-5, 1)));
      bias.push_back(static_cast<T>(random.uniform(-3, 3)));
      alpha.push_back(static_cast<T>(random.uniform(0, 1)));
    }
  }
  wane::sequence_view<T const> input() const { return {raw.data(), 1, 1, 1, rows}; }
  static wane::view<T const, 2> by_row(std::vector<T> const& x) { return {x.data(), 1, rows}; }
  static wane::view<T const, 1> by_head(std::vector<T> const& x) { return {x.data(), 1}; }

  // Whether the gate reads the same numbers in lanes, some of them partial, as one by one.
  template <class Gate>
  static void expect_lanes_are_numbers(Gate const& gate) {
    constexpr int width = wane::simd_width<T>;
    wane::place<> const where{0, 0, 0, 12345};
    auto const compare = [](auto const& lanes, int lane, T one) {
      // The same roundings, except that the compiler may contract a product and a sum in one only.
      EXPECT_NEAR(static_cast<double>(lanes[lane] / one), 1, 2 * std::numeric_limits<T>::epsilon());
    };
    index i = 0;
    for (; i + width <= rows; i += width) {
      auto const lanes = gate.read(where, wane::lanes<width>{i});
      for (int l = 0; l < width; ++l) compare(lanes, l, gate.read(where, i + l));
    }
    int const left = static_cast<int>(rows - i);
    auto const lanes = gate.read(where, wane::partial_lanes<width>{i, left});
    for (int l = 0; l < left; ++l) compare(lanes, l, gate.read(where, i + l));
  }
};

TYPED_TEST(Gates, ReadLanesAsTheyReadNumbers) {
  rows_of_a_gate<TypeParam> const x;
  using rows = rows_of_a_gate<TypeParam>;
  rows::expect_lanes_are_numbers(
      wane::softplus_gate(x.input(), {.log_rate = rows::by_head(x.log_rate),
                                      .bias = rows::by_row(x.bias),
                                      .taper = {rows::by_row(x.alpha)}}));
  rows::expect_lanes_are_numbers(wane::sigmoid_gate(
      x.input(), {.bias = rows::by_row(x.bias), .taper = {rows::by_head(x.alpha)}}));
  rows::expect_lanes_are_numbers(wane::log_sigmoid_gate(
      x.input(), {.log_rate = rows::by_row(x.log_rate), .taper = {rows::by_row(x.alpha)}}));
  rows::expect_lanes_are_numbers(wane::tapered_gate(x.input(), {rows::by_row(x.alpha)}));
}

TEST(GatesInFiftyDigits, AreTheSameTemplates) {
  using exact = boost::multiprecision::cpp_bin_float_50;
  exact const raw(0.3), log_rate(0.2), bias(-0.7), alpha(0.5);
  wane::softplus_gate const gate(
      of_token(raw),
      {.log_rate = of_head(log_rate), .bias = of_head(bias), .taper = {of_head(alpha)}});
  exact const wanted = -exp(log_rate) * log1p(exp(exact(raw + bias))) / 10;
  EXPECT_LT(abs(exact(gate.read({0, 0, 0, 100}) / wanted - 1)), exact(1e-49));
}

TEST(GatesOfPost, AreTheLogitsAndRatesOfItsInitialSpectra) {
  auto const logits = wane::spectra::rwkv7_logits(64, 512);
  auto const taper = wane::spectra::rwkv7_taper(logits, 512);
  double const nothing[64] = {};
  wane::sigmoid_gate const gate(wane::sequence_view<double const>(nothing, 1, 1, 1, 64),
                                {.bias = {logits.data(), 1, 64}, .taper = {{taper.data(), 1, 64}}});
  EXPECT_NEAR(taper[32], 0.559785, 5e-7);
  EXPECT_NEAR(gate.read({0, 0, 0, 1}, index{0}), -1.0 / 512, 1e-16);
  for (index i : {0, 31, 63})
    EXPECT_NEAR(
        gate.read({0, 0, 0, 2048}, i),
        -wane::spectra::rwkv7_fastest_rate *
            wane::spectra::logistic(wane::spectra::rwkv7_tapered_logit(
                logits[static_cast<std::size_t>(i)], taper[static_cast<std::size_t>(i)], 2048)),
        1e-15);
  // Mamba-2's gate with softplus(raw) = 0.05: rates from 1/T to 1, and the slowest falls as 1/t.
  auto const p = wane::spectra::mamba2_log_rates(4, 512);
  double const dt[] = {-2.9706, -2.9706, -2.9706, -2.9706};
  auto const linear = wane::spectra::linear_taper(4);
  wane::softplus_gate const mamba(wane::token_view<double const>(dt, 1, 1, 4),
                                  {.log_rate = {p.data(), 4}, .taper = {{linear.data(), 4}}});
  double const at_start[] = {0.0390625, 0.3125, 2.5, 20};
  for (index h = 0; h < 4; ++h) {
    double const dt_h = wane::spectra::softplus(dt[h]);
    EXPECT_NEAR(mamba.read({0, 0, h, 1}) / (-at_start[h] * dt_h), 1, 1e-14);
    EXPECT_NEAR(mamba.read({0, 0, h, 512}) /
                    (-at_start[h] * dt_h * std::pow(512, -1 + static_cast<double>(h) / 3)),
                1, 1e-14);
  }
}

}  // namespace
