// expect: wane reports wrong input by exceptions
// SPDX-License-Identifier: MIT
// flags: -fno-exceptions
#ifdef WANE_CONTROL
#define __cpp_exceptions 199711
#endif
#include <wane/core/config.hpp>
