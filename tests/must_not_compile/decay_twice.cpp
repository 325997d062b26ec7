// expect: a token states its decay in one way
// SPDX-License-Identifier: MIT
#include <wane/run/run.hpp>

struct memory {
  struct token {
    float value(wane::index) const { return 1; }
    float log_decay() const { return -1; }
#ifndef WANE_CONTROL
    float decay(wane::index) const { return 0.5f; }
#endif
  };
  wane::recurrence_shape shape() const { return {}; }
  token at(wane::place<>) const { return {}; }
};

void use(wane::sequence_view<float> y) { wane::run(memory{}, y); }
