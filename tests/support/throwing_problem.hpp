// A problem whose operator throws where it is asked for one of its tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

#include "wane/core/recurrence/place.hpp"
#include "wane/testing/problem.hpp"

namespace support {

struct token_fault : std::runtime_error {
  token_fault() : std::runtime_error("this token cannot be read") {}
};

// An operator that throws token_fault for head 0 at `bad_time`.
template <class Op>
struct throwing_operator : Op {
  wane::index bad_time;

  auto at(wane::place<> where) const {
    if (where.head == 0 && where.time == bad_time) throw token_fault();
    return Op::at(where);
  }
  template <int W, int C>
  auto at(wane::place<wane::time_lanes<W, C>> where) const {
    for (int k = 0; k < W / C; ++k)
      if (where.head == 0 && where.time.first + where.time.direction * k == bad_time)
        throw token_fault();
    return Op::at(where);
  }
};

// bad_time < 0: none throws.
template <wane::testing::problem P>
struct throwing_problem : P {
  wane::index bad_time;

  throwing_problem(P const& problem, wane::index when) : P(problem), bad_time(when) {}
  auto make(wane::index begin, wane::index end) const {
    return throwing_operator<wane::testing::operator_of<P>>{P::make(begin, end), bad_time - begin};
  }
};

}  // namespace support
