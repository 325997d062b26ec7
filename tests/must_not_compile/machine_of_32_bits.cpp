// expect: wane is for machines of 64 bits
// SPDX-License-Identifier: MIT
// flags: -U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4
#ifdef WANE_CONTROL
#undef __SIZEOF_POINTER__
#define __SIZEOF_POINTER__ 8
#endif
#include <wane/core/config.hpp>
