// The effect of a piece of a walk equals its tokens applied one after another.
// SPDX-License-Identifier: MIT
#include "wane/run/channels/segment_effect.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/random_values.hpp"
#include "wane/core/call/run_options.hpp"
#include "wane/operators/linear_recurrence.hpp"

namespace {

using wane::decay_as;
using wane::index;

constexpr index time = 256, columns = 21;

template <decay_as Form>
struct piece {
  std::vector<double> decay, drive;

  explicit piece(double smallest, double largest) {
    support::random_values random;
    for (index i = 0; i < time * columns; ++i) {
      double const log = random.log_decay(smallest, largest);
      decay.push_back(Form == decay_as::log ? log : std::exp(log));
      drive.push_back(random.uniform(-1, 1));
    }
  }
  auto op(index channels = columns) const {
    return wane::linear_recurrence<Form, double>({.decay = {decay.data(), 1, time, 1, channels},
                                                  .drive = {drive.data(), 1, time, 1, channels}});
  }
  double after(double state, index c, index channels = columns) const {
    for (index t = 0; t < time; ++t) {
      auto const i = static_cast<std::size_t>(t * channels + c);
      state = (Form == decay_as::log ? std::exp(decay[i]) : decay[i]) * state + drive[i];
    }
    return state;
  }
};

template <decay_as Form>
void expect_effects(double smallest, double largest) {
  piece<Form> const p(smallest, largest);
  auto const walk = wane::impl::walk_of(0, p.op().shape(), wane::run_options<double>{}, nullptr);
  using op_type = decltype(p.op());
  using vector = wane::simd<double, wane::simd_width<double>>;
  std::vector<wane::impl::effect_of<op_type, vector>> effects(columns / vector::width + 1);
  wane::impl::column_effects<op_type, vector>(p.op(), walk, effects.data());
  for (index c = 0; c < columns; ++c)
    for (double state : {0., 3.}) {
      auto const& e = effects[static_cast<std::size_t>(c / vector::width)];
      EXPECT_NEAR(wane::impl::apply(e, vector(state))[static_cast<int>(c % vector::width)],
                  p.after(state, c), 1e-12);
    }
  // The first numbers again, as one channel whose tokens fill vectors.
  wane::impl::effect_of<op_type, vector> one[1];
  wane::impl::series_effect<1, op_type, vector>(p.op(1), walk, one);
  EXPECT_NEAR(wane::impl::apply(one[0], vector(3.))[0], p.after(3, 0, 1), 1e-12);
}

TEST(SegmentEffect, OfTokensThatForgetSlowlyOrAtOnce) {
  expect_effects<decay_as::log>(1e-6, 1e-4);
  expect_effects<decay_as::log>(1e-3, 20);
  expect_effects<decay_as::factor>(1e-6, 1e-4);
  expect_effects<decay_as::factor>(1e-3, 20);
}

}  // namespace
