// expect: wane needs infinities and NaN
// SPDX-License-Identifier: MIT
// flags: -ffast-math
#ifdef WANE_CONTROL
#define WANE_ALLOW_FAST_MATH
#endif
#include <wane/core/config.hpp>
