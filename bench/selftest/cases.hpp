// The cases of the self-test; each function is a file of its own, compiled side by side.
// SPDX-License-Identifier: MIT
#pragma once

#include "selftest/judge.hpp"

namespace wane::selftest {

using test_cases = std::vector<test_case>;

test_cases linear_float_cases();
test_cases linear_double_and_complex_cases();
test_cases linear_sixteen_bit_cases();
test_cases bank_real_cases();
test_cases bank_complex_cases();
test_cases memory_cases();

}  // namespace wane::selftest
