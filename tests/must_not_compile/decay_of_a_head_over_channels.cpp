// expect: a token of a channelwise recurrence has
// SPDX-License-Identifier: MIT
#include <wane/run/run.hpp>

struct memory {
  static constexpr bool is_channelwise = true;
  struct token {
    float value(wane::index) const { return 1; }
#ifdef WANE_CONTROL
    float decay(wane::index, wane::index) const { return 0.5f; }
#else
    float decay() const { return 0.5f; }
#endif
  };
  wane::recurrence_shape shape() const { return {}; }
  token at(wane::place<>) const { return {}; }
};

void use(wane::sequence_view<float> y) { wane::run(memory{}, y); }
