// Penalties that fade: how much of lambda I is left in M, and when M is renewed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "wane/core/recurrence/place.hpp"

namespace wane::impl {

// A penalised memory whose penalty fades, with log decays g_t:
//   M_t = e^{g_t} M_{t-1} + r_t I + u_t u_t^T
// M begins as lambda I, and l_t is the part of lambda I that is left after token t:
//   l_t = e^{g_t} l_{t-1},  r_t = 0                             while log l_t >= op.log_renewal()
//   l_t = 1,                r_t = (1 - e^{g_t} l_{t-1}) lambda   otherwise: M is renewed
// In directions that no token has, M therefore stays between renewal lambda and lambda.
//   penalty_log_decay(place)  g_t
//   memory_log_decay(place)   the log decay of S
//   log_renewal()             log of the part at which M is renewed
//
// The state holds the factor R of M = l R^T R, which decays do not change. The state of a head is
// K x (V + K + 1). The first number of the last column is log l; its other numbers are zero.
template <class Op>
concept fading_penalty = requires(Op const& op, place<> at) {
  op.penalty_log_decay(at);
  op.memory_log_decay(at);
  op.log_renewal();
};

// Whether l is so small that the old M is negligible beside lambda I when M is renewed. Squares of
// such small numbers would underflow.
template <class T>
WANE_HOST_DEVICE bool nothing_is_left(T log_left) {
  using std::exp;
  using limits = std::numeric_limits<T>;
  return exp(log_left) < limits::min() / (limits::epsilon() * limits::epsilon());
}

// log l of a sequence and head.
template <class T>
struct penalty_left {
  T log;

  // Adds the log decay of a token. Returns whether M must be renewed before u_t u_t^T is added.
  template <class Op>
  WANE_HOST_DEVICE bool fades_too_far(Op const& op, place<> at) {
    T const log_decay = static_cast<T>(op.penalty_log_decay(at));
    // A reset sets l to 0, even where log l was NaN.
    log = std::isinf(log_decay) ? log_decay : log + log_decay;
    return log < static_cast<T>(op.log_renewal());
  }
  // 1/sqrt(l). Directions are multiplied by it before they enter R, and M^-1 = (R^T R)^-1 / l.
  WANE_HOST_DEVICE T over() const {
    using std::exp;
    return exp(log / T(-2));
  }
};

}  // namespace wane::impl
