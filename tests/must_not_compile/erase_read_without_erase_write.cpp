// expect: erase_read and erase_write: both or none
// SPDX-License-Identifier: MIT
#include <wane/run/run.hpp>

struct memory {
  struct token {
    float value(wane::index) const { return 1; }
    float erase_read(wane::index) const { return 1; }
#ifdef WANE_CONTROL
    float erase_write(wane::index) const { return -1; }
#endif
  };
  wane::recurrence_shape shape() const { return {}; }
  token at(wane::place<>) const { return {}; }
};

void use(wane::sequence_view<float> y) { wane::run(memory{}, y); }
