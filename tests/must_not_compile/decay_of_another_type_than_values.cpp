// expect: decays must be of the type the recurrence computes in
// SPDX-License-Identifier: MIT
#include <wane/run/run.hpp>

#ifdef WANE_CONTROL
using decay_type = double;
#else
using decay_type = float;
#endif

struct memory {
  struct token {
    double value(wane::index) const { return 1; }
    decay_type log_decay() const { return -1; }
  };
  wane::recurrence_shape shape() const { return {}; }
  token at(wane::place<>) const { return {}; }
};

void use(wane::sequence_view<double> y) { wane::run(memory{}, y); }
