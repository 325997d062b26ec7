// The fastest this machine multiplies and adds, in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// `rounds` rounds of independent multiply-adds in every thread; returns their flops in total.
double multiply_adds(index rounds, int threads, bool in_double);

}  // namespace wane::bench
