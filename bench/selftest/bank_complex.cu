// The cases of exponential_bank in complex numbers.
// SPDX-License-Identifier: MIT
#include "selftest/device_cases.cuh"

namespace wane::selftest {

test_cases bank_complex_cases() {
  test_cases cases;
  add_cases<form::bank, std::complex<float>>(cases, "exponential_bank", "complex float");
  return cases;
}

}  // namespace wane::selftest
