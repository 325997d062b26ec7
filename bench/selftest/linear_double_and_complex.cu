// The cases of linear_recurrence in double, whose decays are logs, and in complex numbers.
// SPDX-License-Identifier: MIT
#include "selftest/device_cases.cuh"

namespace wane::selftest {

test_cases linear_double_and_complex_cases() {
  test_cases cases;
  add_cases<form::log, double>(cases, "linear_recurrence log", "double");
  add_cases<form::factor, std::complex<float>>(cases, "linear_recurrence factor", "complex float");
  return cases;
}

}  // namespace wane::selftest
