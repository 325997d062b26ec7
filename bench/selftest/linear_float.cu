// The cases of linear_recurrence in float.
// SPDX-License-Identifier: MIT
#include "selftest/device_cases.cuh"

namespace wane::selftest {

test_cases linear_float_cases() {
  test_cases cases;
  add_cases<form::log, float>(cases, "linear_recurrence log", "float");
  add_cases<form::factor, float>(cases, "linear_recurrence factor", "float");
  return cases;
}

}  // namespace wane::selftest
