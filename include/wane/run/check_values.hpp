// check_values: looks through all tokens of an operator for values that no memory can hold.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/run/effects.hpp"

namespace wane {

// Throws wane::error at the first value or plain decay that is not finite, or log decay that is
// NaN or above 0. Runs do not look: a NaN then reaches the outputs that depend on it, and a
// positive log decay grows.
template <affine_recurrence Op>
void check_values(Op const& op) {
  recurrence_shape const shape = checked_shape(op);
  auto const finite = [](auto const& z) {
    return std::isfinite(std::real(z)) && std::isfinite(std::imag(z));
  };
  for (index b = 0; b < shape.batch; ++b)
    for (index t = 0; t < shape.time; ++t)
      for (index h = 0; h < shape.heads; ++h) {
        auto const x = op.at(place<>{b, t, h, t + 1});
        auto const where = [&](index i, index j) {
          std::ostringstream place;
          place << " at batch " << b << ", time " << t << ", head " << h << ", row " << i
                << ", column " << j << " is ";
          return place.str();
        };
        for (index j = 0; j < shape.columns; ++j) {
          if (!finite(x.value(j)))
            require(false, "value", where(0, j), x.value(j), "; it must be finite");
          for (index i = 0; i < shape.rows; ++i) {
            auto const e = token_effect(op, place<>{b, t, h, t + 1}, i, j);
            if constexpr (requires { e.log_decay; }) {
              if (!(real_part(e.log_decay) <= 0))
                require(false, "log_decay", where(i, j), e.log_decay, "; it must be <= 0");
            } else if (!finite(e.decay)) {
              require(false, "decay", where(i, j), e.decay, "; it must be finite");
            }
          }
        }
      }
}

}  // namespace wane
