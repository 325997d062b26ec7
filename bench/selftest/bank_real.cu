// The cases of exponential_bank in real numbers.
// SPDX-License-Identifier: MIT
#include "selftest/device_cases.cuh"

namespace wane::selftest {

test_cases bank_real_cases() {
  test_cases cases;
  add_cases<form::bank, float>(cases, "exponential_bank", "float");
  add_cases<form::bank, double>(cases, "exponential_bank", "double");
  return cases;
}

}  // namespace wane::selftest
