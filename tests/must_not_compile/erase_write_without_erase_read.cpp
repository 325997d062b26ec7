// expect: a token with erase_write has erase_read too
// SPDX-License-Identifier: MIT
#include <wane/run/run.hpp>

struct memory {
  struct token {
    float value(wane::index) const { return 1; }
    float erase_write(wane::index) const { return -1; }
#ifdef WANE_CONTROL
    float erase_read(wane::index) const { return 1; }
#endif
  };
  wane::recurrence_shape shape() const { return {}; }
  token at(wane::place<>) const { return {}; }
};

void use(wane::sequence_view<float> y) { wane::run(memory{}, y); }
