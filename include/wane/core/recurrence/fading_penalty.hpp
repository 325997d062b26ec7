// Penalties that fade: how much of one is left, and when it is given back what it began with.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "wane/core/recurrence/place.hpp"

namespace wane::impl {

// A penalised memory whose penalty fades, with the log decays g of its tokens:
//   M_t = e^{g_t} M_{t-1} + r_t I + u_t u_t^T
// Of lambda I, which M began with, the part l_t is left: l_t = e^{g_t} l_{t-1} and r_t = 0, unless
// log l_t is then less than op.log_renewal(): M is renewed, r_t = (1 - e^{g_t} l_{t-1}) lambda and
// l_t = 1. So what no direction reaches keeps a penalty between renewal lambda and lambda.
// op.memory_log_decay() is that of S.
//
// The factor R that is held is that of M = l R^T R, so that it changes with directions alone. The
// state of a head is K x (V + K + 1): the last column begins with log l, and is zero otherwise.
template <class Op>
concept fading_penalty = requires(Op const& op, place<> at) {
  op.penalty_log_decay(at);
  op.memory_log_decay(at);
  op.log_renewal();
};

// So little is left that beside lambda it is nothing, and squares of it would be lost.
template <class T>
WANE_HOST_DEVICE bool nothing_is_left(T log_left) {
  using std::exp;
  using limits = std::numeric_limits<T>;
  return exp(log_left) < limits::min() / (limits::epsilon() * limits::epsilon());
}

// What is left in a sequence and head.
template <class T>
struct penalty_left {
  T log;

  // Takes in the log decay of a token; whether M is to be renewed before its direction.
  template <class Op>
  WANE_HOST_DEVICE bool fades_too_far(Op const& op, place<> at) {
    T const log_decay = static_cast<T>(op.penalty_log_decay(at));
    // After a reset the log is 0, whatever it was before.
    log = std::isinf(log_decay) ? log_decay : log + log_decay;
    return log < static_cast<T>(op.log_renewal());
  }
  // 1/sqrt(l): directions enter R by it, and M^-1 is its square times (R^T R)^-1.
  WANE_HOST_DEVICE T over() const {
    using std::exp;
    return exp(log / T(-2));
  }
};

}  // namespace wane::impl
