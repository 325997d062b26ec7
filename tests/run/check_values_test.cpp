// check_values finds invalid values and names their places.
// SPDX-License-Identifier: MIT
#include "wane/run/check_values.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/user_operators.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/laplace_coefficients.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/run.hpp"

namespace wane {
namespace {

float const nan = std::numeric_limits<float>::quiet_NaN();
float const infinity = std::numeric_limits<float>::infinity();

struct small {
  std::vector<float> decay = std::vector<float>(12, -0.5f), drive = std::vector<float>(12, 1.f);
  template <decay_as Form>
  linear_recurrence<Form, float> as() const {
    return linear_recurrence<Form, float>(
        {.decay = {decay.data(), 1, 3, 2, 2}, .drive = {drive.data(), 1, 3, 2, 2}});
  }
};

TEST(CheckValues, AcceptsDecaysThatFadeResetOrNeverForget) {
  small data;
  data.decay[3] = -infinity;
  data.decay[4] = 0;
  EXPECT_NO_THROW(check_values(data.as<decay_as::log>()));
  data.decay[3] = -7;
  EXPECT_NO_THROW(check_values(data.as<decay_as::factor>()));
}

TEST(CheckValues, NamesThePlaceOfWhatItRefuses) {
  small data;
  data.drive[7] = nan;
  support::expect_error({"value", "time 1, head 1", "finite"},
                        [&] { check_values(data.as<decay_as::log>()); });
  data = {};
  data.decay[2] = 0.25f;
  support::expect_error({"log_decay", "0.25", "<= 0"},
                        [&] { check_values(data.as<decay_as::log>()); });
  data.decay[2] = nan;
  support::expect_error({"log_decay", "nan", "<= 0"},
                        [&] { check_values(data.as<decay_as::log>()); });
  data.decay[2] = infinity;
  support::expect_error({"decay", "inf", "finite"},
                        [&] { check_values(data.as<decay_as::factor>()); });
}

TEST(CheckValues, LooksAtEveryTermOfAKeyedMemory) {
  using support::erases;
  using support::forgets;
  enum { query, key, value, decay, erase_read, erase_write, count };
  char const* const names[] = {"query", "key", "value", "log_decay", "erase_read", "erase_write"};
  std::vector<float> tensors[count], direct{1.f};
  for (auto& tensor : tensors) tensor.assign(6, -0.5f);  // [1, 3, 1, 2]
  auto const look = [&] {
    auto const in = [&](int which) {
      return sequence_view<float const>(tensors[which].data(), 1, 3, 1, 2);
    };
    check_values(support::keyed_memory<float, forgets::by_row, erases::yes>{
        {in(query), in(key), in(value), in(decay), in(erase_read), in(erase_write),
         direct.data()}});
  };
  EXPECT_NO_THROW(look());
  for (int which = 0; which < count; ++which) {
    tensors[which][3] = nan;
    support::expect_error({names[which], "time 1", "nan"}, look);
    tensors[which][3] = -0.5f;
  }
  direct[0] = infinity;
  support::expect_error({"direct", "inf", "finite"}, look);
}

// vla, windows that end, coefficients and local attention have no terms.
TEST(CheckValues, LooksAtOperatorsWithoutTerms) {
  std::vector<float> query(12, 0.5f), key = query, value = query,
                                      log_decay(6, -1.f);  // of [1, 3, 2, 2]
  float sigma[2] = {1, 1}, omega[2] = {}, width[2] = {4, 4};
  std::complex<float> const one[2] = {1, 1};
  auto const all = [](std::vector<float> const& x) {
    return sequence_view<float const>(x.data(), 1, 3, 2, 2);
  };
  auto const expect = [&](std::vector<float>& tensor, char const* name, float wrong,
                          auto const& make) {
    EXPECT_NO_THROW(check_values(make()));
    float const right = std::exchange(tensor[5], wrong);
    support::expect_error({name, "time "}, [&] { check_values(make()); });
    tensor[5] = right;
  };
  auto const fading = [&] {
    return vla({.query = all(query), .key = all(key), .value = all(value)},
               token_view<float const>(log_decay.data(), 1, 3, 2));
  };
  expect(query, "query", nan, fading), expect(key, "key", infinity, fading);
  expect(value, "value", nan, fading), expect(log_decay, "log_decay", 0.5f, fading);
  auto const local = [&] {
    return local_attention<float>({.query = all(query), .key = all(key), .value = all(value)},
                                  {.window = 2});
  };
  expect(query, "query", nan, local), expect(key, "key", nan, local);
  expect(value, "value", infinity, local);
  auto const hann = [&] {
    return laplace<float, spectra::window_shape::hann>({.value = all(value)},
                                                       {.sigma = {sigma, 2, 1},
                                                        .omega = {omega, 2, 1},
                                                        .read_out = {one, 2, 1, 1},
                                                        .width = {width, 2}});
  };
  expect(value, "value", nan, hann);
  expect(value, "value", nan, [&] { return laplace_coefficients(hann()); });
  expect(value, "value", nan, [&] { return sum_of(local(), fading()); });
}

TEST(CheckValues, ARunRefusesABankWhoseParametersAreNoDecays) {
  std::vector<float> log_decay{-1, -2}, key{1, 1}, query{1, 1}, v(8), y(8, 5.f);
  auto const go = [&] {
    run(exponential_bank<float>({.value = {v.data(), 1, 8, 1, 1},
                                 .log_decay = {log_decay.data(), 1, 2},
                                 .key = {key.data(), 1, 2},
                                 .query = {query.data(), 1, 2}}),
        {y.data(), 1, 8, 1, 1});
  };
  EXPECT_NO_THROW(go());
  y.assign(8, 5.f);
  log_decay[1] = nan;
  support::expect_error({"log_decay(0, 1)", "nan", "<= 0"}, go);
  log_decay[1] = 1;
  support::expect_error({"log_decay(0, 1)", "is 1", "<= 0"}, go);
  log_decay[1] = -1;
  key[0] = nan;
  support::expect_error({"key(0, 0)", "NaN", "must be a number"}, go);
  EXPECT_EQ(y, std::vector<float>(8, 5.f));
}

}  // namespace
}  // namespace wane
