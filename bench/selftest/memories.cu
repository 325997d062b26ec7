// The cases of memories with keys: one that erases and fades, and VLA.
// SPDX-License-Identifier: MIT
#include "selftest/device_cases.cuh"

namespace wane::selftest {

test_cases memory_cases() {
  test_cases cases;
  add_cases<form::delta, float>(cases, "gated_delta_net", "float");
  add_cases<form::delta, bfloat16>(cases, "gated_delta_net", "bfloat16");
  add_cases<form::vla, float>(cases, "vla", "float");
  return cases;
}

}  // namespace wane::selftest
