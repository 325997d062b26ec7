// The cases of linear_recurrence on 16-bit numbers.
// SPDX-License-Identifier: MIT
#include "selftest/device_cases.cuh"

namespace wane::selftest {

test_cases linear_sixteen_bit_cases() {
  test_cases cases;
  add_cases<form::log, bfloat16>(cases, "linear_recurrence log", "bfloat16");
  add_cases<form::factor, float16>(cases, "linear_recurrence factor", "float16");
  return cases;
}

}  // namespace wane::selftest
