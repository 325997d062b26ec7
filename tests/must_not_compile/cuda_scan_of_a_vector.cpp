// expect: must be trivially copyable: views and numbers, no vectors or references
// SPDX-License-Identifier: MIT
// An operator that owns memory of the host cannot be handed to a device.
#include <vector>

#include "wane/testing/emulated_run.hpp"

struct operation {
  static constexpr bool is_channelwise = true;
#ifdef WANE_CONTROL
  float const* values;
#else
  std::vector<float> values;
#endif
  wane::recurrence_shape shape() const { return {1, 1, 1, 1, 1}; }
  struct token {
    float x;
    float decay(wane::index, wane::index) const { return 0.5f; }
    float value(wane::index) const { return x; }
  };
  token at(wane::place<>) const { return {values[0]}; }
};

void use(operation const& op, wane::sequence_view<float> y) { wane::testing::run({}, op, y); }
